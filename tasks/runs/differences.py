"""Compare tables, records or documents: the first difference, or every place that differs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import dataframely as dy
import polars as pl

from schemas.tables.columns import measured_columns

KeyT = TypeVar("KeyT")

ABSENT = "absent"
"""Stands for a part of a document that is on one side only."""


def first_difference(stored: pl.DataFrame, recomputed: pl.DataFrame, schema: type[dy.Schema]) -> tuple[str, str, str, str] | None:
    """Find the first row, by primary key, in which two tables of a schema differ, measured columns aside; null if there is none.

    Return the key of the row, the column, and both values. A row that is on one side only differs in the column `row`.
    """
    key, measured = schema.primary_key(), measured_columns(schema)
    compared = [name for name in stored.columns if name not in (*key, *measured)]
    tables = (side.select(*key, *compared) for side in (stored, recomputed))
    sides = [{row[: len(key)]: row[len(key) :] for row in table.iter_rows()} for table in tables]
    for values in sorted(sides[0].keys() | sides[1].keys(), key=lambda row: tuple(map(str, row))):
        left, right = (side.get(values) for side in sides)
        if repr(left) == repr(right):  # equal numbers may differ in their sign, and are written differently then
            continue
        row = ", ".join(f"{name} {value}" for name, value in zip(key, values, strict=True))
        if left is None:
            return row, "row", ABSENT, "present"
        if right is None:
            return row, "row", "present", ABSENT
        index = next(index for index, pair in enumerate(zip(left, right, strict=True)) if repr(pair[0]) != repr(pair[1]))
        return row, compared[index], repr(left[index]), repr(right[index])
    return None


def fields_apart(*records: Mapping[KeyT, Any]) -> list[KeyT]:
    """Return the fields that are not the same in all of these records; one that is left out counts as null."""
    names = dict.fromkeys(name for record in records for name in record)
    return [name for name in names if any(record.get(name) != records[0].get(name) for record in records)]


class TreeChange(NamedTuple):
    """A place in a document, and what is there before and after."""

    path: str
    before: Any
    after: Any


def tree_changes(before: Any, after: Any, path: str = "", *, by_name: bool = True) -> Iterator[TreeChange]:
    """Yield every place where two JSON documents, or their parts at a path, differ, in order.

    `by_name`: compare entries of a list that have an `id` or a `metric` by it; if all of them are the same and only their order
    is not, the change is that of the list's `order`. What is on one side only is ABSENT on the other. Else entries of lists of
    one length are compared by their number, and what is absent counts as null.
    """
    absent = ABSENT if by_name else None
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            below = f"{path}.{name}" if path else name
            yield from tree_changes(before.get(name, absent), after.get(name, absent), below, by_name=by_name)
    elif by_name and (left := _named(before)) is not None and (right := _named(after)) is not None:
        for name in dict.fromkeys((*left, *right)):
            yield from tree_changes(left.get(name, absent), right.get(name, absent), f"{path}[{name}]")
        if left.keys() == right.keys() and list(left) != list(right):
            yield TreeChange(f"{path}.order", list(left), list(right))
    elif not by_name and isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from tree_changes(*pair, f"{path}.{number}", by_name=False)
    elif before != after:
        yield TreeChange(path, before, after)


def _named(entries: Any) -> dict[str, object] | None:
    """Return the entries of a list by name; None if it is none, or they have no names of their own."""
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not all(isinstance(entry, Mapping) for entry in entries):
        return None
    for field in ("id", "metric"):
        by_name = {str(entry[field]): entry for entry in entries if field in entry}
        if len(by_name) == len(entries):
            return by_name
    return None
