"""Datasets as the mirror has them, each read and built once per process."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.item import Item, Record
from schemas.tables.items import Items
from tasks.datasets.building import BuiltItems, build_items, item_row, list_samples
from tasks.datasets.catalogue import find_dataset
from tasks.sources.locating import Locator, choose_source
from tasks.sources.reading import read_dataset


@cache
def here(name: str, mirror: Path) -> DatasetSpec:
    """The entry, or the alternative of it whose files the mirror holds."""
    return choose_source(find_dataset(name), Locator(mirror=mirror))


def paths(spec: DatasetSpec, mirror: Path) -> list[Path]:
    return [Locator(mirror=mirror).locate(file) for file in spec.files]


@cache
def records_of(name: str, mirror: Path) -> list[Record]:
    spec = here(name, mirror)
    return read_dataset(spec, paths(spec, mirror))


@cache
def items_of(name: str, mirror: Path) -> pl.DataFrame:
    """One row per item, rejected ones too, in the order of the files."""
    return make_items(here(name, mirror), records_of(name, mirror))


def make_items(spec: DatasetSpec, records: Sequence[Record]) -> pl.DataFrame:
    rows = [item_row(spec.id, sample, sample.build()[0]) for sample in list_samples(spec, records, ContextOptions(), 0)]
    return pl.DataFrame(rows, schema=pl.Schema(Items))


@cache
def build(name: str, mirror: Path) -> BuiltItems:
    """All good items and the rejected ones, sorted by name."""
    spec = here(name, mirror)
    return build_items(spec, paths(spec, mirror), None, 0)


def texts(item: Item, indices: Iterable[int] | None) -> list[str]:
    assert item.options is not None
    assert indices is not None
    return [item.options[index] for index in indices]


def right(item: Item) -> list[str]:
    return texts(item, item.gold_indices)


def adapt(name: str, fields: Mapping[str, Any], *, file: str = "file", row: int = 0) -> Item:
    """The item that the entry's adapter makes of a made-up record."""
    adapter = find_dataset(name).adapter
    assert adapter is not None
    item = adapter(Record(fields=fields, file=file, row=row))
    assert isinstance(item, Item)
    return item


def rows(name: str, mirror: Path) -> dict[str, dict[str, Any]]:
    """The good items by their name."""
    return {row["item_id"]: row for row in build(name, mirror).items.iter_rows(named=True)}
