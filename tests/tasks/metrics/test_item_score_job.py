"""Values of items lie within the bounds of their metric."""

from dataclasses import replace

import pytest

from schemas.errors import ScoringError
from schemas.metrics import METRICS
from tasks.metrics.item_score_job import check_bounds
from tests.tasks.scoring.samples import items


@pytest.mark.parametrize("value", [0.0, 1.0, None])
def test_values_within_bounds_pass(value: float | None) -> None:
    scores = items("d", [value])
    assert check_bounds(scores).equals(scores)


def test_a_value_out_of_bounds_is_refused() -> None:
    with pytest.raises(ScoringError) as caught:
        check_bounds(items("d", [1.0, 1.5, -0.1]))
    error = caught.value
    assert (error.where, error.expected, error.got) == (
        "dataset d, item d-1, method choice, metric accuracy",
        "between 0 and 1",
        "1.5 (2 such values)",
    )


def test_bounds_are_the_metrics_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS.by_name, "accuracy", replace(METRICS["accuracy"], bounds=(-1, 1)))
    assert check_bounds(items("d", [-1.0, 1.0])).height == 2
