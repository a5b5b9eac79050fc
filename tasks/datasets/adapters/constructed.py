"""The adapter of datasets whose items are built by a construct: it has nothing to do."""

from collections.abc import Iterable

from schemas.item import Item, Record


def adapt_nothing(record: Record) -> Iterable[Item]:
    """No item can be made of one record alone.

    Raises:
        TypeError: always; items of such a dataset are built by `tasks.datasets.long_building`.
    """
    raise TypeError(f"the record in {record.file} is not an item by itself: the dataset's construct builds its items")
