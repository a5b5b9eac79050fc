"""Role cards, in the steps of their layer: how a benchmark builds them, a job per step, and what became of all cards."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from schemas.benchmark import Rows
from schemas.chat import ModelEntry
from schemas.documents.datasets import CardAgreement, FunnelStep, PrintedFunnelStep
from schemas.errors import unknown_name
from schemas.lineage import PartitionKey, PartitionRef
from schemas.plan import Plan
from schemas.tables.role_cards import CardStep
from schemas.usage import Role
from tasks.lake.partitions import hash_settings, partition_key
from tasks.ratings.reading import read_human_ratings
from tasks.solvers.state import SolverResources
from tasks.sources.files import read_bytes
from tasks.sources.filled import FilledRow, read_filled
from tasks.statistics.reliability import krippendorff_alpha

Card = dict[str, Any]

EXTRACTOR: Role = "extractor"
ANNOTATORS: tuple[Role, ...] = ("first_annotator", "second_annotator", "third_annotator")
"""The third settles what the first two do not agree on."""


@dataclass(frozen=True)
class CardPipeline:
    """How a benchmark builds role cards.

    Attributes:
        name: for `--pipeline`.
        version: bumped when a step asks or concludes otherwise.
        read: reads what enters a first step: what the plan names as its benchmark.
        texts: returns the content of the files that the calls rest on, by name.
        advance: takes a card that was kept one step further.
        items: returns the cards of a quality as own items.
        annotate: returns cards with what people say of them in a file.
        printed: CSV of how many cards the steps of its paper kept, by language; null = the paper has no such table.
    """

    name: str
    version: str
    read: Callable[[CardStep, Plan], list[Card]]
    texts: Callable[[], Mapping[str, Any]]
    advance: Callable[[Card, CardStep, SolverResources], Awaitable[Card]]
    items: Callable[[pl.DataFrame, str], list[Card]]
    annotate: Callable[[Path, list[Card]], list[Card]]
    printed: Path | None = None


PIPELINES = Rows("card_pipelines", CardPipeline)


def find_pipeline(name: str | None) -> CardPipeline:
    """Return the pipeline of a name, by default the first; raise UsageError if there is no such one."""
    name = next(iter(PIPELINES), "") if name is None else name
    if name not in PIPELINES:
        raise unknown_name("pipeline", name, PIPELINES, "--pipeline", "give one of them, or remove the option")
    return PIPELINES[name]


@dataclass(frozen=True)
class CardJob:
    """A step over a collection of cards: who is asked, the rows that enter, the partition they are from; null = of none."""

    pipeline: CardPipeline
    name: str
    step: CardStep
    models: Mapping[Role, ModelEntry]
    rows: tuple[Card, ...]
    parent: PartitionRef | None

    @property
    def key(self) -> PartitionKey:
        """Key of what it yields. Replies come from outside: the rows that enter count, not only what they were made of."""
        texts = {file: hash_settings(content) for file, content in self.pipeline.texts().items()}
        settings = {
            "models": {role: {"model": entry.name, **entry.meaning} for role, entry in self.models.items()},
            "sha256": {"rows": hash_settings(self.rows), **texts},
        }
        parents = [self.parent.identity] if self.parent else []
        return partition_key("role_cards", {"cards": self.name, "step": self.step}, settings, parents, self.pipeline.version)


ANNOTATION = ("annotator", "card_id", "category", "grade")
"""Columns of a file with what people say of cards; or those of ratings by people, whose dimensions are category and grade."""


def _filled_rows(path: Path, contract: str) -> list[FilledRow]:
    """Return what stands in a file, of ratings a row per card and rater, at the line of its first; raise RecordError by line."""
    if path.suffix == ".csv" and b"unit_id" not in read_bytes(path).partition(b"\n")[0]:
        return read_filled(path, ANNOTATION, contract)
    source, rows = read_human_ratings(path), dict[tuple[str, str], FilledRow]()
    for line, rule in source.refused[:1]:
        bad = FilledRow(path, line, {"row": "a row that breaks it"}, is_ragged=False)
        bad.require("a row is no rating of a card", {rule: False}, f"correct the row; {contract}")
    for line, row in enumerate(source.ratings.iter_rows(named=True), start=2 if path.suffix == ".csv" else 1):
        annotation = {**dict.fromkeys(ANNOTATION, ""), "card_id": row["unit_id"], "annotator": row["rater"]}
        filled = rows.setdefault((row["unit_id"], row["rater"]), FilledRow(path, line, annotation, is_ragged=False))
        if row["dimension"] not in ANNOTATION[2:]:
            raise unknown_name("dimension", row["dimension"], ANNOTATION[2:], f"{path}, line {line}", contract)
        if (rating := row["rating"]) is not None:
            filled.fields[row["dimension"]] = row["words"][int(rating)] if row["words"] else str(rating)
    return [*rows.values()]


def read_annotations(path: Path, cards: list[Card], categories: Sequence[str], grades: Sequence[str]) -> list[Card]:
    """Return cards with what people say of each in a file, in its order: two annotate, a third settles where they differ.

    A row without category and grade says nothing. Raise UsageError if the file has other columns, RecordError if a row is of no
    card, names none of the categories or grades, or is one too many of a card or of a person.
    """
    contract = "moodflow docs build-cards describes the columns"
    annotated = {card["card_id"]: {**card, "annotations": []} for card in cards}
    for filled in _filled_rows(path, contract):
        row = filled.fields
        said = annotated.get(row["card_id"], {"annotations": []})["annotations"]
        if not (filled.is_ragged or row["category"] or row["grade"]):
            continue
        rules = {
            "a card_id of the cards": row["card_id"] in annotated,
            "an annotator with a name, once per card": row["annotator"] not in ["", *(each["annotator"] for each in said)],
            f"{len(ANNOTATORS)} annotators of a card at most": len(said) < len(ANNOTATORS),
            f"a category: {', '.join(categories)}": row["category"] in categories,
            f"a grade: {', '.join(grades)}": row["grade"] in grades,
        }
        filled.require("a row is not an annotation of a card", rules, f"correct the row; {contract}")
        said.append({name: row[name] for name in ("annotator", "category", "grade")})
    return list(annotated.values())


def funnel(cards: pl.DataFrame) -> tuple[FunnelStep, ...]:
    """Return a row per step: how many cards entered, and were kept, dropped by reason, or failed, which is all of them."""
    steps = []
    for (step,), ends in cards.group_by("step", maintain_order=True):
        dropped = Counter(sorted(ends.filter(status="dropped")["reason"]))
        kept, failed = (ends.filter(status=status).height for status in ("kept", "failed"))
        row = {"step": step, "entered": ends.height, "kept": kept, "dropped": dropped, "failed": failed}
        steps.append(FunnelStep.model_validate(row))
    return tuple(steps)


def compare_funnel(cards: pl.DataFrame, printed: pl.DataFrame) -> tuple[PrintedFunnelStep, ...]:
    """Return each count that a paper prints for the languages of these cards, with that of these cards, which are of all steps.

    `printed`: columns of PrintedFunnelStep but `here`.
    """
    kept, rows = cards.filter(status="kept"), list[PrintedFunnelStep]()
    for row in printed.filter(pl.col("language").is_in(cards["language"].unique().to_list())).to_dicts():
        of_quality = pl.lit(value=True) if row["quality"] is None else pl.col("quality") == row["quality"]
        own = kept.filter(of_quality, language=row["language"], step=row["step"])
        rows.append(PrintedFunnelStep(**row, here=own.height if row["step"] in cards["step"] else None))
    return tuple(rows)


def card_agreement(cards: pl.DataFrame) -> tuple[CardAgreement, ...]:
    """Return how far two annotators agree on category and on grade: Krippendorff's alpha of categories, null where undefined."""
    pairs = cards.filter(pl.col("step") == "annotate", pl.col("status") == "kept")["annotations"].list.head(2).to_list()

    def agreement_on(name: Literal["category", "grade"]) -> CardAgreement:
        labels = [[annotation[name] for annotation in pair] for pair in pairs]
        number = {value: index for index, value in enumerate(sorted({value for pair in labels for value in pair}))}
        alpha = krippendorff_alpha([[number[value] for value in pair] for pair in labels], level="nominal")
        alike = sum(left == right for left, right in labels)
        return CardAgreement(of=name, cards=len(labels), alike=alike, alpha=alpha)

    return agreement_on("category"), agreement_on("grade")
