"""Sheets on which people rate answers of a run without knowing whose they are, and what comes back of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from schemas.benchmark import files_by_name
from schemas.documents.models import ImportedRatings, RefusedRating
from schemas.errors import UsageError
from schemas.lineage import PartitionRef
from schemas.question_types import answered_by
from schemas.table import Table, columns
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from schemas.vocabulary import Language
from tasks.judging.answers import GOLD, judged_answers, rated_content
from tasks.judging.people import RATING, given_ratings, people_key, people_rows
from tasks.judging.prompts import describe_dimension, shown_texts
from tasks.judging.rubrics import RUBRICS, Rubric, load_rubric, ratings_of, words_of
from tasks.lake.partitions import hash_settings
from tasks.runs.past_run import PastRun
from tasks.solvers.answers import ANSWER
from tasks.sources.reading import RAGGED, read_records, require_columns

GIVEN = ("run", "rubric_sha256", "answer", "rater", "dimension", "rating")
"""Columns of a sheet that come back. Run and answer are hashes: the names of both would tell the model's."""

SHOWN = ("meaning", "asked", "said")
CONTRACT = "docs/how-to/people.md says what a sheet holds"


class SheetAnswer(NamedTuple):
    """An answer to rate: its id on the sheet, its partition and values of ANSWER, by which rubric, and what is shown."""

    id: str
    ref: PartitionRef
    key: tuple[Any, ...]
    rubric: Rubric
    language: Language
    asked: dict[str, str]
    said: str | list[tuple[str, str]]


def run_hash(run: PastRun) -> str:
    """Return what a sheet calls the run."""
    return _sheet_id(run.name)


def _sheet_id(content: object) -> str:
    """Return a hash that begins with a letter: spreadsheets rewrite what may be a number, such as 12e4."""
    return f"id{hash_settings(content)[:16]}"


def draw_answers(run: PastRun, method: str | None, rubric: str | None, sample: int | None, seed: int) -> list[SheetAnswer]:
    """Return the answers of a sheet, all or so many, in an order that is drawn; of a redacted run those that may be passed on.

    They are those of a method of the blueprint, null = of every judged one, by this rubric, null = the method's. Raise UsageError
    if there is no such rubric, or no such answer.
    """
    methods = [(name, spec) for name, dataset in run.blueprint.datasets.items() for spec in dataset.methods]
    withheld = {notice.id for notice in run.manifest.datasets if run.manifest.redacted and not notice.redistributable}
    chosen = {(name, rubric or spec.rubric): None for name, spec in methods if method in (None, spec.id)}
    rated = [(name, load_rubric(by, run.blueprint.own_rubrics)) for name, by in chosen if by and name not in withheld]
    answers = sorted(_answers(run, rated), key=lambda answer: hash_settings([seed, answer.id]))[:sample]
    if not answers:
        raise UsageError(
            "the run has no answer that people could rate",
            where=f"run {run.name}",
            expected="free-text answers of a judged method, or of any with --rubric",
            got=f"methods {', '.join(dict.fromkeys(spec.id for _, spec in methods))}",
            next_step="name another method with --method, or a rubric with --rubric",
        )
    return answers


def _answers(run: PastRun, rated: Iterable[tuple[str, Rubric]]) -> Iterator[SheetAnswer]:
    """Yield all free-text answers to datasets, each with the rubric by which it is rated."""
    for dataset, rubric in rated:
        items = Items.cast(run.read("items", dataset=dataset))
        free = {item["item_id"]: item for item in items.iter_rows(named=True) if item["question_type"] in answered_by("text")}
        for ref in (ref for ref in run.partitions("answers", dataset=dataset) if ref.key("setting") != GOLD):
            for row in judged_answers(run.lake.read(ref, Answers), items, rubric).iter_rows(named=True):
                if item := free.get(row["item_id"]):
                    key = tuple(row[name] for name in ANSWER)
                    name = _sheet_id([run.name, rubric.sha256, *key])
                    shown = shown_texts(item, rated_content(row), rubric)
                    yield SheetAnswer(name, ref, key, rubric, rubric.language or item["language"], *shown)


def sheet_table(run: PastRun, answers: Sequence[SheetAnswer]) -> Table:
    """Return the sheet as a table to fill in: a row for each answer and dimension."""
    rows = []
    for answer in answers:
        said = answer.said if isinstance(answer.said, str) else "\n".join(f"{who}: {text}" for who, text in answer.said)
        for dimension in answer.rubric.dimensions:
            meaning = describe_dimension(answer.rubric, dimension, answer.language)
            named = (run_hash(run), answer.rubric.sha256, answer.id, "", dimension.name, "")
            rows.append((*named, meaning, "\n\n".join(answer.asked.values()), said))
    return Table(columns("text", *GIVEN, *SHOWN), rows)


