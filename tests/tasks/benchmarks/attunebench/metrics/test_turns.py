"""One turn against the person: emotions, judgements, comparisons and drafts, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from tasks.benchmarks.attunebench.metrics.replies import Tags
from tasks.benchmarks.attunebench.metrics.rules import PROFILES, Rules
from tasks.benchmarks.attunebench.metrics.turns import (
    accuracy,
    best_sum,
    count_outcomes,
    draft_values,
    emotion_values,
    greedy_sum,
    kendall,
    pooled,
    similarity_values,
)
from tests.tasks.benchmarks.attunebench.metrics.samples import LABELS, pair, pairs

TAGS: Tags = [("upset", 4), ("nervous", 5)]


def test_best_assignment_is_not_the_greedy_one() -> None:
    values = emotion_values([("guilty", 1), ("strong", None)], [("interested", 1), ("inspired", 1)], Rules())
    # Guilty-interested 0.6464, strong-inspired 0.8939; greedy: strong-interested 0.9000 first, then guilty-inspired 0.4650.
    assert values["emotion_va_score"] == pytest.approx((0.6464 + 0.8939) / 2, abs=1e-9)
    assert values["emotion_va_greedy"] == pytest.approx((0.9 + 0.465) / 2, abs=1e-9)
    # Without one of the intensities likeness counts alone.
    assert values["emotion_va_intensity"] == pytest.approx((0.7 * 0.6464 + 0.3 + 0.8939) / 2, abs=1e-9)


def test_one_emotion_too_many_halves() -> None:
    values = emotion_values([("proud", 3)], [("proud", None), ("excited", 5)], Rules())
    assert (values["emotion_va_score"], values["emotion_f1"]) == (0.5, 2 / 3)
    assert (values["emotion_intensity_mae"], values["emotion_f1_intensity"]) == (None, None)


def test_tag_outside_the_twenty_counts_in_reference() -> None:
    # No reply could name it, so that there is nothing to score; in the port it is like nothing.
    assert emotion_values([("sad", 3)], TAGS, Rules()) == emotion_values(None, TAGS, Rules()) == {}
    assert emotion_values([("sad", 3)], TAGS, PROFILES["reference"])["emotion_va_score"] == 0


def test_intensity_missing_in_reply_is_zero_in_reference() -> None:
    values = emotion_values([("proud", 5)], [("proud", None)], PROFILES["reference"])
    # F1 x 0, and 0.7 likeness + 0.3 x 0
    assert (values["emotion_f1_intensity"], values["emotion_va_intensity"]) == (0, 0.7)


def test_no_emotions() -> None:
    nothing = emotion_values([], [], Rules())
    assert set(nothing.values()) == {1, None}
    assert nothing["hit_rate_tagged"] is None
    assert emotion_values([], TAGS, Rules())["emotion_f1"] == 0
    assert [emotion_values(TAGS, [], Rules())[name] for name in ("hit_rate", "hit_rate_tagged")] == [0, 0]
    # A reply without a list is not one with an empty list, but in the port.
    assert [emotion_values([], None, rules)["emotion_f1"] for rules in PROFILES.values()] == [0, 1]


def test_last_of_merged_duplicates_counts() -> None:
    merged = emotion_values([("proud", 5)], [("proud", 1), ("proud", 5)], Rules())
    assert (merged["emotion_va_intensity"], merged["emotion_intensity_mae"]) == (1, 0)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=4))
def test_no_assignment_is_better_than_the_best(similar: list[list[float]]) -> None:
    assert greedy_sum(similar) <= best_sum(similar) + 1e-12


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
