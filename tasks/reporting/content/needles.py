"""Scores by length of the context and depth of the needle."""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tasks.analysis.number_format import counted, number, setting_order
from tasks.analysis.run_tables import ReportData, System

_THOUSANDS = re.compile(r"(\d+)000\b")


@dataclass(frozen=True)
class NeedleCell:
    """Mean score on 0-100 of the items of one length and depth; null where none was scored."""

    length: str
    depth: str
    score: float | None
    n: int


@dataclass(frozen=True)
class NeedleGrid:
    """One system and dataset: lengths in tokens and depths as they are called, in order; cells where there are items."""

    anchor: str
    system: str
    title: str
    lengths: tuple[str, ...]
    depths: tuple[str, ...]
    cells: tuple[NeedleCell, ...]

    @property
    def by_depth(self) -> tuple[tuple[str, tuple[NeedleCell | None, ...]], ...]:
        """A row per depth with a cell per length, null where there is no item."""
        found = {(cell.length, cell.depth): cell for cell in self.cells}
        return tuple((depth, tuple(found.get((length, depth)) for length in self.lengths)) for depth in self.depths)

    @property
    def sentence(self) -> str | None:
        """Where it is hardest and where easiest, among the cells with a score; null if they do not differ."""
        scored = [(cell.score, cell) for cell in self.cells if cell.score is not None]
        low = min(scored, key=lambda entry: entry[0], default=None)
        high = max(scored, key=lambda entry: entry[0], default=None)
        if low is None or high is None or low[0] == high[0]:
            return None
        return f"{self.system} scores most {_where(high)} and least {_where(low)}."


def _where(entry: tuple[float, NeedleCell]) -> str:
    score, cell = entry
    return f"at {cell.length} tokens and a depth of {cell.depth} ({number(score)}, {counted(cell.n, 'item')})"


def needle_grids(data: ReportData) -> tuple[NeedleGrid, ...]:
    """One grid per dataset, model and setting, by the first metric of the dataset."""
    places = {name: place for place, name in enumerate(data.titles)}
    main = {
        (name, dataset.methods[0].id, dataset.methods[0].metrics[0].metric) for name, dataset in data.blueprint.datasets.items()
    }
    rows = [
        row
        for row in data.needles.sort("length_tokens", "depth_percent").to_dicts()
        if (row["dataset"], row["method"], row["metric"]) in main
    ]
    rows.sort(key=lambda row: (places[row["dataset"]], row["model"], setting_order(row["setting"])))
    groups = groupby(rows, key=lambda row: (row["dataset"], System(row["model"], row["setting"])))
    return tuple(
        _grid(f"needle-{place}", data.titles[key[0]], key[1], list(group)) for place, (key, group) in enumerate(groups, 1)
    )


def _grid(anchor: str, title: str, system: System, rows: list[dict[str, Any]]) -> NeedleGrid:
    by_depth = sorted(rows, key=lambda row: row["depth_percent"])
    return NeedleGrid(
        anchor=anchor,
        system=system.label,
        title=title,
        lengths=tuple(dict.fromkeys(_short(row["length_bin"]) for row in rows)),
        depths=tuple(dict.fromkeys(row["depth_bin"] for row in by_depth)),
        cells=tuple(
            NeedleCell(
                _short(row["length_bin"]), row["depth_bin"], None if row["value"] is None else 100 * row["value"], row["n"]
            )
            for row in rows
        ),
    )


def _short(length: str) -> str:
    """Thousands as k, so that labels fit above the columns."""
    return _THOUSANDS.sub(r"\1k", length)
