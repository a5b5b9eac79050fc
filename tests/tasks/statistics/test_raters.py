"""Agreement of raters: a worked example, libraries as second opinion, public ratings."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score

from tasks.statistics.raters import STATISTICS, agreement, correlate_items, intraclass_correlations
from tasks.statistics.reliability import AlphaLevel, Units, krippendorff_alpha
from tasks.statistics.resampling import Floats, design_effects, limits_of

NAN = float("nan")
A, B, C = (np.array(one, dtype=float) for one in ([1, 2, 3, 4, 5, 3], [2, 2, 3, 3, 5, 4], [1, 3, 3, 5, 4, NAN]))
JUDGE = np.array([2.0, 3, 3, 4, 5, 5])
MEAN = np.array([4 / 3, 7 / 3, 3, 4, 14 / 3, 3.5])
SCALE = np.arange(1.0, 6)


def units(n: int, systems: int = 1, weights: Floats | None = None) -> Units:
    """Items that each of the systems answered, side by side."""
    places = np.arange(n)
    return Units(places // systems, places % systems, places, np.ones((n, 1)) if weights is None else weights)


def compared(left: Floats, right: Floats, scale: Floats = SCALE, of: Units | None = None) -> dict[str, float]:
    """Statistics of the units that both rated; `name` for pooled ones, else `name level`."""
    both = np.isfinite(left) & np.isfinite(right)
    found = agreement(left[both], right[both], (of or units(len(left))).only(np.flatnonzero(both)), scale)[:, 0]
    names = [name if level == "pooled" else f"{name} {level}" for name, level in STATISTICS]
    return dict(zip(names, found, strict=True))


PAIR = ("exact", "within_one", "kappa_quadratic", "spearman", "pearson", "kendall_tau_b", "mae", "bias")
OTHERS = [np.array(rest, dtype=float) for rest in ([1.5, 2.5, 3, 4, 4.5, 4], [1, 2.5, 3, 4.5, 4.5, 3], [1.5, 2, 3, 3.5, 5, 3.5])]
"""Means of two people: of B and C, of A and C, of A and B."""


def two_people() -> list[float]:
    return [compared(A, B)[name] for name in PAIR]


def alphas_and_iccs() -> list[float]:
    people = [[value for value in row if np.isfinite(value)] for row in zip(A, B, C, strict=True)]
    levels: tuple[AlphaLevel, ...] = ("ordinal", "interval", "nominal")
    icc = intraclass_correlations(np.column_stack((A, B, C))[:5])
    return [
        *(krippendorff_alpha(people, level) or NAN for level in levels),
        *(icc[name] for name in ("icc_2_1", "icc_2_k", "icc_1_1")),
    ]


def judge_with_mean() -> list[float]:
    return [compared(JUDGE, MEAN)[name] for name in PAIR[3:]]


def ceiling_and_judge(name: str) -> list[float]:
    """Of each person with the mean of the others, their mean, the judge on the same units and targets, its mean."""
    sides = zip((A, B, C), OTHERS, strict=True)
    both = [(compared(one, rest)[name], compared(np.where(np.isnan(one), NAN, JUDGE), rest)[name]) for one, rest in sides]
    return [value for side in zip(*both, strict=True) for value in (*side, sum(side) / 3)]


def constants() -> list[float]:
    return [compared(np.full(6, value), MEAN)["mae"] for value in SCALE]


def errors_and_draws() -> list[float]:
    off = pl.DataFrame({"system": 0, "place": [0, 0, 1, 1, 2, 2], "item_id": range(6), "value": JUDGE - MEAN})
    effect, error = design_effects(off).select("design_effect", "standard_error").row(0)
    # All 27 ways to draw three of three clusters.
    drawn = np.array([[draw.count(place) for draw in product(range(3), repeat=3)] for place in (0, 0, 1, 1, 2, 2)], dtype=float)
    bias = agreement(JUDGE, MEAN, units(6, weights=drawn), SCALE)[STATISTICS.index(("bias", "pooled"))]
    ends = limits_of(bias[None]).row(0)
    return [np.std(JUDGE - MEAN, ddof=1) / np.sqrt(6), error, effect, len(bias), bias.mean(), bias.std(), *ends]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (two_people, "0.5 1 0.823529 0.850841 0.846802 0.741249 0.5 -0.166667"),
        (alphas_and_iccs, "0.758578 0.744292 0.207207 0.798319 0.922330 0.801105"),
        (judge_with_mean, "0.882735 0.890964 0.787726 0.527778 0.527778"),
        (
            partial(ceiling_and_judge, "spearman"),
            "0.955882 0.787879 0.872082 0.871948 0.940403 0.772727 0.974679 0.895937",
        ),
        (lambda: ceiling_and_judge("mae")[3::4], "0.655556 0.522222"),
        # Means in sixths: 8 14 18 24 28 21. Of the constants 1 to 5, distances of all six are 77, 49, 33, 39 and 67 sixths.
        (constants, "2.138889 1.361111 0.916667 1.083333 1.861111"),
        (errors_and_draws, "0.229398 0.273579 1.422287 27 0.527778 0.223377 0.144444 0.862500"),
    ],
    ids=["people", "alpha and ICC", "judge", "ceiling", "distance", "constants", "clusters"],
)
def test_the_worked_example(found: Callable[[], list[float]], expected: str) -> None:
    assert found() == pytest.approx([float(value) for value in expected.split()], abs=1e-6)


def test_libraries_say_the_same_of_every_draw() -> None:
    random = np.random.default_rng(3)
    for n in (3, 8, 60):
        left, right = random.integers(0, 5, n).astype(float), random.integers(0, 5, n).astype(float)
        left[:2], right[:2] = (0, 4), (1, 3)
        weights = np.column_stack((np.ones(n), random.integers(0, 4, (n, 3)) + np.eye(n, 3) + np.eye(n, 3, -1))).astype(float)
        found = agreement(left, right, units(n, weights=weights), np.arange(5.0))
        for draw, own in enumerate(weights.T.astype(int)):
            x, y = np.repeat(left, own), np.repeat(right, own)
            kappa = cohen_kappa_score(x.astype(int), y.astype(int), labels=range(5), weights="quadratic")
            linked = (
                [one(x, y).statistic for one in (spearmanr, pearsonr, kendalltau)] if min(np.ptp(x), np.ptp(y)) else [NAN] * 3
            )
            values = [(x == y).mean(), (np.abs(x - y) <= 1).mean(), kappa, np.abs(x - y).mean(), (x - y).mean(), *linked]
            assert found[:8, draw] == pytest.approx(values, abs=1e-9, nan_ok=True)


def test_levels_differ() -> None:
    # Five systems on two items; the judge orders them rightly on the first and wrongly on the second: 1 and -1.
    people = np.array([1.0, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    judge = np.array([1.0, 2, 3, 4, 5, 5, 4, 3, 2, 1])
    found = compared(judge, people, of=units(10, systems=5))
    assert [found[f"spearman{level}"] for level in ("", " by_item")] == pytest.approx([0, 0])
    # Each system's mean is 3 by the judge: nothing varies.
    assert np.isnan(found["spearman by_system"])
    # A third item on which people see no difference counts for nothing.
    longer = [np.append(side, more) for side, more in ((judge, np.arange(5.0)), (people, np.ones(5)))]
    assert np.isnan(correlate_items(longer[0], longer[1], units(15, systems=5))[:, 0]).tolist() == [False, False, True]
    # The means over three items by the judge: 6/3, 7/3 ... 10/3; by people 3/3, 5/3 ... 11/3.
    found = compared(longer[0], longer[1], of=units(15, systems=5))
    assert (found["spearman by_item"], found["pearson by_system"]) == pytest.approx((0, 1))
    # Four systems are too few for a correlation over systems, and enough on an item.
    found = compared(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 5]), of=units(4, systems=4))
    assert (found["kendall_tau_b by_item"], np.isnan(found["kendall_tau_b by_system"])) == (1, True)


@pytest.mark.parametrize(("left", "right"), [([1, 2], [1, 2]), ([1, 2, 3], [4, 4, 4]), ([0.1, 0.1, 0.1], [1, 2, 3])])
def test_a_correlation_of_too_little_is_not_defined(left: list[float], right: list[float]) -> None:
    found = compared(np.array(left), np.array(right))
    assert np.isnan([found[name] for name in ("spearman", "pearson", "kendall_tau_b")]).all()


def test_constant_ratings_have_no_kappa_or_icc() -> None:
    assert np.isnan(compared(np.full(3, 2.0), np.full(3, 2.0))["kappa_quadratic"])
    # A constant is as far from the other as from any value of the other.
    assert compared(np.full(3, 2.0), np.array([1.0, 2, 5]))["kappa_quadratic"] == pytest.approx(0)
    assert np.isnan(list(intraclass_correlations(np.ones((3, 2))).values())).all()
