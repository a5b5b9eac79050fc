"""Conditions of a gate: read, matched to differences, and judged by whole intervals."""

from typing import Any, cast

import pytest

from schemas.documents.comparison import CommonScore, DimensionChange, GateCheck, RunComparison, StoredScore, SystemComparison
from schemas.documents.document import SystemName
from schemas.documents.leaderboard import JudgedTotal
from schemas.errors import UsageError
from tasks.compare.gate import check_gate, parse_condition

TEST = {"answer": "undecided", "margin": 1, "p_value": None, "p_equivalent": None, "smallest_detectable": None}


def common(kind: str, name: str, low: float | None, high: float | None, n_items: int = 40) -> CommonScore:
    difference = 0.0 if low is None or high is None else (low + high) / 2
    values = {"before": 60, "after": 60 + difference, "difference": difference, "n_items": n_items}
    return CommonScore.model_validate({"kind": kind, "id": name, "ci_low": low, "ci_high": high, **values, **TEST})


def dimension(dataset: str, low: float, high: float) -> DimensionChange:
    means = dict.fromkeys(("before", "after", "difference"))
    paired = {"common_difference": (low + high) / 2, "ci_low": low, "ci_high": high, "n_items": 20}
    names = {"dataset": dataset, "rubric": "support", "dimension": "empathy"}
    return DimensionChange.model_validate({**names, **means, **paired})


def comparison(*scores: CommonScore, **parts: Any) -> RunComparison:
    names: dict[str, Any] = {"model": "m", "setting": "base"}
    side = JudgedTotal.model_construct(**names, verdict="scored", headline="m scores 50.0 of 100.")
    empty: dict[str, Any] = dict.fromkeys(("stored", "dimension_scores", "flips", "flipped", "items"), ())
    system = SystemComparison.model_construct(before=side, after=side, common=scores, **{"unchanged": False, **empty, **parts})
    lists: dict[str, Any] = dict.fromkeys(("warnings", "differences", "only_before", "only_after"), ())
    return RunComparison.model_construct(before="r1", after="r2", benchmark="b", models=(system,), **lists)


def checks(conditions: str, compared: RunComparison) -> tuple[GateCheck, ...]:
    return check_gate(compared, [parse_condition(text) for text in conditions.split(";")]).checks


@pytest.mark.parametrize(
    ("condition", "low", "high", "verdict"),
    [
        ("total < -2", -6, -2.5, "failed"),
        ("total < -2", -6, -2, "undecided"),  # -2 itself is allowed
        ("total < -2", -6, 1, "undecided"),
        ("total < -2", -2, 1, "passed"),
        ("total < -2", 3, 5, "passed"),
        ("total > 2", 2.5, 6, "failed"),
        ("total > 2", 1, 6, "undecided"),
        ("total > 2", -6, 2, "passed"),
        ("total < 0", -6, -0.1, "failed"),
    ],
)
def test_whole_interval_decides(condition: str, low: float, high: float, verdict: str) -> None:
    (check,) = checks(condition, comparison(common("total", "b", low, high)))
    assert (check.verdict, check.score) == (verdict, "total")
    assert check.reason == ("the interval spans the limit" if verdict == "undecided" else "")


def test_no_interval_is_undecided() -> None:
    (check,) = checks("dataset none < -2", comparison(common("dataset", "none", None, None)))
    reason = "no interval: fewer than 5 clusters of items in both runs, or a grade"
    assert (check.verdict, check.reason) == ("undecided", reason)


def test_a_gate_says_of_whom_it_speaks() -> None:
    compared = comparison(common("total", "b", -1, 1))
    (system,) = compared.models
    vetoed = system.after.model_copy(update={"verdict": "vetoed", "headline": "m is vetoed."})
    others = tuple(SystemName(model=name, setting="base") for name in ("n", "o"))
    models = (system.model_copy(update={"after": vetoed}),)
    result = check_gate(compared.model_copy(update={"models": models, "only_after": others}), [parse_condition("total < -2")])
    assert (result.verdict, result.compared, result.systems) == ("passed", 1, 3)
    assert result.remarks == ("Not in r1, so not compared: n and o", "m is vetoed.")


def test_equal_replies_need_no_interval() -> None:
    same = comparison(common("total", "b", None, None), unchanged=True)
    assert [check.verdict for check in checks("total < -2;total < 1;total > 2", same)] == ["passed", "failed", "passed"]


def test_score_without_common_items_is_undecided() -> None:
    stored = StoredScore(kind="dataset", id="d", before=50, after=20, difference=-30)
    (check,) = checks("dataset d < -2", comparison(stored=(stored,)))
    assert (check.verdict, check.difference, check.reason) == ("undecided", None, "no items in both runs")


def test_dimension_is_checked_in_every_dataset() -> None:
    rated = (dimension("one", -0.5, -0.3), dimension("two", -0.1, 0.1))
    both = checks("dimension empathy < -0.2", comparison(dimension_scores=rated))
    assert [(check.score, check.verdict) for check in both] == [("one: empathy", "failed"), ("two: empathy", "passed")]
    (second,) = checks("dimension two: empathy < -0.2", comparison(dimension_scores=rated))
    assert second.score == "two: empathy"


def test_the_worst_check_is_the_verdict() -> None:
    compared = comparison(common("total", "b", -1, 1), common("ability", "a", -9, -7), common("dataset", "d", -3, 1))
    ways = {"total < -2": "passed", "total < -2;dataset d < -2": "undecided", "dataset d < -2;ability a < -5": "failed"}
    for conditions, verdict in ways.items():
        result = check_gate(compared, [parse_condition(text) for text in conditions.split(";")])
        assert (result.verdict, result.run, result.against) == (verdict, "r2", "r1")


def test_unknown_names_are_refused_with_the_nearest() -> None:
    compared = comparison(common("ability", "emotional", -1, 1))
    with pytest.raises(UsageError, match="there is no ability emotionel") as refused:
        checks("ability emotionel < -2", compared)
    assert refused.value.next_step == "did you mean emotional?"
    with pytest.raises(UsageError, match="there is no kind of condition abilty") as refused:
        parse_condition("abilty emotional < -2")
    assert refused.value.next_step == "did you mean ability?"


@pytest.mark.parametrize("text", ["", "total", "total <= -2", "total < x", "total b < -2", "ability < -2", "total < -2 -3"])
def test_condition_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a condition cannot be read") as refused:
        parse_condition(text)
    assert cast(str, refused.value.got) == text
