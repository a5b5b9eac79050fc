"""Read the rows behind a dataset's score: items, replies, ratings and scores of one model and setting."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from schemas.lineage import PartitionRef
from schemas.tables.contexts import Chunks
from schemas.tables.layers import LAYERS
from tasks.analysis.answers import ScoredItem, answers_by_key
from tasks.analysis.past_run import PastRun
from tasks.analysis.redaction import redact, restricted_notices
from tasks.analysis.run_tables import PROMPT_CHUNKS, ReportData, System, join_prompt_chunks
from tasks.solvers.answers import answers_of_replies

Key = tuple[str, int]
"""Item and repetition."""

SHOWN = ("items", "responses", "answers", "judgements", "item_scores", "contexts")
OF_ALL = ("items", "contexts")
"""Layers whose partitions are the same for all models and settings."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """One dataset of one model and setting. Frames are rows of the layers they are called by, `prompt_chunks` of PROMPT_CHUNKS.

    `withheld` is the licence if texts are left out because the run is redacted; `refs` are the partitions the rows come from.
    """

    items: pl.DataFrame
    responses: pl.DataFrame
    answers: pl.DataFrame
    judgements: pl.DataFrame
    item_scores: pl.DataFrame
    contexts: pl.DataFrame
    retrievals: pl.DataFrame
    prompt_chunks: pl.DataFrame
    refs: tuple[PartitionRef, ...]
    withheld: str | None

    def about(self, frame: pl.DataFrame, key: Key) -> list[dict[str, Any]]:
        """Return rows of a frame about one item and repetition."""
        return frame.filter((pl.col("item_id") == key[0]) & (pl.col("repetition") == key[1])).to_dicts()

    def item(self, name: str) -> dict[str, Any]:
        """Return the row of an item."""
        return self.items.row(by_predicate=pl.col("item_id") == name, named=True)

    def turns(self, key: Key) -> list[dict[str, Any]]:
        """Return calls about one item, in order."""
        return sorted(self.about(self.responses, key), key=lambda row: row["turn"])

    def answer(self, score: dict[str, Any]) -> ScoredItem:
        """Return the item, its answer and how that was scored under one metric."""
        key = (score["item_id"], score["repetition"])
        answer = answers_by_key(self.answers).get((*key, score["part"]))
        contexts = self.contexts.filter(pl.col("item_id") == key[0]).to_dicts()
        return ScoredItem(
            self.item(key[0]),
            score,
            answer,
            contexts[0] if contexts else None,
            tuple(rating for rating in self.about(self.judgements, key) if rating["part"] == score["part"]),
            tuple(self.about(self.prompt_chunks, key)),
            next((turn for turn in self.turns(key) if answer and turn["call_key"] == answer["call_keys"][-1]), None),
        )


def read_evidence(run: PastRun, dataset: str, system: System) -> Evidence:
    """Read the rows; texts that may not be passed on are taken out if the run is redacted.

    Raises:
        LakeError: a partition is gone or changed.
    """
    return _without_withheld(run, read_unredacted(run, dataset, system))


def read_unredacted(run: PastRun, dataset: str, system: System) -> Evidence:
    """Read the rows as they are stored: to compute from, not to show."""
    asked = {"dataset": dataset, **system._asdict()}
    refs: list[PartitionRef] = []

    def read(layer: str) -> pl.DataFrame:
        found = run.partitions(layer, **({"dataset": dataset} if layer in OF_ALL else asked))
        refs.extend(found)
        return pl.concat([LAYERS[layer].create_empty(), *(run.lake.read(ref, LAYERS[layer]) for ref in found)])

    retrievals, chunks = read("retrievals"), _chunks_of(run, asked)
    refs += chunks
    found = [join_prompt_chunks(run.lake.read(ref, Chunks), retrievals, dict(ref.place)) for ref in chunks]
    rows = {layer: read(layer) for layer in SHOWN}
    if not run.partitions("answers"):
        # A run of version 0.1: it has replies alone.
        rows["answers"] = answers_of_replies(rows["responses"], rows["items"])
    return Evidence(
        **rows,
        retrievals=retrievals,
        prompt_chunks=pl.concat(found) if found else pl.DataFrame(schema=PROMPT_CHUNKS),
        refs=tuple(refs),
        withheld=None,
    )


def _chunks_of(run: PastRun, asked: dict[str, str]) -> list[PartitionRef]:
    """Return the chunks of this model's prompts, if they are certain: `retrievals` does not say how a context was cut."""
    own = run.partitions("chunks", **asked)
    cuts = [ref for ref in run.partitions("chunks", dataset=asked["dataset"]) if "model" not in dict(ref.place)]
    return own + (cuts if len(cuts) == 1 else [])


def _without_withheld(run: PastRun, found: Evidence) -> Evidence:
    if not run.manifest.redacted:
        return found
    layers = (*SHOWN, "retrievals")
    rows = {layer: LAYERS[layer].validate(getattr(found, layer)) for layer in layers}
    data = ReportData(manifest=run.manifest, blueprint=run.blueprint, prompt_chunks=found.prompt_chunks, **rows)
    licences = [notice.licence for notice in restricted_notices(data)]
    safe = redact(data)
    return replace(
        found,
        withheld=licences[0] if licences else None,
        **{layer: getattr(safe, layer) for layer in (*layers, "prompt_chunks")},
    )
