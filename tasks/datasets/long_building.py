"""From raw records to the validated, sampled items of one dataset with long contexts, and what is known of the contexts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from schemas.context import Construct, Context, ContextOptions, LazySample
from schemas.dataset import DatasetSpec
from schemas.errors import SourceError
from schemas.item import Record
from schemas.tables.contexts import Contexts
from schemas.tables.items import Items
from tasks.datasets.building import item_row, rank_row, split_by_rules
from tasks.sources.reading import read_dataset

NOT_BUILT = "item_can_be_built"
"""Rule that a draft broke whose record allowed no item."""

BATCH = 64
"""Drafts built before what became of them is looked at, where all are wanted; bounds the memory of rows not yet in a frame."""

UNUSABLE = (LookupError, TypeError, ValueError, AttributeError)
"""What a construction raises over a record that is not as it should be."""


@dataclass(frozen=True)
class BuiltLong:
    """Result of building one dataset with long contexts.

    `contexts` has one row per item. `rejected` has the columns of `items`, `broken_rules`, and `reason`, why an item could not be
    built; of such an item only its source is known. `n_drafts` counts all items that there could be, `n_read` those that were
    built or tried, `n_good` those of them that broke no rule: `n_good` + rows of `rejected` = `n_read`.
    """

    items: dy.DataFrame[Items]
    contexts: dy.DataFrame[Contexts]
    rejected: pl.DataFrame
    n_drafts: int
    n_read: int
    n_good: int


@dataclass(frozen=True)
class _Batch:
    items: pl.DataFrame
    contexts: pl.DataFrame
    rejected: pl.DataFrame


def build_long_items(
    spec: DatasetSpec, paths: Sequence[Path], options: ContextOptions, sample: int | None, seed: int
) -> BuiltLong:
    """Read the files of a catalogue entry and build as many of its items as are sampled.

    Drafts are built in an order that rests on the seed and their records alone. One that yields no valid item is rejected, and
    the next takes its place, so that the sample is as large as the dataset allows.

    Args:
        spec: an entry with a construct.
        paths: where its files are, in the order of `spec.files`.
        options: how contexts are built.
        sample: how many valid items to build; all if there are fewer, or if it is null.
        seed: of the construct and of the draw.

    Raises:
        SourceError: a file or a record cannot be read, the number of records is not the expected one, or no items can be listed.
        UsageError: the tokenizer that counts lengths is not installed.
    """
    drafts = list_drafts(spec, read_dataset(spec, paths), options, seed)
    queue = iter(rank_drafts(drafts, seed))
    batches = [_build(spec, ())]
    n_good = 0
    while wanted := list(islice(queue, BATCH if sample is None else min(BATCH, sample - n_good))):
        batches.append(_build(spec, wanted))
        n_good += batches[-1].items.height
    whole = _Batch(
        *(pl.concat(parts) for parts in zip(*((one.items, one.contexts, one.rejected) for one in batches), strict=True))
    )
    return BuiltLong(
        items=Items.validate(whole.items.sort("item_id")),
        contexts=Contexts.validate(whole.contexts.sort("item_id")),
        rejected=whole.rejected.sort("item_id"),
        n_drafts=len(drafts),
        n_read=n_good + whole.rejected.height,
        n_good=n_good,
    )


def list_drafts(spec: DatasetSpec, records: Sequence[Record], options: ContextOptions, seed: int) -> Sequence[LazySample]:
    """Every item that there could be, in the order of the construct; none is built yet.

    Raises:
        SourceError: the files do not fit together, or two items have the same name.
    """
    construct: Construct | None = spec.construct
    if construct is None:
        raise AssertionError(f"{spec.id} has no long contexts")
    try:
        drafts = construct(records, options, seed)
    except UNUSABLE as error:
        raise _unfit(spec, records, f"{type(error).__name__}: {error}") from error
    repeated = [name for name, times in Counter(draft.item_id for draft in drafts).items() if times > 1]
    if repeated:
        raise _unfit(spec, records, f"several items named {', '.join(repeated[:3])}")
    return drafts


def rank_drafts(drafts: Sequence[LazySample], seed: int) -> list[LazySample]:
    """The drafts in the order of the draw, which rests on the seed, the content of their records and the names of their units.

    Those of one unit stand together, in the order of the construct: a sample has the same needles at every length and depth.
    """
    # Many drafts come from one record, and hashing it takes longer than all the rest.
    records = {id(draft.record): draft.record for draft in drafts}
    hashes = {key: record.sha256 for key, record in records.items()}
    return sorted(drafts, key=lambda draft: rank_row(seed, f"{hashes[id(draft.record)]}:{draft.unit or draft.item_id}"))


def _build(spec: DatasetSpec, drafts: Sequence[LazySample]) -> _Batch:
    """Good items, their contexts, and the rejected."""
    items, contexts, refused = [], [], []
    for draft in drafts:
        row = partial(item_row, spec.id, draft.record, item_id=draft.item_id)
        try:
            item, context = draft.build()
        except UNUSABLE as error:
            refused.append({**row(item=None), "broken_rules": [NOT_BUILT], "reason": f"{type(error).__name__}: {error}"})
            continue
        items.append(row(item=item))
        contexts.append(_context_row(spec.id, draft.item_id, context))
    made = pl.DataFrame(items, schema=pl.Schema(Items))
    of_contexts = pl.DataFrame(contexts, schema=pl.Schema(Contexts))
    good, rejected = _split(made, of_contexts)
    schema = pl.Schema({**rejected.schema})
    rejected = pl.concat([rejected, pl.DataFrame(refused, schema=schema)])
    if good.height + rejected.height != len(drafts):
        raise AssertionError(f"{good.height} good and {rejected.height} rejected rows are not the {len(drafts)} drafts")
    return _Batch(good, of_contexts.join(good, on=["dataset", "item_id"], how="semi"), rejected)


def _split(items: pl.DataFrame, contexts: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Items that break no rule and whose contexts break none, and the others."""
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
        f"No items of {spec.id} can be built of these files.",
        where=", ".join(dict.fromkeys(record.file for record in records)),
        expected=f"files as the construction of {spec.id} reads them",
        got=got,
        next_step="correct the files, or the construct of the dataset if they are the pinned ones",
    )
