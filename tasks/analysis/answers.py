"""What a model answered to the items of one dataset, and how each answer was scored."""

from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from tasks.analysis.run_tables import ReportData, System

_KEY = ["item_id", "repetition"]
_Place = tuple[str, int]


class HasMetric(Protocol):
    """A row of a score that names what was measured."""

    @property
    def dataset(self) -> str:
        """Name of the dataset."""

    @property
    def method(self) -> str:
        """Name of the method."""

    @property
    def metric(self) -> str:
        """Name of the metric."""


@dataclass(frozen=True)
class ScoredItem:
    """One scored item: rows of `items`, `item_scores` and, unless the reply is not in this run, `responses` (its last turn).

    Of long items also the row of `contexts`, the rows of `judgements` and the chunks that its prompt had (columns `shown.SHOWN`).
    """

    item: dict[str, Any]
    score: dict[str, Any]
    response: dict[str, Any] | None
    context: dict[str, Any] | None = None
    ratings: tuple[dict[str, Any], ...] = ()
    retrieved: tuple[dict[str, Any], ...] = ()

    @property
    def order(self) -> tuple[int, ...]:
        """The item's option shown at each place."""
        shown = self.response.get("option_order") if self.response else None
        return tuple(range(len(self.item["options"] or ())) if shown is None else shown)

    @property
    def was_cut_off(self) -> bool:
        """Whether the reply ended at the token limit."""
        return self.response is not None and self.response["finish_reason"] == "length"


def collect_answers(data: ReportData, system: System, raw: HasMetric) -> tuple[ScoredItem, ...]:
    """Every item behind one raw score, by item and repetition."""
    items = {row["item_id"]: row for row in data.items.filter(pl.col("dataset") == raw.dataset).iter_rows(named=True)}
    of_dataset = pl.col("dataset") == raw.dataset
    replies = system.of(data.responses).filter(of_dataset).sort([*_KEY, "turn"])
    last = _last_turns(replies, {name for name, item in items.items() if item["question_type"] == "emotion_expression"})
    contexts = {row["item_id"]: row for row in data.contexts.filter(of_dataset).iter_rows(named=True)}
    ratings = _grouped(system.of(data.judgements).filter(of_dataset))
    retrieved = _grouped(system.of(data.shown).filter(of_dataset))
    scores = system.of(data.item_scores).filter(
        (pl.col("dataset") == raw.dataset) & (pl.col("method") == raw.method) & (pl.col("metric") == raw.metric)
    )
    return tuple(
        ScoredItem(
            items[row["item_id"]],
            row,
            last.get(key),
            contexts.get(row["item_id"]),
            tuple(ratings.get(key, ())),
            tuple(retrieved.get(key, ())),
        )
        for row in scores.sort(_KEY).iter_rows(named=True)
        if row["item_id"] in items
        for key in [(row["item_id"], row["repetition"])]
    )


def _last_turns(replies: pl.DataFrame, in_steps: set[str]) -> dict[_Place, dict[str, Any]]:
    """The last turn of each item; where all turns are the answer, with the replies of all."""
    last: dict[_Place, dict[str, Any]] = {}
    for row in replies.iter_rows(named=True):
        key = (row["item_id"], row["repetition"])
        if row["item_id"] in in_steps and row["reply"] is not None:
            said = f"[Step {row['turn']}] {row['reply']}"
            before = last[key]["reply"] if key in last else None
            row["reply"] = f"{before}\n\n{said}" if before else said
        last[key] = row
    return last


def _grouped(frame: pl.DataFrame) -> dict[_Place, list[dict[str, Any]]]:
    found: dict[_Place, list[dict[str, Any]]] = {}
    for row in frame.iter_rows(named=True):
        found.setdefault((row["item_id"], row["repetition"]), []).append(row)
    return found
