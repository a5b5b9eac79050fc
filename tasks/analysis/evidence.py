"""Read the rows behind a dataset's score: items, replies, ratings and scores of one model and setting."""

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import dataframely as dy
import polars as pl

from schemas.errors import LakeError
from schemas.lineage import PartitionRef
from schemas.tables.contexts import Chunks, Retrievals
from schemas.tables.layers import LAYERS
from tasks.analysis.answers import ScoredItem, answers_by_key
from tasks.analysis.past_run import PastRun
from tasks.analysis.redaction import redact, restricted_notices
from tasks.analysis.run_tables import PROMPT_CHUNKS, ReportData, System, join_prompt_chunks
from tasks.lake.fingerprint import content_sha256
from tasks.lake.lake import measured_columns
from tasks.solvers.answers import answers_of_replies

SchemaT = TypeVar("SchemaT", bound=dy.Schema)
Key = tuple[str, int]
"""Item and repetition."""

SHOWN = ("items", "responses", "answers", "judgements", "item_scores", "contexts")
OF_ALL = ("items", "contexts")
"""Layers whose partitions are the same for all models and settings."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """One dataset of one model and setting. Frames are rows of the layers they are called by, `prompt_chunks` of PROMPT_CHUNKS.

    `withheld` is the licence if texts are left out because the run is redacted; `notes` say what could not be read as it is now.
    `refs` are the partitions the rows come from.
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
    notes: tuple[str, ...]

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
    reader = _Reader(run)
    retrievals = reader.read(Retrievals, run.partitions("retrievals", **asked))
    chunks = _chunks_of(run, asked)
    found = [join_prompt_chunks(reader.read(Chunks, [ref]), retrievals, dict(ref.place)) for ref in chunks]
    rows = {
        layer: reader.read(LAYERS[layer], run.partitions(layer, **({"dataset": dataset} if layer in OF_ALL else asked)))
        for layer in SHOWN
    }
    if rows["answers"].is_empty():
        rows["answers"] = answers_of_replies(rows["responses"], rows["items"])
    return Evidence(
        **rows,
        retrievals=retrievals,
        prompt_chunks=pl.concat(found) if found else pl.DataFrame(schema=PROMPT_CHUNKS),
        refs=tuple(reader.refs),
        withheld=None,
        notes=tuple(reader.notes),
    )


def _chunks_of(run: PastRun, asked: dict[str, str]) -> list[PartitionRef]:
    """Return the chunks of this model's prompts, if they are certain: `retrievals` does not say how a context was cut."""
    own = run.partitions("chunks", **asked)
    cuts = [ref for ref in run.partitions("chunks", dataset=asked["dataset"]) if "model" not in dict(ref.place)]
    return own + (cuts if len(cuts) == 1 else [])


class _Reader:
    """Reads partitions, also those of an older version whose rows lack columns, and remembers what it read."""

    def __init__(self, run: PastRun) -> None:
        self._run = run
        self.refs: list[PartitionRef] = []
        self.notes: list[str] = []

    def read(self, schema: type[SchemaT], refs: list[PartitionRef]) -> pl.DataFrame:
        frames = [self._read_one(schema, ref) for ref in refs]
        self.refs += refs
        return pl.concat(frames, how="diagonal_relaxed") if frames else schema.create_empty()

    def _read_one(self, schema: type[SchemaT], ref: PartitionRef) -> pl.DataFrame:
        try:
            return self._run.lake.read(ref, schema)
        except LakeError:
            if (frame := self._read_older(schema, ref)) is None:
                raise
            return frame

    def _read_older(self, schema: type[SchemaT], ref: PartitionRef) -> pl.DataFrame | None:
        """Return the rows as they were written, newer columns filled with null; null if they are not what was written."""
        try:
            frame = pl.read_parquet(self._run.lake.path(ref).read_bytes(), hive_partitioning=False)
        except (OSError, pl.exceptions.PolarsError):
            return None
        columns = schema.columns()
        new = [name for name in columns if name not in frame.columns]
        measured = tuple(name for name in measured_columns(schema) if name in frame.columns)
        if not new or content_sha256(frame, measured) != ref.content_sha256:
            return None
        self.notes.append(f"{ref.path} was written by an older version and has no {', '.join(new)}")
        words = frame.with_columns(pl.col(pl.Enum).cast(pl.String))
        return words.with_columns(pl.lit(None, columns[name].dtype).alias(name) for name in new)


def _without_withheld(run: PastRun, found: Evidence) -> Evidence:
    if not run.manifest.redacted:
        return found
    if found.notes:
        raise LakeError(
            "the run is redacted, and which of its texts may be shown is not known of rows of an older version",
            where=str(run.lake.root),
            expected="partitions of this version",
            got="; ".join(found.notes),
            next_step="look into it with the version that wrote it",
        )
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
