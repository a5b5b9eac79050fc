"""Find rows of a plan's datasets that break a rule: they are no items, and a dataset is smaller without them."""

from collections.abc import Iterator
from dataclasses import dataclass

from flows.planning.jobs import ResolvedPlan
from schemas.errors import SourceError
from schemas.lineage import Missing
from tasks.datasets.rejected_rows import describe_rejected


@dataclass(frozen=True)
class BrokenRows:
    """Rows of one dataset that are no items."""

    missing: Missing
    is_stated: bool
    """Whether its catalogue entry states these rows, so that it is asked as a whole."""
    items: int
    """How many it has without them."""
    lacking: int
    """How many items it would have more, up to the size of the sample."""


def find_broken_rows(resolved: ResolvedPlan) -> Iterator[BrokenRows]:
    """Yield what is left out of each dataset that is built, wherever its files came from."""
    for selected in resolved.selected:
        built = resolved.find_built(selected)
        rejected = resolved.lake.read_rejected(built[0]) if built else None
        if built is None or rejected is None:
            continue
        spec, items, rows = selected.spec, built[0].rows, rejected.height
        lacking = max(0, min(resolved.sample(selected), items + rows - spec.broken_rows) - items)
        step = "correct these rows of the files, or fetch the files anew"
        missing = Missing(dataset=spec.id, reason=describe_rejected(spec, rejected), next_step=step, rows=rows)
        yield BrokenRows(missing, rows <= spec.broken_rows, items, lacking)


def require_items(broken: BrokenRows) -> None:
    """Raise SourceError if nothing is left of a dataset."""
    if broken.items == 0:
        raise SourceError(
            f"no row of {broken.missing.dataset} can be asked",
            where=broken.missing.dataset,
            expected="rows that keep the rules of items",
            got=broken.missing.reason,
            next_step="correct the rows of the file; docs/how-to/own-dataset.md says what an item has",
        )
