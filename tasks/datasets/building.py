"""Build the items of one dataset: read its files, make items, validate and sample them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.errors import RecordError, SourceError
from schemas.item import Item, Record, RecordJoin
from schemas.tables.contexts import Contexts
from schemas.tables.items import Items
from tasks.datasets.item_rows import BuiltItems, item_row, sample_items, split_by_rules
from tasks.datasets.lazy_building import build_samples, list_samples
from tasks.sources.reading import read_dataset

ID_HASH_LENGTH = 12
USUAL_CONTEXTS = ContextOptions()


def build_items(
    spec: DatasetSpec, paths: Sequence[Path], sample: int | None, seed: int, options: ContextOptions = USUAL_CONTEXTS
) -> BuiltItems:
    """Read the files of a catalogue entry and make its items, by its adapter or its sample builder.

    Args:
        spec: the entry.
        paths: where its files are, in the order of `spec.files`.
        sample: how many valid items to keep; all if there are fewer, or if it is null.
        seed: of the draw, and of a sample builder.
        options: how a sample builder builds contexts.

    Raises:
        SourceError: a file or a record cannot be read, the number of records is not the expected one, or they allow no items.
        UsageError: the tokenizer that counts lengths is not installed.
    """
    return build_of_records(spec, read_dataset(spec, paths), sample, seed, options)


def build_of_records(
    spec: DatasetSpec, records: Sequence[Record], sample: int | None, seed: int, options: ContextOptions = USUAL_CONTEXTS
) -> BuiltItems:
    """Do the same with the records of all files, in order."""
    if spec.sample_builder is not None:
        return build_samples(spec, list_samples(spec, records, options, seed), sample, seed)
    return select_items(make_items(spec, records), sample, seed)


def make_items(spec: DatasetSpec, records: Sequence[Record]) -> pl.DataFrame:
    """Return every item of a dataset, from the records of all its files in order; nothing is validated yet.

    Raises:
        SourceError: the files do not fit together, or the adapter cannot make an item of a record.
    """
    return adapt_records(spec, records if spec.join_records is None else _join(spec, spec.join_records, records))


def adapt_records(spec: DatasetSpec, records: Sequence[Record]) -> pl.DataFrame:
    """Return one row per item of each record, in order, with the columns of `Items`; nothing is validated yet.

    Raises:
        RecordError: the adapter cannot make an item of a record.
    """
    rows: list[dict[str, Any]] = []
    row_ids = number_repeats(f"{spec.id}-{record.sha256[:ID_HASH_LENGTH]}" for record in records)
    for record, row_id in zip(records, row_ids, strict=True):
        items = _adapt(spec, record)
        for item, item_id in zip(items, _name_items(items, row_id), strict=True):
            rows.append(item_row(spec.id, record, item, item_id))
    return pl.DataFrame(rows, schema=pl.Schema(Items))


def select_items(candidates: pl.DataFrame, sample: int | None, seed: int) -> BuiltItems:
    """Part the good rows from the rejected ones, then sample the good ones."""
    good, rejected = split_by_rules(candidates)
    if good.height + rejected.height != candidates.height:
        raise AssertionError(f"{good.height} good and {rejected.height} rejected rows are not the {candidates.height} read")
    rejected = rejected.with_columns(pl.lit(None, dtype=pl.String).alias("reason"))
    return BuiltItems(Items.validate(sample_items(good, sample, seed)), Contexts.create_empty(), rejected)


def number_repeats(names: Iterable[str]) -> Iterator[str]:
    """Yield each name; the second time it comes with the suffix `-2`, and so on."""
    times: Counter[str] = Counter()
    for name in names:
        times[name] += 1
        yield name if times[name] == 1 else f"{name}-{times[name]}"


def _join(spec: DatasetSpec, join: RecordJoin, records: Sequence[Record]) -> Sequence[Record]:
    try:
        return join(records)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise SourceError(
            f"the files of {spec.id} do not fit together",
            where=", ".join(dict.fromkeys(record.file for record in records)),
            expected="files as the catalogue entry pins them",
            got=f"{type(error).__name__}: {error}",
            next_step="correct `join_records` of the dataset: the files are the pinned ones",
        ) from error


def _adapt(spec: DatasetSpec, record: Record) -> Sequence[Item]:
    if spec.adapter is None:
        raise AssertionError(f"{spec.id} has no adapter: its items are built by its sample builder")
    try:
        made = spec.adapter(record)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _unusable(spec, record, f"{type(error).__name__}: {error}") from error
    items = [made] if isinstance(made, Item) else made
    if not items:
        raise _unusable(spec, record, "no item")
    return items


def _unusable(spec: DatasetSpec, record: Record, got: str) -> RecordError:
    return RecordError(
        f"no item of {spec.id} can be made of this record",
        where=f"{record.file}, row {record.row} (0-based)",
        expected=f"a record as the adapter of {spec.id} reads it, with {', '.join(spec.required)}",
        got=got,
        next_step="correct the file, or the adapter of the dataset",
    )


def _name_items(items: Sequence[Item], row_id: str) -> Iterator[str]:
    for number, item in enumerate(items, start=1):
        yield item.item_id or (row_id if len(items) == 1 else f"{row_id}.{number}")
