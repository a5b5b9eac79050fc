"""Split contexts; turn chunks into rows of `chunks` and back; find the chunk that holds the needle."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import dataframely as dy
import polars as pl

from schemas.context import Chunk, Context, Retriever
from schemas.errors import ScoringError
from schemas.item import Item
from schemas.lineage import PartitionKey, PartitionRef
from schemas.question_types import answered_by
from schemas.tables.items import Chunks, Contexts
from tasks.lake.lake import Lake
from tasks.lake.partitions import partition_key
from tasks.solvers.state import CONTEXT, Chunking
from tasks.text.tokens import count_tokens

COPIED = ("text", "start", "end", "token_start", "token_end")
"""Fields of a chunk that `chunks` has under the same name, in their order."""

CHUNKS_VERSION = "1"
"""Bumped when a text is split differently."""


class ChunkJob(NamedTuple):
    """Contexts of a dataset to split."""

    items: PartitionRef
    contexts: PartitionRef
    chunking: Chunking

    @property
    def dataset(self) -> str:
        """Return the name of the dataset."""
        return self.items.key("dataset")

    @property
    def key(self) -> PartitionKey:
        """Return the key of the chunks."""
        tokens, overlap, legacy_bos = self.chunking
        if tokens is None:
            chunking, settings = "segments", {}
        else:
            settings = {"chunk_tokens": tokens, "overlap_tokens": overlap, "legacy_bos": legacy_bos}
            chunking = f"{tokens}-{overlap}{'-bos' if legacy_bos else ''}"
        keys = {"dataset": self.dataset, "chunking": chunking}
        return partition_key("chunks", keys, settings, parents=[self.items.identity], version=CHUNKS_VERSION)


def read_contexts(lake: Lake, contexts: PartitionRef | None) -> dict[str, Context]:
    """Return what is known of contexts that were built, by item."""
    if contexts is None:
        return {}
    by_item = {}
    for row in lake.read(contexts, Contexts).iter_rows(named=True):
        fields = {name: value for name, value in row.items() if name in Context.model_fields}
        by_item[row["item_id"]] = Context.model_validate({**fields, "renamed": tuple(tuple(pair) for pair in row["renamed"])})
    return by_item


async def split_context(item: Item, chunking: Chunking, retriever: Retriever) -> tuple[Chunk, ...]:
    """Return the chunks of one item's context, or its segments."""
    if chunking.chunk_tokens is None:
        return segments_of(item.options or ())
    return await retriever.split(item.context or "", chunking.chunk_tokens, chunking.overlap_tokens)


def segments_of(segments: Sequence[str]) -> tuple[Chunk, ...]:
    """Return segments as chunks, as if they stood one after the other with a line end between them."""
    chunks: list[Chunk] = []
    start = token_start = 0
    for number, text in enumerate(segments):
        tokens = max(count_tokens(text), 1)
        chunks.append(Chunk(number, text, start, start + len(text), token_start, token_start + tokens))
        start, token_start = start + len(text) + 1, token_start + tokens
    return tuple(chunks)


def mark_needle(chunks: Sequence[Chunk], item: Item, context: Context) -> tuple[bool | None, ...]:
    """Return which chunk holds the needle: the one with the largest part of it, the first of equals; null without needle.

    The needle of a context in segments is the segment that differs. ScoringError: no chunk holds any of the needle.
    """
    if item.question_type in answered_by("index"):
        return tuple(chunk.number in (item.gold_indices or ()) for chunk in chunks)
    if not chunks or context.needle_start is None or context.needle_end is None:
        return (None,) * len(chunks)
    return tuple(holds_needle(chunks, context.needle_start, context.needle_end))


def holds_needle(chunks: Sequence[Chunk], start: int, end: int) -> list[bool]:
    """Mark one chunk: the first that shares most characters with the needle's span; raise ScoringError if no chunk shares any."""
    shared = [min(chunk.end, end) - max(chunk.start, start) for chunk in chunks]
    if max(shared, default=0) <= 0:
        raise ScoringError(
            "no chunk contains any part of the needle",
            expected="chunks of the text that contains the needle",
            got=f"needle at {start} to {end}; {len(chunks)} chunks" + (f" up to {chunks[-1].end}" if chunks else ""),
        )
    return [index == shared.index(max(shared)) for index in range(len(chunks))]


def chunk_rows(
    dataset: str, item_id: str, corpus: str, chunks: Sequence[Chunk], needles: Sequence[bool | None]
) -> Iterator[dict[str, object]]:
    """Return rows of `chunks`."""
    for chunk, needle in zip(chunks, needles, strict=True):
        keys = {"dataset": dataset, "item_id": item_id, "corpus": corpus, "chunk": chunk.number}
        yield {**keys, **{name: getattr(chunk, name) for name in COPIED}, "holds_needle": needle}


def read_chunks(rows: dy.DataFrame[Chunks]) -> dict[str, tuple[Chunk, ...]]:
    """Return chunks of the contexts, by item, in the order of the text."""
    of_contexts = rows.filter(pl.col("corpus") == CONTEXT).sort("chunk").select("item_id", "chunk", *COPIED)
    return {item_id: tuple(Chunk(*chunk) for chunk in chunks) for item_id, chunks in of_contexts.rows_by_key("item_id").items()}
