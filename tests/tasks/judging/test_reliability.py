"""Krippendorff's alpha: against worked examples, by hand, and against the package krippendorff."""

from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tasks.judging.agreement import Level, krippendorff_alpha

FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
"""Twelve units, in Krippendorff (2011), section E; the last unit has one rating and is not counted."""


@pytest.mark.parametrize(("level", "alpha"), [("interval", 0.849), ("ordinal", 0.815)])
def test_the_worked_example(level: Level, alpha: float) -> None:
    assert krippendorff_alpha(list(zip(*FOUR_OBSERVERS, strict=True)), level) == pytest.approx(alpha, abs=5e-4)


def test_interval_by_hand() -> None:
    # Two raters; n = 6 ratings 1 1 2 4 5 5.
    # Observed: 2 and 4 differ by 2, counted in both orders: (4 + 4) / 6.
    # Expected: squares of the distances of all ordered pairs / (6 * 5). Sum of squares about the mean 3: 4+4+1+1+4+4 = 18;
    # ordered pairs: 2 * 6 * 18 = 216; 216 / 30 = 36 / 5.  alpha = 1 - (4/3) / (36/5) = 22/27.
    assert krippendorff_alpha([[1, 1], [2, 4], [5, 5]]) == pytest.approx(float(Fraction(22, 27)))


def test_ordinal_by_hand() -> None:
    # The same ratings: counts 2, 1, 1, 2 of 1, 2, 4, 5; middles of their ranks 1, 2.5, 3.5, 5.
    # Observed: 2 * (3.5 - 2.5)^2 / 6 = 1/3. Expected: about the mean 3: 2*4 + 0.25 + 0.25 + 2*4 = 16.5; 2 * 6 * 16.5 / 30 = 6.6.
    # alpha = 1 - (1/3) / 6.6 = 1 - 5/99.
    assert krippendorff_alpha([[1, 1], [2, 4], [5, 5]], "ordinal") == pytest.approx(1 - 5 / 99)


def test_agreement_and_its_opposite() -> None:
    assert krippendorff_alpha([[1, 1, 1], [2, 2], [9, 9]]) == 1
    # Observed 4 and expected 2 * 4 * 4 / (4 * 3) = 8/3:  1 - 4 / (8/3) = -1/2.
    assert krippendorff_alpha([[1, 3], [3, 1]]) == pytest.approx(-0.5)


@pytest.mark.parametrize(
    "units",
    [
        [],
        [[]],
        [[3], [4], [5]],
        [[3, None], [None, 4]],
        [[4, 4], [4, 4, None]],
        [[4, 4], [5]],
    ],
    ids=["no units", "no ratings", "one rating each", "one rating each and a missing one", "no variance", "none that counts"],
)
@pytest.mark.parametrize("level", ["interval", "ordinal"])
def test_nothing_to_compare_is_null(units: list[list[float | None]], level: Level) -> None:
    assert krippendorff_alpha(units, level) is None


@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 100)), min_size=3, max_size=3), min_size=2, max_size=12),
    st.sampled_from(["interval", "ordinal"]),
)
def test_the_package_says_the_same(units: list[list[int | None]], level: Level) -> None:
    found = krippendorff_alpha(units, level)
    assume(found is not None)
    theirs = krippendorff.alpha(np.array(units, dtype=float).T, level_of_measurement=level)
    assert found == pytest.approx(theirs, abs=1e-9)
