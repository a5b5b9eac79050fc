"""Raw scores on 0-100, by each rule."""

import numpy as np
import pytest

from schemas.metrics import (
    CentredNormalisation,
    GradeNormalisation,
    NoNormalisation,
    Normalisation,
    NumericNormalisation,
    RatioNormalisation,
)
from tasks.scoring.normalisation import best_end, describe_normalisation, normalise, slope


@pytest.mark.parametrize(
    ("rule", "raw", "expected", "formula"),
    [
        (RatioNormalisation(), 0.25, 25, "raw x 100, raw in [0, 1]"),
        (NumericNormalisation(min=-1, max=3), 1, 50, "(raw - (-1)) / (3 - (-1)) x 100"),
        (CentredNormalisation(best=0.5, span=0.5), 0.75, 50, "(1 - |raw - 0.5| / 0.5) x 100"),
        (CentredNormalisation(best=0, span=1), 0, 100, "(1 - |raw - 0| / 1) x 100"),
        (GradeNormalisation(table={"1": 20, "2.5": 70}), 2.5, 70, "grade looked up: 1 -> 20, 2.5 -> 70"),
        (GradeNormalisation(table={"1": 20}), 1.0, 20, "grade looked up: 1 -> 20"),
        (GradeNormalisation(table={"1": 20}), 3.0, None, "grade looked up: 1 -> 20"),
        (NoNormalisation(), 42, 42, "raw itself, already on 0-100"),
    ],
)
def test_each_rule_is_told_with_its_bounds(rule: Normalisation, raw: float, expected: float | None, formula: str) -> None:
    assert normalise(raw, rule) == expected
    assert describe_normalisation(rule) == formula


def test_points_per_range_fall_where_less_is_worth_more() -> None:
    raw, share = np.array([0.2, 0.8]), (0.0, 1.0)
    assert slope(raw, share, "ratio", 0.0, 1.0) == pytest.approx([100, 100])
    assert slope(raw, share, "centred", 0.0, 1.0) == pytest.approx([200, -200])
    assert slope(raw, (1.0, 5.0), "numeric", 1.0, 5.0) == pytest.approx([100, 100])
    assert slope(raw, (0.0, 100.0), "none", 0.0, 100.0) == pytest.approx([100, 100])
    assert np.isnan(slope(raw, share, "grade", None, None)).all()


@pytest.mark.parametrize(("best", "end"), [(0.0, "low"), (0.5, "between"), (1.0, "high")])
def test_the_end_that_is_worth_most(best: float, end: str) -> None:
    assert best_end("accuracy", CentredNormalisation(best=best, span=1)) == end
    assert best_end("accuracy", RatioNormalisation()) == "high"
