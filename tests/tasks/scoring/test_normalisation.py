"""Raw scores on 0-100, by each rule."""

import pytest

from schemas.metrics import (
    CentredNormalisation,
    GradeNormalisation,
    NoNormalisation,
    Normalisation,
    NumericNormalisation,
    RatioNormalisation,
)
from tasks.scoring.normalisation import describe_normalisation, normalise


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
