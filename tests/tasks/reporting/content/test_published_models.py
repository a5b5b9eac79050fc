"""The published models of a paper."""

import numpy as np
import pytest

from schemas.blueprint import Blueprint
from schemas.table import Cell
from tasks.leaderboard.ranking import published_leaderboard
from tasks.reporting.content.published_models import (
    PublishedModels,
    core_points,
    describe_published_models,
    fit_parabola,
)
from tasks.scoring.published import as_table
from tasks.text.tables import to_records
from tests.tasks.reporting.example_run import BLUEPRINT, published


def models_of(benchmark: str) -> PublishedModels:
    board = published_leaderboard(benchmark)
    return describe_published_models(board.paper, board.blueprint)


def test_ranges_of_sizes_stand_at_their_middle() -> None:
    found = models_of("moodbench")
    assert found.unsized == ["qwen-max", "qwen-plus"]
    doubao = found.sizes.filter(family="Doubao")
    # Half way: 110 / 2 is 55, 196.5 / 2 is 98.25.
    assert doubao.select("billions", "low", "high").rows() == [(10, 10, 10), (55, 50, 60), (98.25, 66.5, 130)]
    assert doubao["estimated"].all()
    # qwen-max and qwen-plus have no number.
    assert {name: found.sizes.filter(family=name).height for name in ("GPT", "Qwen")} == {"GPT": 7, "Qwen": 4}


def test_core_is_fitted_over_all_and_ranked_models() -> None:
    found = models_of("moodbench")
    fits = {name: fit for name, fit in found.fits.items() if fit}
    assert {name: (fit.points, round(fit.r_squared or 0, 2)) for name, fit in fits.items()} == {
        "all": (30, 0.90),
        "ranked": (28, 0.16),
    }
    for name, fit in fits.items():
        points = found.core if name == "all" else found.core.filter("ranked")
        xs, ys = points.select("foundational", "core").to_numpy().T
        left = ys - np.polyval(np.polyfit(xs, ys, 2), xs)
        assert fit.r_squared == pytest.approx(1 - left.var() / ys.var())
        assert fit.correlation == pytest.approx(((xs - xs.mean()) * (ys - ys.mean())).mean() / xs.std() / ys.std())


def test_open_and_closed_models_by_ability() -> None:
    rows = to_records(models_of("moodbench").openness_table)
    assert [row["Score"] for row in rows[::2]] == [
        *("Values & Safety", "Foundational Ability", "Emotional Ability", "Companionship Ability", "Total, before the veto")
    ]
    # Open models. Ranked: 68.40 + 68.32 + 68.26 + 66.78 + 66.31 + 65.43 + 65.23 = 468.73, over 7; the fourth is in the middle.
    ranked = {"Ranked": 7, "Mean of ranked": 66.96, "Median of ranked": 66.78}
    # With qwen3-0.6b's 47.40: 516.13 over 8; half way between 66.31 and 66.78.
    every = {"All": 8, "Mean of all": 64.52, "Median of all": pytest.approx(66.545, abs=0.006)}
    assert rows[-1] == {"Score": "Total, before the veto", **every, **ranked}


def test_gains_of_the_published_rows() -> None:
    rows = to_records(models_of("longemotion").gains)
    assert [row["Setting"] for row in rows] == ["RAG"] * 5 + ["CoEM"] * 5
    (row,) = (row for row in rows if (row["Model"], row["Setting"]) == ("Qwen3-8B", "RAG"))
    # 58.65 - 58.98; 41.59 - 48.00; 20 x (4.54 - 4.51)
    assert (row["Total"], row["Emotion Classification"], row["Emotion Summary"]) == (-0.33, -6.41, 0.6)
    assert to_records(models_of("moodbench").gains) == []


def test_the_published_models_of_the_example() -> None:
    found = describe_published_models(as_table(published()), BLUEPRINT)
    scores = found.settings["base"]
    # Totals 10, 20, 70: the quarters lie half way between neighbours.
    assert scores[-1] == ("Total, before the veto", (10, 15, 20, 45, 70))
    assert [title for title, _ in scores] == ["Values & Safety", "Emotional Ability", "Total, before the veto"]
    assert found.openness.rows()[-3:] == [
        ("Total, before the veto", "Closed-source", 20.0, True),
        ("Total, before the veto", "Closed-source", 70.0, True),
        ("Total, before the veto", "Open-source", 10.0, False),
    ]
    assert found.openness_table.rows[-1] == (Cell("Total, before the veto", "Open-source"), 1, 10.0, 10.0, 0, None, None)
    assert found.sizes.select("model", "billions", "estimated").rows() == [
        ("gpt-9-mini", 8.0, True),
        ("gpt-9-large", 1800.0, False),
        ("llm2-1b", 1.0, False),
    ]
    assert (found.unsized, found.vetoed, found.core.height, found.fits) == ([], 1, 0, {})


def test_core_is_weighed_as_in_the_blueprint() -> None:
    fields, weights = (
        BLUEPRINT.model_dump(mode="json") | {"gate": None},
        {"foundational": 0.3, "emotional": 0.4, "companionship": 0.1},
    )
    method = {"id": "m", "metrics": [{"metric": "accuracy"}]}
    fields["datasets"] = {name: {"title": name, "methods": [method]} for name in weights}
    fields["abilities"] = [
        {
            "id": name,
            "title": name,
            "weight": weight,
            "tasks": [{"id": f"{name}_task", "title": "T", "level": "low", "datasets": [name]}],
        }
        for name, weight in weights.items()
    ]
    frame = published().rename({"values_safety": "foundational"}).head(1)
    frame = frame.with_columns(companionship=frame["emotional"] / 7)
    # (0.4 x 70 + 0.1 x 10) / 0.5 = 58
    points = core_points(frame, Blueprint.model_validate(fields))
    assert points.rows() == [("gpt-9-large", 95.0, True, pytest.approx(58.0))]


def test_the_curve_is_the_points_parabola() -> None:
    points = tuple((float(x), 1.0 + 2.0 * x - 0.5 * x * x) for x in range(5))
    fit = fit_parabola(points)
    assert fit is not None
    assert (fit.curve[0][0], fit.curve[-1][0]) == (0.0, 4.0)
    assert [value for _, value in fit.curve] == pytest.approx([1.0 + 2.0 * at - 0.5 * at * at for at, _ in fit.curve])
    assert fit.coefficients == pytest.approx((1.0, 2.0, -0.5))
    assert fit.r_squared == pytest.approx(1.0)
    # The points are symmetric around x = 2: no linear relation at all.
    assert fit.correlation == pytest.approx(0.0, abs=1e-9)
    assert fit.equation == "y = 1.00 + 2.000 x − 0.5000 x²"
    assert fit_parabola(points[:3]) is None
