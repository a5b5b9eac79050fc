"""Find rows of a plan's datasets that break a rule: they are no items, and a dataset is smaller without them."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from flows.planning.jobs import ResolvedPlan
from schemas.dataset import LocalFile
from schemas.errors import SourceError
from schemas.lineage import Missing
from tasks.analysis.number_format import counted

SHOWN_ROWS = 3
LONGEST_REASON = 120


@dataclass(frozen=True)
class BrokenRows:
    """Rows of one dataset that are no items.

    Attributes:
        dataset: its name.
        is_own: whether it is a user's own file, which can be mended; that of a catalogue entry is pinned.
        items: how many it has without them.
        rows: how many they are.
        rules: what they break, in words.
        lacking: how many items it would have more, up to the size of the sample.
    """

    dataset: str
    is_own: bool
    items: int
    rows: int
    rules: str
    lacking: int

    @property
    def words(self) -> str:
        """Say what is left out and why."""
        verb = "breaks a rule and is no item" if self.rows == 1 else "break a rule and are no items"
        return f"has {counted(self.rows, 'row')} that {verb}: {self.rules}"

    @property
    def missing(self) -> Missing:
        """Say that the dataset is not asked as a whole."""
        return Missing(dataset=self.dataset, reason=self.words, next_step="correct these rows of the file", rows=self.rows)


def find_broken_rows(resolved: ResolvedPlan, *, own: bool) -> Iterator[BrokenRows]:
    """Yield what is left out of each dataset that is built; `own`: of the user's own datasets only."""
    for selected in resolved.selected:
        is_own = any(isinstance(file, LocalFile) for file in selected.spec.files)
        built = resolved.find_built(selected) if is_own or not own else None
        rejected = resolved.lake.read_rejected(built[0]) if built else None
        if built and rejected is not None:
            items, rows = built[0].rows, rejected.height
            lacking = max(0, min(resolved.sample(selected), items + rows) - items)
            yield BrokenRows(
                selected.spec.id, is_own, items, rows, _said(rejected, selected.spec.record_format == "folder"), lacking
            )


def _said(rejected: pl.DataFrame, by_file: bool) -> str:  # noqa: FBT001
    place = pl.col("source_file" if by_file else "source_row").sort()
    reason = pl.col("reason").drop_nulls().first().str.replace(r"^\w+: ", "")
    broken = rejected.explode("broken_rules").group_by("broken_rules", maintain_order=True).agg(pl.len(), place, reason)
    said = []
    for rule, count, numbers, why in broken.sort("broken_rules").iter_rows():
        more = (", ..." if count > SHOWN_ROWS else "") + (f", {why[:LONGEST_REASON]}" if why and not by_file else "")
        said.append(f"{rule} ({count}: {'' if by_file else 'row '}{', '.join(map(str, numbers[:SHOWN_ROWS]))}{more})")
    return "; ".join(said) if by_file else f"{'; '.join(said)}; the first row is row 0"


def require_items(broken: BrokenRows) -> None:
    """Raise SourceError if nothing is left of a dataset."""
    if broken.items == 0:
        raise SourceError(
            f"no row of {broken.dataset} can be asked",
            where=broken.dataset,
            expected="rows that keep the rules of items",
            got=broken.rules,
            next_step="correct the rows of the file; docs/how-to/own-dataset.md says what an item has",
        )
