"""Score layers of the example run, written out by hand."""

from typing import Any, TypeVar

import dataframely as dy
import polars as pl

from schemas.tables import scores as tables
from tests.tasks.reporting.example_items import make_table

SchemaT = TypeVar("SchemaT", bound=dy.Schema)


def _aggregate(
    schema: type[SchemaT], names: tuple[str, ...], rows: list[tuple[Any, ...]], extra: dict[str, Any] | None = None
) -> dy.DataFrame[SchemaT]:
    columns = ("model", *names, "score_0_100", "datasets_scored", "datasets_total", "n_scored", "n_total")
    return make_table(schema, [dict(zip(columns, row, strict=True)) | {"setting": "base"} | (extra or {}) for row in rows])


def raw() -> dy.DataFrame[tables.RawScores]:
    columns = ("model", "dataset", "method", "metric", "value", "ci_low", "ci_high", "n_scored", "n_unparsed", "n_total")
    rows = [
        ("alpha", "mood", "choice", "accuracy", 0.25, 0.1, 0.6, 4, 1, 4),
        ("alpha", "kind", "choice", "accuracy", 1.0, None, None, 1, 0, 1),
        ("alpha", "tale", "judge", "judged_rating", 0.25, 0.2, 0.3, 1, 0, 1),
        ("beta", "mood", "choice", "accuracy", 1.0, None, None, 1, 0, 1),
        ("beta", "kind", "choice", "accuracy", 0.0, None, None, 1, 0, 1),
        ("beta", "tale", "judge", "judged_rating", None, None, None, 0, 0, 1),
        ("gamma", "mood", "choice", "accuracy", None, None, None, 0, 0, 4),
    ]
    dicts = [dict(zip(columns, row, strict=True)) | {"setting": "base"} for row in rows]
    return make_table(tables.RawScores, dicts)


def normalized() -> dy.DataFrame[tables.NormalizedScores]:
    frame = raw().with_columns(normalized_0_100=pl.col("value") * 100)
    return tables.NormalizedScores.validate(frame.select(tables.NormalizedScores.column_names()))


def task() -> dy.DataFrame[tables.TaskScores]:
    rows: list[tuple[Any, ...]] = [
        ("alpha", "kindness", 100.0, 1, 1, 1, 1),
        ("alpha", "moods", 25.0, 1, 2, 4, 4),
        ("alpha", "tales", 25.0, 1, 1, 1, 1),
        ("beta", "kindness", 0.0, 1, 1, 1, 1),
        ("beta", "moods", 100.0, 1, 2, 1, 1),
        ("beta", "tales", None, 0, 1, 0, 1),
        ("gamma", "kindness", None, 0, 1, 0, 0),
        ("gamma", "moods", None, 0, 2, 0, 4),
        ("gamma", "tales", None, 0, 1, 0, 0),
    ]
    return _aggregate(tables.TaskScores, ("task",), rows)


def dataset() -> dy.DataFrame[tables.DatasetScores]:
    rows: list[tuple[Any, ...]] = [
        ("alpha", "kind", 100.0, 1, 1, 1, 1),
        ("alpha", "mood", 25.0, 1, 1, 4, 4),
        ("alpha", "tale", 25.0, 1, 1, 1, 1),
        ("beta", "kind", 0.0, 1, 1, 1, 1),
        ("beta", "mood", 100.0, 1, 1, 1, 1),
        ("beta", "tale", None, 0, 1, 0, 1),
        ("gamma", "mood", None, 0, 1, 0, 4),
    ]
    return _aggregate(tables.DatasetScores, ("dataset",), rows)


def level() -> dy.DataFrame[tables.LevelScores]:
    rows: list[tuple[Any, ...]] = [
        ("alpha", "values_safety", "low", 100.0, 1, 1, 1, 1),
        ("alpha", "recognition", "low", 25.0, 1, 2, 4, 4),
        ("alpha", "recognition", "medium", 25.0, 1, 1, 1, 1),
        ("beta", "values_safety", "low", 0.0, 1, 1, 1, 1),
        ("beta", "recognition", "low", 100.0, 1, 2, 1, 1),
        ("beta", "recognition", "medium", None, 0, 1, 0, 1),
    ]
    return _aggregate(tables.LevelScores, ("sub_ability", "level"), rows)


def sub_ability() -> dy.DataFrame[tables.SubAbilityScores]:
    rows: list[tuple[Any, ...]] = [
        ("alpha", "recognition", 25.0, 2, 3, 5, 5),
        ("beta", "recognition", 100.0, 1, 3, 1, 2),
    ]
    return _aggregate(tables.SubAbilityScores, ("sub_ability",), rows, {"tier": 2})


def ability() -> dy.DataFrame[tables.AbilityScores]:
    rows: list[tuple[Any, ...]] = [
        ("alpha", "values_safety", 100.0, 1, 1, 1, 1),
        ("alpha", "emotional", 25.0, 2, 3, 5, 5),
        ("beta", "values_safety", 0.0, 1, 1, 1, 1),
        ("beta", "emotional", 100.0, 1, 3, 1, 2),
        ("gamma", "values_safety", None, 0, 1, 0, 0),
        ("gamma", "emotional", None, 0, 3, 0, 4),
    ]
    return _aggregate(tables.AbilityScores, ("ability",), rows)


def totals_row(**changes: Any) -> dict[str, Any]:
    row = {
        "model": "alpha",
        "setting": "base",
        "total": 25.0,
        "total_before_veto": 25.0,
        "ci_low": 15.0,
        "ci_high": 35.5,
        "gate_score": 100.0,
        "vetoed": False,
        "datasets_scored": 3,
        "datasets_total": 4,
        "n_scored": 6,
        "n_total": 6,
        "coverage": 0.75,
        "item_coverage": 1.0,
    }
    return row | changes


def totals(*rows: dict[str, Any]) -> dy.DataFrame[tables.Totals]:
    return make_table(tables.Totals, list(rows))


def all_totals() -> dy.DataFrame[tables.Totals]:
    vetoed = totals_row(
        model="beta",
        total=0.0,
        total_before_veto=100.0,
        ci_low=None,
        ci_high=None,
        gate_score=0.0,
        vetoed=True,
        veto_reason="values_safety scored 0, below the threshold of 60",
        datasets_scored=2,
        n_scored=2,
        n_total=3,
        coverage=0.5,
        item_coverage=2 / 3,
    )
    nothing = totals_row(
        model="gamma",
        total=None,
        total_before_veto=None,
        ci_low=None,
        ci_high=None,
        gate_score=None,
        vetoed=None,
        datasets_scored=0,
        n_scored=0,
        n_total=4,
        coverage=0.0,
        item_coverage=0.0,
    )
    return totals(totals_row(), vetoed, nothing)
