import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from tasks.benchmarks.attunebench.metrics.choices import (
    accuracy,
    count_outcomes,
    draft_values,
    kendall,
    pooled,
    similarity_values,
)
from tasks.benchmarks.attunebench.metrics.rules import PROFILES, Rules
from tests.tasks.benchmarks.attunebench.metrics.samples import LABELS, pair, pairs

TRUTHS = {"B1": "yes", "B4": "no", "B6": "no", "B13": "na"}


def test_absent_answer_is_wrong_but_not_in_reference() -> None:
    corrected, reference = (count_outcomes(TRUTHS, {"B1": "yes", "B4": "yes"}, rules) for rules in PROFILES.values())
    assert (corrected, reference) == ({"tp": 1, "tn": 0, "fp": 2, "fn": 0}, {"tp": 1, "tn": 1, "fp": 1, "fn": 0})
    assert [accuracy(counts, TRUTHS, Rules(), 1) for counts in (corrected, reference)] == [1 / 3, 2 / 3]
    assert count_outcomes({"B1": "yes"}, {"B1": "na"}, Rules())["fn"] == 1


def test_accuracy_of_nothing_is_missing_or_constant() -> None:
    none = count_outcomes({"B1": "na"}, {}, Rules())
    assert accuracy(none, {}, Rules(), 1) is None
    assert [accuracy(none, truths, Rules(empty="counted"), 1) for truths in ({}, {"B1": "na"})] == [1, 0]


def test_pooled_counts() -> None:
    # 5 / 8, 3 / 4, 3 / 5, 6 / 9, (6 - 2) / sqrt(4 x 5 x 3 x 4)
    expected = {"accuracy": 0.625, "precision": 0.75, "recall": 0.6, "f1": 2 / 3, "mcc": 4 / 240**0.5}
    assert pooled(3, 2, 1, 2) == pytest.approx(expected, abs=1e-9)
    assert pooled(0, 0, 0, 0) == dict.fromkeys(expected)
    # always yes, always wrong
    assert (pooled(3, 0, 2, 0)["mcc"], pooled(0, 0, 3, 2)["mcc"]) == (0, -1)


def test_tau_of_wins() -> None:
    # All tied, so in alphabetical order: alternate, human, original against original, human, alternate.
    wins = {"original": 8, "human": 4}
    assert kendall(wins, dict.fromkeys(LABELS, 4), LABELS) == (-1, None)
    assert kendall(wins, {}, LABELS) == (None, None)


@given(st.lists(st.integers(0, 4), min_size=6, max_size=6).filter(lambda wins: any(wins[:3]) and any(wins[3:])))
def test_tau_b_is_scipys(wins: list[int]) -> None:
    _, tau_b = kendall(dict(zip(LABELS, wins[:3], strict=True)), dict(zip(LABELS, wins[3:], strict=True)), LABELS)
    tied = any(len(set(side)) == 1 for side in (wins[:3], wins[3:]))
    assert tau_b == (None if tied else pytest.approx(kendalltau(wins[:3], wins[3:]).statistic))


def test_drafts_by_two_judges() -> None:
    first = {"overall_score": 5, "emotional_appropriateness": 6, "helpfulness": 4, "tone_match": 5}
    second = {"overall_score": 3, "draft_binary_assessment": {"B4": "no", "B6": "no"}}
    judges = [{**first, "draft_binary_assessment": {"B1": "yes", "B4": "yes"}}, second]
    # Means of 5 and 3, 6, 4, 5. B1 is yes, one yes and one no of B4 is a yes and wrong, B6 is no.
    expected = {"draft_judge_score": (4.75 - 1) / 6, "draft_binary_alignment": 2 / 3}
    assert draft_values(TRUTHS, judges) == pytest.approx(expected, abs=1e-9)
    assert draft_values(TRUTHS, []) == draft_values(TRUTHS, [{}]) == dict.fromkeys(expected)


def test_missing_draft_counts_in_reference_alone() -> None:
    texts = {"original": "I see you", "human": "I hear", "alternate": "No"}
    compared = (pair("original", "alternate", "original"), *pairs(1, "original", "human", "human")[:2])
    values = similarity_values("", texts, compared, Rules())
    assert set(values.values()) == {0}
    assert similarity_values(None, texts, compared, Rules()) == {}
    assert similarity_values(None, texts, compared, PROFILES["reference"]) == values
