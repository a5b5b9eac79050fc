"""Read the rows behind a dataset's score: items, replies, ratings and scores of one model and setting."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from schemas.lineage import PartitionRef
from schemas.tables.contexts import Chunks
from tasks.runs.answers import ScoredItem, scored_items
from tasks.runs.past_run import PastRun
from tasks.runs.redaction import redact, restricted_notices
from tasks.runs.run_tables import PROMPT_CHUNKS, ReportData, System, join_prompt_chunks
from tasks.solvers.answers import SAID

Key = tuple[str, int]
"""Item and repetition."""

SHOWN = {name: name for name in ("items", "responses", "answers", "judgements", "item_scores", "contexts")}
"""Layers of items, by how ReportData names them."""

OF_ALL = ("items", "contexts")
"""Layers whose partitions are the same for all models and settings."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tables of a run, reduced to one dataset of one model and setting, and the partitions they come from.

    `withheld` is the licence if texts are left out because the run is redacted.
    """

    data: ReportData
    refs: tuple[PartitionRef, ...]
    withheld: str | None = None

    def about(self, frame: pl.DataFrame, key: Key) -> list[dict[str, Any]]:
        """Return rows of a frame about one item and repetition."""
        return frame.filter((pl.col("item_id") == key[0]) & (pl.col("repetition") == key[1])).to_dicts()

    def item(self, name: str) -> dict[str, Any]:
        """Return the row of an item."""
        return self.data.items.row(by_predicate=pl.col("item_id") == name, named=True)

    def turns(self, key: Key) -> list[dict[str, Any]]:
        """Return calls about one item, in order."""
        return sorted(self.about(self.data.responses, key), key=lambda row: row["turn"])

    @cached_property
    def answers(self) -> dict[Key, list[ScoredItem]]:
        """Answers by item and repetition, each with its score, under every metric."""
        found: dict[Key, list[ScoredItem]] = {}
        for answer in scored_items(self.data, self.data.item_scores):
            found.setdefault((answer.score["item_id"], answer.score["repetition"]), []).append(answer)
        return dict(sorted(found.items()))

    @cached_property
    def parts(self) -> dict[Key, list[dict[str, Any]]]:
        """Rows of `answers` of items that have several, by item and repetition; `text` is what each says as one text."""
        parts = self.data.answers.filter(pl.col("part") != "").with_columns(text=SAID)
        return parts.rows_by_key(["item_id", "repetition"], named=True, include_key=True)


def read_evidence(run: PastRun, dataset: str, system: System) -> Evidence:
    """Read the rows; texts that may not be passed on are taken out if the run is redacted.

    Raises:
        LakeError: a partition is gone or changed.
    """
    return redacted(run, read_unredacted(run, dataset, system))


def redacted(run: PastRun, found: Evidence) -> Evidence:
    """Return rows that may be shown."""
    if not run.manifest.redacted:
        return found
    licence = next((notice.licence for notice in restricted_notices(found.data)), None)
    return Evidence(redact(found.data), found.refs, licence)


def read_unredacted(run: PastRun, dataset: str, system: System) -> Evidence:
    """Read the rows as they are stored: to compute from, not to show."""
    return read_tables(run, SHOWN, {"dataset": dataset, **system._asdict()})


def read_tables(run: PastRun, layers: Mapping[str, str], asked: Mapping[str, str]) -> Evidence:
    """Read layers of a run as they are stored, and the texts of the chunks that went into prompts.

    Where the contexts of a dataset were cut in several ways, rows of `retrievals` do not say which one they number; the texts of
    such a dataset are left out.

    Args:
        run: what is read.
        layers: name of each in ReportData, by its own; `items`, `responses` and `retrievals` among them.
        asked: dataset, model and setting of what is read; empty = all of the run.

    Raises:
        LakeError: if a partition of the manifest is gone or changed.
    """
    of_all = {name: value for name, value in asked.items() if name == "dataset"}
    refs: list[PartitionRef] = []

    def read(layer: str) -> pl.DataFrame:
        place = of_all if layer in OF_ALL else asked
        refs.extend(run.partitions(layer, **place))
        return run.read(layer, **place)

    tables: dict[str, Any] = {"retrievals": read("retrievals")}
    # Chunks of what a model wrote belong to that model.
    written = [ref for ref in run.partitions("chunks", **asked) if "model" in dict(ref.place)]
    cuts = [ref for ref in run.partitions("chunks", **of_all) if "model" not in dict(ref.place)]
    times = Counter(ref.key("dataset") for ref in cuts)
    chunks = written + [ref for ref in cuts if times[ref.key("dataset")] == 1]
    refs += chunks
    texts = [join_prompt_chunks(run.lake.read(ref, Chunks), tables["retrievals"], dict(ref.place)) for ref in chunks]
    tables |= {name: read(layer) for layer, name in layers.items()}
    prompt_chunks = pl.concat([pl.DataFrame(schema=PROMPT_CHUNKS), *texts])
    return Evidence(ReportData(run.manifest, run.blueprint, prompt_chunks=prompt_chunks, **tables), tuple(refs))
