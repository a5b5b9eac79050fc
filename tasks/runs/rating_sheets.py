"""Sheets on which people rate answers of a run without knowing whose they are, and what comes back of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

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
from tasks.judging.people import Given, given_ratings, people_key, people_rows
from tasks.judging.prompts import meanings, shown_texts
from tasks.judging.rubrics import RUBRICS, Rubric, load_rubric, ratings_of, words_of
from tasks.lake.partitions import hash_settings
from tasks.runs.past_run import PastRun
from tasks.solvers.answers import ANSWER
from tasks.sources.reading import RAGGED, read_records, require_columns

GIVEN = ("run", "rubric_sha256", "answer", "rater", "dimension", "rating")
"""Columns of a sheet that come back. Run and answer are hashes: the names of both would tell the model's."""

SHOWN = ("meanings", "asked", "said")
COLUMNS = (*GIVEN, *SHOWN)
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
    return hash_settings(run.name)[:16]


def draw_answers(
    run: PastRun, method: str | None = None, rubric: str | None = None, sample: int | None = None, seed: int = 0
) -> list[SheetAnswer]:
    """Return the answers of a sheet, in an order drawn by the seed: of a run that is redacted those that may be passed on.

    Args:
        run: whose answers.
        method: of the blueprint, whose answers alone are rated; null = those of every judged method.
        rubric: by which they are rated; null = that of the method.
        sample: how many are drawn; null = all.
        seed: of order and sample.

    Raises:
        UsageError: there is no such rubric, or nothing to rate.
    """
    methods = [(name, spec) for name, dataset in run.blueprint.datasets.items() for spec in dataset.methods]
    chosen = {(name, rubric or spec.rubric): None for name, spec in methods if method in (None, spec.id)}
    kept = {notice.id for notice in run.manifest.datasets if not notice.redistributable and run.manifest.redacted}
    own = run.blueprint.own_rubrics
    rated = [(name, load_rubric(by, own)) for name, by in chosen if by and name not in kept]
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
        by_id = {item["item_id"]: item for item in items.iter_rows(named=True) if item["question_type"] in answered_by("text")}
        for ref in run.partitions("answers", dataset=dataset):
            rows = judged_answers(run.lake.read(ref, Answers), items, rubric) if ref.key("setting") != GOLD else items.clear()
            for row in rows.iter_rows(named=True):
                if item := by_id.get(row["item_id"]):
                    key = tuple(row[name] for name in ANSWER)
                    name = hash_settings([run.name, rubric.sha256, *key])[:16]
                    language = rubric.language or item["language"]
                    yield SheetAnswer(name, ref, key, rubric, language, *shown_texts(item, rated_content(row), rubric))


def sheet_table(run: PastRun, answers: Sequence[SheetAnswer]) -> Table:
    """Return the sheet as a table to fill in: a row for each answer and dimension."""
    rows = []
    for answer in answers:
        said = answer.said if isinstance(answer.said, str) else "\n".join(f"{who}: {text}" for who, text in answer.said)
        for dimension in answer.rubric.dimensions:
            means = (dimension.definition[answer.language], *meanings(answer.rubric, dimension, answer.language))
            named = (run_hash(run), answer.rubric.sha256, answer.id, "", dimension.name, "")
            rows.append((*named, "\n".join(means), "\n\n".join(answer.asked.values()), said))
    return Table(columns("text", *COLUMNS), rows)


class FilledRow(NamedTuple):
    """A row of a filled sheet, GIVEN by column; none of them where it has other columns than the header."""

    file: str
    line: int
    fields: Mapping[str, str]

    @property
    def rated(self) -> tuple[str, ...]:
        """Return the answer, the dimension and who rated it."""
        return tuple(self.fields.get(name, "") for name in ("answer", "dimension", "rater"))


