"""Find texts in what was asked and answered, a few partitions at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from schemas.lineage import PartitionRef
from tasks.lake.frames import unreadable
from tasks.rows.index import PLACE, ROW, scan_layer
from tasks.runs.past_run import PastRun

MOST_ROWS = 200_000
"""Rows of answers that are searched at a time, unless one partition has more."""

ITEM_TEXTS = ("question", "context")


class TextSearch:
    """A text that is looked for, in any case, in the items and answers of a run."""

    def __init__(self, run: PastRun, text: str) -> None:
        self._run, self._text = run, text
        self._items: dict[str, pl.DataFrame] = {}
        self._refs: dict[tuple[str, ...], list[PartitionRef]] = {}
        for ref in run.manifest.partitions:
            if ref.layer in {"items", "answers"}:
                place = dict(ref.place)
                self._refs.setdefault((ref.layer, *(place[name] for name in PLACE if name in place)), []).append(ref)

    def keep_matching(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return those of some rows, with their names, whose item or answer holds the text."""
        items = [self._matching_items(str(dataset)) for dataset in rows["dataset"].unique(maintain_order=True)]
        is_asked = rows.join(pl.concat(items), on=["dataset", "item_id"], how="semi")["row"]
        refs = [ref for place in rows.select(PLACE).unique(maintain_order=True).rows() for ref in self._refs[("answers", *place)]]
        answers = self._scan("answers", refs, (*ROW, "text", "turns"))
        in_turns = pl.col("turns").list.eval(self._is_in(pl.element().struct["text"])).list.any()
        with unreadable(self._run.lake.path(refs[0])):
            answered = answers.filter(self._is_in(pl.col("text")) | in_turns).select(ROW).collect(engine="streaming")
        is_answered = rows.join(answered, on=ROW, how="semi")["row"]
        return rows.filter(pl.col("row").is_in(is_asked.append(is_answered).implode()))

    def _matching_items(self, dataset: str) -> pl.DataFrame:
        """Return ids of the items of a dataset that hold the text; all models were asked the same."""
        if dataset not in self._items:
            refs = self._refs["items", dataset]
            texts = self._scan("items", refs, ("dataset", "item_id", *ITEM_TEXTS, "options"))
            in_options = pl.col("options").list.eval(self._is_in(pl.element())).list.any()
            holds = pl.any_horizontal(*(self._is_in(pl.col(name)) for name in ITEM_TEXTS), in_options)
            with unreadable(self._run.lake.path(refs[0])):
                self._items[dataset] = texts.filter(holds).select("dataset", "item_id").collect(engine="streaming")
        return self._items[dataset]

    def _scan(self, layer: str, refs: Sequence[PartitionRef], columns: Iterable[str]) -> pl.LazyFrame:
        return scan_layer(self._run, layer, refs, columns)

    def _is_in(self, column: pl.Expr) -> pl.Expr:
        return column.str.to_lowercase().str.contains(self._text.lower(), literal=True)


def batches_of(sizes: Mapping[int, int], places: Iterable[int]) -> Iterator[list[int]]:
    """Yield places in their order: few at first, since the first may have enough rows for a page, then ever more."""
    batch: list[int] = []
    rows, most = 0, 1
    for place in places:
        batch.append(place)
        rows += sizes[place]
        if rows >= most:
            yield batch
            batch, rows, most = [], 0, min(MOST_ROWS, 2 * max(most, rows))
    if batch:
        yield batch
