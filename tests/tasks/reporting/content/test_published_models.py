"""The published models of a paper."""

import pytest

from schemas.blueprint import Blueprint
from tasks.analysis.published_tables import read_table
from tasks.reporting.content.published_models import (
    core_points,
    describe_published_models,
    family_of,
    fit_parabola,
    parse_size,
)
from tests.tasks.reporting.example_run import BLUEPRINT, published


@pytest.mark.parametrize(
    ("text", "billions"),
    [
        ("32B", 32.0),
        ("0.6B", 0.6),
        ("1.8T (Total MoE Parameters)", 1800.0),
        ("671B/37B (Total/Activated Parameters)", 671.0),
        ("66.5B-130B (Estimated)", 98.25),
        ("Hundreds of Billions (Estimated)", None),
    ],
)
def test_sizes_as_the_paper_prints_them(text: str, billions: float | None) -> None:
    assert parse_size(text) == billions


@pytest.mark.parametrize(
    ("model", "family"),
    [("gpt-4o-mini", "gpt-4"), ("qwen3-0.6b", "qwen3"), ("Baichuan4-Air", "Baichuan4"), ("qwen-max", "qwen-max")],
)
def test_family_of_a_model(model: str, family: str) -> None:
    assert family_of(model) == family


def test_the_published_models_of_the_example() -> None:
    found = describe_published_models(read_table(published()), BLUEPRINT)
    scores = found.settings["base"]
    # Totals 10, 20, 70: the quarters lie half way between neighbours.
    assert scores[-1] == {
        "title": "Total, before the veto",
        "low": 10,
        "quarter": 15,
        "middle": 20,
        "three_quarters": 45,
        "high": 70,
    }
    assert [row["title"] for row in scores] == ["Values & Safety", "Emotional Ability", "Total, before the veto"]
    assert found.openness == [
        {"kind": "Closed-source", "totals": [20.0, 70.0], "middle": 45.0},
        {"kind": "Open-source", "totals": [10.0], "middle": 10.0},
    ]
    assert [(row["model"], row["billions"], row["estimated"]) for row in found.sizes] == [
        ("gpt-9-mini", 8.0, True),
        ("gpt-9-large", 1800.0, False),
        ("llm2-1b", 1.0, False),
    ]
    assert (found.unsized, found.vetoed, found.core, found.fit) == (0, 1, [], None)


def test_core_is_weighed_as_in_the_blueprint() -> None:
    ability = {"tasks": [{"id": "t", "title": "T", "level": "low", "datasets": ["d"]}]}
    fields = BLUEPRINT.model_dump(mode="json") | {
        "gate": None,
        "datasets": {
            name: {"title": name, "methods": [{"id": "m", "metrics": [{"metric": "accuracy"}]}]} for name in ("d0", "d1", "d2")
        },
        "abilities": [
            ability
            | {
                "id": name,
                "title": name,
                "weight": weight,
                "tasks": [{"id": f"t{n}", "title": "T", "level": "low", "datasets": [f"d{n}"]}],
            }
            for n, (name, weight) in enumerate([("foundational", 0.3), ("emotional", 0.4), ("companionship", 0.1)])
        ],
    }
    blueprint = Blueprint.model_validate(fields)
    frame = published().rename({"values_safety": "foundational"}).head(1)
    frame = frame.with_columns(companionship=frame["emotional"] / 7)
    # (0.4 x 70 + 0.1 x 10) / 0.5 = 58
    (point,) = core_points(frame, blueprint)
    assert (point["model"], point["foundational"]) == ("gpt-9-large", 95.0)
    assert point["core"] == pytest.approx(58.0)


def test_the_curve_is_the_parabola_the_points_lie_on() -> None:
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


def test_points_off_the_curve_lower_what_it_explains() -> None:
    # y = x with 1 added and taken away in turn: residuals of the best parabola leave part of the variance.
    fit = fit_parabola([(float(x), x + (1.0 if x % 2 else -1.0)) for x in range(6)])
    assert fit is not None
    xs, ys = [0, 1, 2, 3, 4, 5], [-1, 2, 1, 4, 3, 6]
    mean_x, mean_y = 2.5, 2.5
    products = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    spreads = (sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys)) ** 0.5
    assert fit.correlation == pytest.approx(products / spreads)
    assert fit.r_squared is not None
    assert 0.8 < fit.r_squared < 1.0