def import_sheets(run: PastRun, files: Sequence[Path]) -> tuple[ImportedRatings, list[PartitionRef]]:
    """Keep the ratings of filled sheets beside those that the lake has; the newer one of a person takes the older one's place.

    Returns:
        What became of the rows, and the partitions that hold the ratings now.

    Raises:
        UsageError: a sheet has other columns, or is of another run or rubric.
        SourceError: a file cannot be read.
    """
    own = run.blueprint.own_rubrics
    rubrics = {(rubric := load_rubric(name, own)).sha256: rubric for name in {**files_by_name("rubrics", RUBRICS), **own}}
    rows = [row for path in files for row in _read_sheet(run, path, rubrics)]
    used = [rubrics[sha256] for sha256 in sorted({row.fields["rubric_sha256"] for row in rows if row.fields})]
    answers = {answer.id: answer for answer in _answers(run, product(run.blueprint.datasets, used))}
    filled = [row for row in rows if not row.fields or row.fields["rating"]]
    read = [(row, *_read_rating(row, answers)) for row in filled]
    values = defaultdict[tuple[str, ...], set[int | None]](set)
    for row, rating, _ in read:
        values[row.rated].add(rating)
    refused, given = list[RefusedRating](), defaultdict[tuple[str, str], Given](dict)
    for row, rating, broken in read:
        rule = broken or ("rated_once" if len(values[row.rated]) > 1 else None)
        if rating is None or rule:
            refused.append(RefusedRating(file=row.file, line=row.line, rule=str(rule), rating=row.fields.get("rating", "")))
        else:
            answer = answers[row.rated[0]]
            given[answer.ref.path, answer.rubric.sha256][(*answer.key, *row.rated[1:])] = rating
    refs = {ref.path: ref for ref in run.partitions("answers")}
    stored = [_store(run, refs[path], rubrics[sha256], new) for (path, sha256), new in given.items()]
    document = ImportedRatings(
        run=run.name,
        files=tuple(map(str, files)),
        read=len(rows),
        empty=len(rows) - len(filled),
        taken=len(filled) - len(refused),
        replaced=sum(replaced for _, replaced in stored),
        refused=tuple(refused),
    )
    return document, [ref for ref, _ in stored]


def _read_sheet(run: PastRun, path: Path, rubrics: Mapping[str, Rubric]) -> list[FilledRow]:
    records = read_records(path, "csv", own=True)
    require_columns(path, records, COLUMNS, SHOWN, CONTRACT)
    rows = []
    for record in records:
        fields = {} if record.faults else {name: str(record.fields[name] or "").strip() for name in GIVEN}
        rows.append(FilledRow(str(path), record.row + 2, fields))
        if fields and (fields["run"] != run_hash(run) or fields["rubric_sha256"] not in rubrics):
            raise UsageError(
                "a sheet is of another run, or of a rubric that is not known as it was",
                where=f"{path}, line {rows[-1].line}",
                expected=f"run {run_hash(run)} and the hash of a rubric",
                got=f"run {fields['run']}, rubric_sha256 {fields['rubric_sha256']}",
                next_step="import it to the run that it was written of, with the rubric as it was then",
            )
    return rows


def _read_rating(row: FilledRow, answers: Mapping[str, SheetAnswer]) -> tuple[int | None, str | None]:
    """Return the rating of a row, and the rule that it breaks where it is of no use."""
    answer, (_, dimension, rater) = answers.get(row.rated[0]), row.rated
    if not row.fields:
        return None, RAGGED
    if answer is None:
        return None, "answer_is_of_the_run"
    scales = {each.name: answer.rubric.scale_of(each) for each in answer.rubric.dimensions}
    if dimension not in scales:
        return None, "dimension_is_of_the_rubric"
    if not rater:
        return None, "rater_is_named"
    scale = scales[dimension]
    words = {str(word): rating for rating, word in zip(ratings_of(scale), words_of(scale), strict=True)}
    numbers = {str(rating): rating for rating in ratings_of(scale)}
    rating = (words | numbers).get(row.fields["rating"])
    return rating, None if rating is not None else "rating_is_on_its_scale"


def _store(run: PastRun, answers: PartitionRef, rubric: Rubric, new: Given) -> tuple[PartitionRef, int]:
    """Write the ratings of one partition of answers, and return how many older ones of the same person were others."""
    key, items = people_key(answers, rubric), Items.cast(run.read("items", dataset=answers.key("dataset")))
    stored = run.lake.find_latest(key)
    before = given_ratings(run.lake.read(stored, Judgements)) if stored else {}
    rows = people_rows(judged_answers(run.lake.read(answers, Answers), items, rubric), rubric, before | new)
    replaced = sum(before.get(name, rating) != rating for name, rating in new.items())
    return run.lake.write(key, rows, Judgements, complete=False), replaced
