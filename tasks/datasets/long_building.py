"""Build the items of one dataset with long contexts, and what is known of the contexts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.dataset import DatasetSpec
from schemas.errors import SourceError
from schemas.item import Record
from schemas.tables.contexts import Contexts
from schemas.tables.items import Items
from tasks.datasets.building import item_row, rank_row, split_by_rules
from tasks.sources.reading import read_dataset

NOT_BUILT = "item_can_be_built"
"""Rule that a sample broke whose record allowed no item."""

BATCH = 64
"""Samples built before what became of them is looked at, where all are wanted; bounds the memory of rows not yet in a frame."""

UNUSABLE = (LookupError, TypeError, ValueError, AttributeError)
"""What a sample builder or a sample raises over a record that is not as it should be."""


@dataclass(frozen=True)
class BuiltLong:
    """The items of one dataset with long contexts that were built, and one row of `contexts` per item.

    `rejected` has the columns of `items`, `broken_rules`, and `reason`, why an item could not be built; of such an item only its
    source is known.
    """

    items: pl.DataFrame
    contexts: pl.DataFrame
    rejected: pl.DataFrame


def build_long_items(
    spec: DatasetSpec, paths: Sequence[Path], options: ContextOptions, sample: int | None, seed: int
) -> BuiltLong:
    """Read the files of a catalogue entry and build as many of its items as are sampled.

    Samples are built in an order that rests on the seed and their records alone. One that yields no valid item is rejected, and
    the next takes its place, so that the sample is as large as the dataset allows.

    Args:
        spec: an entry with a sample builder.
        paths: where its files are, in the order of `spec.files`.
        options: how contexts are built.
        sample: how many valid items to build; all if there are fewer, or if it is null.
        seed: of the sample builder and of the draw.

    Raises:
        SourceError: a file or a record cannot be read, the number of records is not the expected one, or no items can be listed.
        UsageError: the tokenizer that counts lengths is not installed.
    """
    samples = list_samples(spec, read_dataset(spec, paths), options, seed)
    queue = iter(rank_samples(samples, seed))
    built = _build(spec, ())
    while wanted := list(islice(queue, BATCH if sample is None else min(BATCH, sample - built.items.height))):
        batch = _build(spec, wanted)
        built = BuiltLong(
            pl.concat([built.items, batch.items]),
            pl.concat([built.contexts, batch.contexts]),
            pl.concat([built.rejected, batch.rejected]),
        )
    return BuiltLong(
        items=Items.validate(built.items.sort("item_id")),
        contexts=Contexts.validate(built.contexts.sort("item_id")),
        rejected=built.rejected.sort("item_id"),
    )


def list_samples(spec: DatasetSpec, records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[LazySample]:
    """Return every item that there could be, in the order of the sample builder; none is built yet.

    Raises:
        SourceError: the files do not fit together, or two items have the same name.
    """
    builder: SampleBuilder | None = spec.sample_builder
    if builder is None:
        raise AssertionError(f"{spec.id} has no long contexts")
    try:
        samples = builder(records, options, seed)
    except UNUSABLE as error:
        raise _unfit(spec, records, f"{type(error).__name__}: {error}") from error
    repeated = [name for name, times in Counter(sample.item_id for sample in samples).items() if times > 1]
    if repeated:
        raise _unfit(spec, records, f"several items named {', '.join(repeated[:3])}")
    return samples


def rank_samples(samples: Sequence[LazySample], seed: int) -> list[LazySample]:
    """Return the samples in the order of the draw, which rests on seed, content of the records and names of the units.

    Those of one unit stand together, in the order of the sample builder: a sample has the same needles at every length and depth.
    """
    # Many samples come from one record, and hashing it takes longer than all the rest.
    records = {id(sample.record): sample.record for sample in samples}
    hashes = {key: record.sha256 for key, record in records.items()}
    return sorted(samples, key=lambda sample: rank_row(seed, f"{hashes[id(sample.record)]}:{sample.unit or sample.item_id}"))


def _build(spec: DatasetSpec, samples: Sequence[LazySample]) -> BuiltLong:
    """Return good items, their contexts, and the rejected."""
    items, contexts, refused = [], [], []
    for sample in samples:
        row = partial(item_row, spec.id, sample.record, item_id=sample.item_id)
        try:
            item, context = sample.build()
        except UNUSABLE as error:
            refused.append({**row(item=None), "broken_rules": [NOT_BUILT], "reason": f"{type(error).__name__}: {error}"})
            continue
        items.append(row(item=item))
        contexts.append(_context_row(spec.id, sample.item_id, context))
    made = pl.DataFrame(items, schema=pl.Schema(Items))
    of_contexts = pl.DataFrame(contexts, schema=pl.Schema(Contexts))
    good, rejected = _split(made, of_contexts)
    schema = pl.Schema({**rejected.schema})
    rejected = pl.concat([rejected, pl.DataFrame(refused, schema=schema)])
    if good.height + rejected.height != len(samples):
        raise AssertionError(f"{good.height} good and {rejected.height} rejected rows are not the {len(samples)} samples")
    return BuiltLong(good, of_contexts.join(good, on=["dataset", "item_id"], how="semi"), rejected)


def _split(items: pl.DataFrame, contexts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the items that break no rule and whose contexts break none, and the others."""
    names = ["dataset", "item_id"]
    _, bad_items = split_by_rules(items)
    _, bad_contexts = split_by_rules(contexts, Contexts)
    broken = pl.concat([bad.select(*names, "broken_rules") for bad in (bad_items, bad_contexts)])
    by_item = broken.group_by(names).agg(pl.col("broken_rules").explode())
    rejected = items.join(by_item, on=names).with_columns(pl.lit(None, dtype=pl.String).alias("reason"))
    return items.join(by_item, on=names, how="anti"), rejected


def _context_row(dataset: str, item_id: str, context: Context) -> dict[str, Any]:
    row = context.model_dump()
    return {**row, "renamed": [list(pair) for pair in context.renamed], "dataset": dataset, "item_id": item_id}


def _unfit(spec: DatasetSpec, records: Sequence[Record], got: str) -> SourceError:
    return SourceError(
        f"no items of {spec.id} can be built of these files",
        where=", ".join(dict.fromkeys(record.file for record in records)),
        expected=f"files as the sample builder of {spec.id} reads them",
        got=got,
        next_step="correct the files, or the sample builder of the dataset if they are the pinned ones",
    )
