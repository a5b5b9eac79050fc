"""Build the items of one dataset from lazy samples, as many as are wanted, and what is known of their contexts."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from schemas.context import Context, ContextOptions, LazySample, SampleBuilder
from schemas.dataset import DatasetSpec
from schemas.errors import SourceError
from schemas.item import Record
from schemas.tables.contexts import Contexts
from schemas.tables.items import Items
from tasks.datasets.item_rows import BuiltItems, item_row, rank_row, split_by_rules

NOT_BUILT = "item_can_be_built"
"""Rule that a sample broke whose record allowed no item."""

BATCH = 64
"""Samples built before what became of them is looked at, where all are wanted; bounds the memory of rows not yet in a frame."""

UNUSABLE = (LookupError, TypeError, ValueError, AttributeError)
"""What a sample builder or a sample raises over a record that is not as it should be."""


def build_samples(spec: DatasetSpec, samples: Sequence[LazySample], size: int | None, seed: int) -> BuiltItems:
    """Build as many items as are sampled.

    Samples are built in an order that rests on the seed and their records alone. One that yields no valid item is rejected, and
    the next takes its place, so that the sample is as large as the dataset allows.

    Args:
        spec: an entry with a sample builder.
        samples: all that there are.
        size: how many valid items to build; all if there are fewer, or if it is null.
        seed: of the draw.
    """
    queue = iter(rank_samples(samples, seed))
    batches = [_build(spec, ())]
    good = 0
    while wanted := list(islice(queue, BATCH if size is None else min(BATCH, size - good))):
        batches.append(_build(spec, wanted))
        good += batches[-1].items.height
    return BuiltItems(
        items=Items.validate(pl.concat([batch.items for batch in batches]).sort("item_id")),
        contexts=Contexts.validate(pl.concat([batch.contexts for batch in batches]).sort("item_id")),
        rejected=pl.concat([batch.rejected for batch in batches]).sort("item_id"),
    )


def list_samples(spec: DatasetSpec, records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[LazySample]:
    """Return every item that there could be, in the order of the sample builder; none is built yet.

    Raises:
        SourceError: the files do not fit together, or two items have the same name.
    """
    builder: SampleBuilder | None = spec.sample_builder
    if builder is None:
        raise AssertionError(f"{spec.id} has no sample builder")
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


class Batch(NamedTuple):
    """Good items, their contexts, and the rejected."""

    items: pl.DataFrame
    contexts: pl.DataFrame
    rejected: pl.DataFrame


def _build(spec: DatasetSpec, samples: Sequence[LazySample]) -> Batch:
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
    return Batch(good, of_contexts.join(good, on=["dataset", "item_id"], how="semi"), rejected)


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
