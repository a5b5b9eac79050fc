"""Sheets on which people rate answers of a run without knowing whose they are, and what comes back of them."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from tasks.sources.filled import read_filled
from tasks.sources.reading import RAGGED

GIVEN = ("run", "rubric_sha256", "row", "answer", "rater", "dimension", "rating")
"""Columns of a sheet that come back. Run and answer are hashes: the names of both would tell the model's."""

PLACE = re.compile(r"(\d{1,7}) of (\d{1,7})")
"""What stands in `row`: which one it is, and how many the sheet has."""

SHOWN = ("meaning", "asked", "said")
CONTRACT = "moodflow docs people says what a sheet holds"


class SheetAnswer(NamedTuple):
    """An answer to rate: its id on the sheet, its partition, its row of `judged_answers`, its item, and by which rubric."""

    id: str
    ref: PartitionRef
    row: Mapping[str, Any]
    item: Mapping[str, Any]
    rubric: Rubric

    @property
    def language(self) -> Language:
        """In which people are asked."""
        language: Language = self.rubric.language or self.item["language"]
        return language

    @property
    def shown(self) -> tuple[dict[str, str], str | list[tuple[str, str]]]:
        """What was asked, and what is said."""
        return shown_texts(self.item, rated_content(self.row), self.rubric)


def sheet_id(value: Any) -> str:
    """Return what a sheet calls a run or an answer: a hash behind a letter, since a spreadsheet rewrites 86e501 as a number."""
    return f"a{hash_settings(value)[:16]}"


def draw_answers(run: PastRun, method: str | None, rubric: str | None, sample: int | None, seed: int) -> list[SheetAnswer]:
    """Return the answers of a sheet, all or so many, in an order that is drawn; of a redacted run those that may be passed on.

    They are those of a method of the blueprint, null = of every judged one, by this rubric, null = the method's. Raise UsageError
    if there is no such rubric, or no such answer.
    """
    methods = [(name, spec) for name, dataset in run.blueprint.datasets.items() for spec in dataset.methods]
    chosen = {(name, rubric or spec.rubric): None for name, spec in methods if method in (None, spec.id)}
    rated = [
        (name, load_rubric(by, run.blueprint.own_rubrics)) for name, by in chosen if by and name not in run.manifest.withheld
    ]
    answers = sorted(_answers(run, rated), key=lambda answer: hash_settings([seed, answer.id]))[:sample]
    if not answers:
        raise UsageError(
            "the run has no answers for people to rate",
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
                    name = sheet_id([run.name, rubric.sha256, *(row[column] for column in ANSWER)])
                    yield SheetAnswer(name, ref, row, item, rubric)


def sheet_table(run: PastRun, answers: Sequence[SheetAnswer]) -> Table:
    """Return the sheet as a table to fill in: a row for each answer and dimension."""
    rows, total = list[tuple[str, ...]](), sum(len(answer.rubric.dimensions) for answer in answers)
    for answer in answers:
        asked, content = answer.shown
        said = content if isinstance(content, str) else "\n".join(f"{who}: {text}" for who, text in content)
        for dimension in answer.rubric.dimensions:
            meaning = describe_dimension(answer.rubric, dimension, answer.language)
            place = f"{len(rows) + 1} of {total}"
            named = (sheet_id(run.name), answer.rubric.sha256, place, answer.id, "", dimension.name, "")
            rows.append((*named, meaning, "\n\n".join(asked.values()), said))
    return Table(columns("text", *GIVEN, *SHOWN), rows)


def import_sheets(run: PastRun, files: Sequence[Path]) -> tuple[ImportedRatings, list[PartitionRef]]:
    """Keep the ratings of filled sheets beside those that the lake has; the newer one of a person takes the older one's place.

    Return what became of the rows, and the partitions that hold the ratings now. Raise UsageError if a sheet has other columns,
    SourceError if it cannot be read, RecordError if it is of another run or rubric.
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
        refused=(*(RefusedRating(**row) for row in refused.iter_rows(named=True)), *_absent(rows)),
    )
    by_rubric = good.partition_by("path", "rubric_sha256", as_dict=True)
    refs = {ref.path: ref for ref in run.partitions("answers")}
    return document, [_store(run, refs[path], rubrics[sha256], given) for (path, sha256), given in by_rubric.items()]


def _read_sheet(run: PastRun, path: Path, rubrics: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield file, line and GIVEN of each row, the rating as it is `written`; of one with too many fields or few all are empty."""
    step = "import it to the run that it was written of, with the rubric as it was then"
    for row in read_filled(path, (*GIVEN, *SHOWN), CONTRACT, SHOWN):
        rules = {
            f"run {sheet_id(run.name)}, of which the sheet was written": row.fields["run"] == sheet_id(run.name),
            "the hash of a rubric as it is now": row.fields["rubric_sha256"] in rubrics,
            "the row as the sheet has it, such as 7 of 40": bool(place := PLACE.fullmatch(row.fields["row"])),
        }
        if not row.is_ragged:
            what = "a sheet is of another run, or of a rubric that is not known as it was, or its rows are numbered anew"
            row.require(what, rules, step)
        yield {
            "file": str(path),
            "line": row.line,
            "place": int(place[1]) if place else row.line - 1,
            "places": int(place[2]) if place else 0,
            "written": row.fields["rating"],
            **{name: row.fields[name] for name in GIVEN[:-1]},
        }


def _absent(rows: pl.DataFrame) -> Iterator[RefusedRating]:
    """Yield the rows that a sheet lacks of each person who rated on it; one without a name may be anybody's."""
    places = defaultdict[tuple[str, str], set[int]](set)
    for file, rater, place in rows.select("file", "rater", "place").iter_rows():
        places[file, rater].add(place)
    named = rows.filter(pl.col("rater") != "").group_by("file", "rater", maintain_order=True)
    for file, rater, total in named.agg(pl.max("places")).iter_rows():
        for place in sorted({*range(1, total + 1)} - places[file, rater] - places[file, ""]):
            yield RefusedRating(file=file, line=place + 1, rule="row_is_there")


def _scales(answers: Iterable[SheetAnswer]) -> pl.DataFrame:
    """Return a row for each rating that can be given: how it is written, `rating` itself, of which answer of which partition."""
    rows = [
        (answer.id, dimension.name, str(word), rating, answer.ref.path, *(answer.row[name] for name in ANSWER))
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
