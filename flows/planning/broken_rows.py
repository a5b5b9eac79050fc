"""Find rows of a plan's datasets that break a rule: they are no items, and a dataset is smaller without them."""

from collections.abc import Iterator
from dataclasses import dataclass

from flows.planning.jobs import ResolvedPlan
from schemas.errors import SourceError
from schemas.lineage import Missing
from tasks.datasets.rejected_rows import describe_rejected


@dataclass(frozen=True)
class BrokenRows:
    """Rows of one dataset that are no items.

    Attributes:
        dataset: its name.
        items: how many it has without them.
        words: what is left out and why.
        lacking: how many items it would have more, up to the size of the sample.
        missing: that the dataset is not asked as a whole; null if its catalogue entry states these rows.
    """

    dataset: str
    items: int
    words: str
    lacking: int
    missing: Missing | None


def find_broken_rows(resolved: ResolvedPlan) -> Iterator[BrokenRows]:
    """Yield what is left out of each dataset that is built, wherever its files came from."""
    for selected in resolved.selected:
        built = resolved.find_built(selected)
        rejected = resolved.lake.read_rejected(built[0]) if built else None
        if built is None or rejected is None:
            continue
        spec, items, rows = selected.spec, built[0].rows, rejected.height
        lacking = max(0, min(resolved.sample(selected), items + rows - spec.broken_rows) - items)
        words, step = describe_rejected(spec, rejected), "correct these rows of the files, or fetch the files anew"
        missing = Missing(dataset=spec.id, reason=words, next_step=step, rows=rows) if rows > spec.broken_rows else None
        yield BrokenRows(spec.id, items, words, lacking, missing)


def require_items(broken: BrokenRows) -> None:
    """Raise SourceError if nothing is left of a dataset."""
    if broken.items == 0:
        raise SourceError(
            f"no row of {broken.dataset} can be asked",
            where=broken.dataset,
            expected="rows that keep the rules of items",
            got=broken.words,
            next_step="correct the rows of the file; docs/how-to/own-dataset.md says what an item has",
        )
