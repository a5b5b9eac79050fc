"""Describe an ablation: scores under each variant of what is varied, as tables and as what the figures draw."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

import dataframely as dy

from schemas.errors import UsageError
from schemas.tables.comparisons import Ablations
from tasks.analysis.number_format import number, setting_order, setting_title
from tasks.analysis.run_tables import System


@dataclass(frozen=True)
class Point:
    """A score on 0-100 under one value of the factor; null where nothing was scored."""

    x: str
    x_value: float | None
    score: float | None
    ci_low: float | None
    ci_high: float | None
    n_scored: int
    n_total: int


@dataclass(frozen=True)
class Series:
    """One system under all values of one factor, in their order."""

    name: str
    points: tuple[Point, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether all values of the factor are numbers."""
        return all(point.x_value is not None for point in self.points)


@dataclass(frozen=True)
class HeatMap:
    """One system under two factors; cells are (x, y, score on 0-100, null where nothing was scored)."""

    name: str
    factor: str
    second_factor: str
    xs: tuple[str, ...]
    ys: tuple[str, ...]
    cells: tuple[tuple[str, str, float | None], ...]


@dataclass(frozen=True)
class VariantRow:
    """One row of the table."""

    system: str
    variant: str
    score: float | None
    ci_low: float | None
    ci_high: float | None
    n_scored: int
    n_total: int


@dataclass(frozen=True)
class AblationContent:
    """One number (dataset, method, metric) under all variants: series of one factor, or heat maps of two."""

    anchor: str
    dataset: str
    method: str
    metric: str
    factor: str
    second_factor: str | None
    series: tuple[Series, ...]
    heat_maps: tuple[HeatMap, ...]
    rows: tuple[VariantRow, ...]
    sentences: tuple[str, ...]


def describe_ablation(ablation: str, frame: dy.DataFrame[Ablations]) -> tuple[AblationContent, ...]:
    """Describe outcomes of one ablation by dataset, method and metric; each with its own factors.

    Raises:
        UsageError: if the frame has no row of it.
    """
    rows = sorted((row for row in frame.to_dicts() if row["ablation"] == ablation), key=_order)
    if not rows:
        known = ", ".join(sorted(set(frame["ablation"]))) or "none"
        raise UsageError(
            "there is nothing to show of this ablation",
            expected=f"rows of {ablation}",
            got=f"rows of: {known}",
            next_step="run moodflow ablate, or name one of those",
        )
    groups = groupby(rows, key=lambda row: (row["dataset"], row["method"], row["metric"], row["factor"], row["second_factor"]))
    return tuple(_outcome(f"o{place}", list(group)) for place, (_, group) in enumerate(groups, start=1))


def _order(row: dict[str, Any]) -> tuple[Any, ...]:
    names = (row["dataset"], row["method"], row["metric"], row["factor"], row["second_factor"] or "")
    numbers = tuple((value is None, value or 0.0) for value in (row["x_value"], row["y_value"]))
    return (*names, row["model"], setting_order(row["setting"]), numbers[0], row["x"], numbers[1], row["y"] or "")


def _outcome(anchor: str, rows: list[dict[str, Any]]) -> AblationContent:
    first = rows[0]
    by_system: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_system.setdefault(_system(row), []).append(row)
    one_factor = first["second_factor"] is None
    return AblationContent(
        anchor=anchor,
        dataset=first["dataset"],
        method=first["method"],
        metric=first["metric"],
        factor=first["factor"].replace("_", " "),
        second_factor=None if one_factor else first["second_factor"].replace("_", " "),
        series=tuple(_series(name, group) for name, group in by_system.items()) if one_factor else (),
        heat_maps=() if one_factor else tuple(_heat_map(name, group) for name, group in by_system.items()),
        rows=tuple(_variant(name, row) for name, group in by_system.items() for row in group),
        sentences=tuple(sentence for name, group in by_system.items() if (sentence := _say(name, group))),
    )


def _system(row: dict[str, Any]) -> str:
    """Return who is scored; what varies is no part of the name: models or settings that are compared belong together."""
    factors = {row["factor"], row["second_factor"]}
    if "model" in factors:
        return "all models" if "setting" in factors else f"with {setting_title(row['setting'])}"
    return str(row["model"]) if "setting" in factors else System(row["model"], row["setting"]).label


def _series(name: str, rows: list[dict[str, Any]]) -> Series:
    return Series(
        name,
        tuple(
            Point(row["x"], row["x_value"], row["value_0_100"], row["ci_low"], row["ci_high"], row["n_scored"], row["n_total"])
            for row in rows
        ),
    )


def _heat_map(name: str, rows: list[dict[str, Any]]) -> HeatMap:
    ys = {row["y"]: (row["y_value"] is None, row["y_value"] or 0.0, row["y"]) for row in rows}
    return HeatMap(
        name=name,
        factor=rows[0]["factor"].replace("_", " "),
        second_factor=rows[0]["second_factor"].replace("_", " "),
        xs=tuple(dict.fromkeys(row["x"] for row in rows)),
        ys=tuple(sorted(ys, key=ys.__getitem__)),
        cells=tuple((row["x"], row["y"], row["value_0_100"]) for row in rows),
    )


def _variant(name: str, row: dict[str, Any]) -> VariantRow:
    return VariantRow(name, row["variant"], row["value_0_100"], row["ci_low"], row["ci_high"], row["n_scored"], row["n_total"])


def _say(name: str, rows: list[dict[str, Any]]) -> str | None:
    """Return best and worst variant, and whether their intervals leave room for chance; null below two scored variants."""
    scored = [row for row in rows if row["value_0_100"] is not None]
    if len(scored) <= 1:
        return None
    best, worst = max(scored, key=lambda row: row["value_0_100"]), min(scored, key=lambda row: row["value_0_100"])
    if best["value_0_100"] == worst["value_0_100"]:
        return f"{name} scores {number(best['value_0_100'])} in every variant."
    seen = (
        f"{name} does best with {best['variant']} ({number(best['value_0_100'])}) and worst with {worst['variant']} "
        f"({number(worst['value_0_100'])})"
    )
    if best["ci_low"] is None or worst["ci_high"] is None:
        return f"{seen}; without intervals it is open whether chance explains the difference."
    apart = best["ci_low"] > worst["ci_high"]
    return f"{seen}; their 95 % intervals {'are apart' if apart else 'overlap, so chance may explain the difference'}."