def import_sheets(run: PastRun, files: Sequence[Path]) -> tuple[ImportedRatings, list[PartitionRef]]:
    """Keep the ratings of filled sheets beside those that the lake has; the newer one of a person takes the older one's place.

    Return what became of the rows, and the partitions that hold the ratings now. Raise UsageError if a sheet has other columns,
    or is of another run or rubric; SourceError if a file cannot be read.
    """
    own = run.blueprint.own_rubrics
    rubrics = {(rubric := load_rubric(name, own)).sha256: rubric for name in {**files_by_name("rubrics", RUBRICS), **own}}
    rows = pl.DataFrame([row for path in files for row in _read_sheet(run, path, rubrics)])
    used = [rubrics[sha256] for sha256 in sorted(rubrics.keys() & set(rows["rubric_sha256"]))]
    scales = _scales(_answers(run, product(run.blueprint.datasets, used)))
    pairs = (scales["answer"] + scales["dimension"]).implode()
    rules = {
        RAGGED: pl.col("run") != "",
        "answer_is_of_the_run": pl.col("answer").is_in(scales["answer"].implode()),
        "dimension_is_of_the_rubric": (pl.col("answer") + pl.col("dimension")).is_in(pairs),
        "rater_is_named": pl.col("rater") != "",
        "rating_is_on_its_scale": pl.col("rating").is_not_null(),
        "rated_once": pl.col("written").n_unique().over("answer", "dimension", "rater") == 1,
    }
    rule = pl.coalesce(pl.when(~holds).then(pl.lit(rule)) for rule, holds in rules.items())
    filled = rows.filter((pl.col("written") != "") | (pl.col("run") == ""))
    read = filled.join(scales, on=["answer", "dimension", "written"], how="left", maintain_order="left").with_columns(rule=rule)
    good, refused = read.filter(pl.col("rule").is_null()), read.drop_nulls("rule").select("file", "line", "rule")
    document = ImportedRatings(
        run=run.name,
        read=rows.height,
        empty=rows.height - read.height,
        taken=good.height,
        refused=tuple(RefusedRating(**row) for row in refused.iter_rows(named=True)),
    )
    by_rubric = good.partition_by("path", "rubric_sha256", as_dict=True)
    refs = {ref.path: ref for ref in run.partitions("answers")}
    return document, [_store(run, refs[path], rubrics[sha256], given) for (path, sha256), given in by_rubric.items()]


def _read_sheet(run: PastRun, path: Path, rubrics: Mapping[str, Rubric]) -> Iterator[dict[str, Any]]:
    """Yield file, line and GIVEN of each row, the rating as it is `written`; of one with too many fields or few all are empty."""
    records = read_records(path, "csv", own=True)
    require_columns(path, records, (*GIVEN, *SHOWN), SHOWN, CONTRACT)
    for record in records:
        fields = {name: str(record.fields.get(name) or "").strip() for name in GIVEN}
        if not record.faults and (fields["run"] != run_hash(run) or fields["rubric_sha256"] not in rubrics):
            raise UsageError(
                "a sheet is of another run, or of a rubric that is not known as it was",
                where=f"{path}, line {record.row + 2}",
                expected=f"run {run_hash(run)} and the hash of a rubric",
                got=f"run {fields['run']}, rubric_sha256 {fields['rubric_sha256']}",
                next_step="import it to the run that it was written of, with the rubric as it was then",
            )
        yield {"file": str(path), "line": record.row + 2, "written": fields.pop("rating"), **fields}


def _scales(answers: Iterable[SheetAnswer]) -> pl.DataFrame:
    """Return a row for each rating that can be given: how it is written, `rating` itself, of which answer of which partition."""
    rows = [
        (answer.id, dimension.name, str(word), rating, answer.ref.path, *answer.key)
        for answer in answers
        for dimension in answer.rubric.dimensions
        for scale in [answer.rubric.scale_of(dimension)]
        for word, rating in zip(words_of(scale), ratings_of(scale), strict=True)
    ]
    names = ["answer", "dimension", "written", "rating", "path"]
    return pl.DataFrame(
        rows,
        {**dict.fromkeys(names, pl.String), "rating": pl.Int64, **{name: Answers.create_empty().schema[name] for name in ANSWER}},
        orient="row",
    )


def _store(run: PastRun, answers: PartitionRef, rubric: Rubric, new: pl.DataFrame) -> PartitionRef:
    """Write ratings of one partition of answers with those that it has."""
    key, items = people_key(answers, rubric), Items.cast(run.read("items", dataset=answers.key("dataset")))
    stored = run.lake.find_latest(key)
    older = [given_ratings(run.lake.read(stored, Judgements))] if stored else []
    given = pl.concat([new.select(*RATING, "rating"), *older]).unique(RATING, keep="first", maintain_order=True)
    rated = judged_answers(run.lake.read(answers, Answers), items, rubric)
    return run.lake.write(key, people_rows(rated, rubric, given), Judgements, complete=False)
