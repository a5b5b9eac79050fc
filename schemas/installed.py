"""Rows that installed packages add to our registries, by entry points."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import TypeVar

from schemas.errors import UsageError

RowT = TypeVar("RowT")


def installed(registry: str, kind: type[RowT]) -> Iterator[RowT]:
    """Yield the rows that installed packages add to a registry by entry points of the group `moodflow.<registry>`.

    One that cannot be loaded, or is not of type `kind`, is a UsageError.
    """
    for point in sorted(entry_points(group=f"moodflow.{registry}"), key=lambda point: point.name):
        where, step = f"entry point {point.name} of group {point.group}", f"correct or remove the package that has {point.value}"
        try:
            row = point.load()
        except Exception as error:
            raise UsageError("an entry point cannot be loaded", where=where, got=repr(error), next_step=step) from error
        if not isinstance(row, kind):
            got = type(row).__name__
            raise UsageError("an entry point is not a row", where=where, expected=kind.__name__, got=got, next_step=step)
        yield row
