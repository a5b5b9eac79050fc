"""Raw scores broken down into what their formulas are computed from."""

import pytest

from tasks.explain.rows import break_down
from tests.tasks.scoring.samples import items, labelled


def test_a_mean_is_broken_down_into_a_sum() -> None:
    found = break_down(items("d", [1, 0.5, 0, None], status=["scored", "scored", "unparsed", "call_failed"]))
    assert (found["counts"], found["value"]) == ({"sum": 1.5, "n_scored": 3}, 0.5)
    assert found["statuses"] == {"call_failed": 1, "scored": 2, "unparsed": 1}


def test_macro_f1_is_broken_down_into_labels() -> None:
    # joy: predicted 2, right 1, hit 1; anger: predicted 0 (one unreadable), right 2, hit 0.
    found = break_down(labelled("d", "macro_f1", [["joy"], ["anger"], ["anger"]], [["joy"], ["joy"], None]))
    assert found["labels"] == [
        {"label": "anger", "hits": 0, "predicted": 0, "gold": 2, "f1": 0.0},
        {"label": "joy", "hits": 1, "predicted": 2, "gold": 1, "f1": 2 / 3},
    ]
    assert found["value"] == pytest.approx((0 + 2 / 3) / 2)


def test_micro_f1_is_broken_down_into_hits() -> None:
    found = break_down(labelled("d", "micro_f1", [["x", "y"], ["z"]], [["x"], ["x"]]))
    assert found["counts"] == {"hits": 1, "predicted": 2, "gold": 3}
    assert found["value"] == pytest.approx(2 * 1 / (2 + 3))


def test_a_bias_score_is_broken_down_into_roles() -> None:
    chosen = [["target"], ["target"], ["other"], ["unknown"], None]
    found = break_down(labelled("d", "bias_score_disambiguated", [["unknown"]] * 5, chosen))
    assert found["counts"] == {"target": 2, "other": 1, "unknown": 1, "unreadable": 1, "items": 5}
    # (2 - 1) / 3 over the four that can be read, and 1 for the one that cannot.
    assert found["value"] == pytest.approx((1 / 3 * 4 + 1) / 5)
