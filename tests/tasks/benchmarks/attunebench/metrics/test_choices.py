import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from tasks.benchmarks.attunebench.metrics.choices import (
    accuracy,
    count_outcomes,
    draft_values,
    kendall,
    pairwise_values,
    pooled,
    similarity_values,
)
from tasks.benchmarks.attunebench.metrics.rules import PROFILES, Rules
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.metrics.samples import LABELS, pair, pairs

TRUTHS = {"B1": "yes", "B4": "no", "B6": "no", "B13": "na"}


def test_absent_answer_is_wrong_but_not_in_reference() -> None:
    said = {"B1": "yes", "B4": "yes"}
    corrected, reference = (count_outcomes(TRUTHS, said, rules) for rules in PROFILES.values())
    assert (corrected, reference) == ({"tp": 1, "tn": 0, "fp": 2, "fn": 0}, {"tp": 1, "tn": 1, "fp": 1, "fn": 0})
    assert [accuracy(counts, TRUTHS, Rules(), 1) for counts in (corrected, reference)] == [1 / 3, 2 / 3]
    assert count_outcomes({"B1": "yes"}, {"B1": "na"}, Rules())["fn"] == 1


def test_nothing_to_judge() -> None:
    none = count_outcomes({"B1": "na"}, {}, Rules())
    counted = Rules(empty="counted")
    assert accuracy(none, {}, Rules(), 1) is None
    assert [accuracy(none, truths, counted, 1) for truths in ({}, {"B1": "na"})] == [1, 0]


def test_pooled_counts() -> None:
    # 5 / 8, 3 / 4, 3 / 5, 6 / 9, (6 - 2) / sqrt(4 x 5 x 3 x 4)
    expected = {"accuracy": 0.625, "precision": 0.75, "recall": 0.6, "f1": 2 / 3, "mcc": 4 / 240**0.5}
    assert pooled(3, 2, 1, 2) == pytest.approx(expected, abs=1e-9)
    assert pooled(0, 0, 0, 0) == dict.fromkeys(expected)
    # always yes, always wrong
    assert pooled(3, 0, 2, 0)["mcc"] == 0
    assert pooled(0, 0, 3, 2)["mcc"] == -1


def test_no_comparison_and_no_winner() -> None:
    open_pair = (pair("original", "human"), pair("original", "human", "human"))
    found = [
        [pairwise_values(one, {"1": "B"}, rules)["pairwise_accuracy"] for one in ((), open_pair)] for rules in PROFILES.values()
    ]
    assert found == [[None, 1], [1, 0.5]]


def test_tau_of_wins() -> None:
    won = {"original": 8, "human": 4}
    # O-h and o-a agree, h-a does not: (2 - 1) / 3.
    assert kendall(won, {"original": 8, "alternate": 4}, LABELS) == pytest.approx((1 / 3, 1 / 3), abs=1e-9)
    # All tied, so in alphabetical order: alternate, human, original against original, human, alternate.
    assert kendall(won, dict.fromkeys(LABELS, 4), LABELS) == (-1, None)
    assert kendall(won, {}, LABELS) == (None, None)


@given(st.lists(st.integers(0, 4), min_size=6, max_size=6).filter(lambda wins: any(wins[:3]) and any(wins[3:])))
def test_tau_b_is_scipys(wins: list[int]) -> None:
    _, found = kendall(dict(zip(LABELS, wins[:3], strict=True)), dict(zip(LABELS, wins[3:], strict=True)), LABELS)
    tied = any(len(set(side)) == 1 for side in (wins[:3], wins[3:]))
    assert found == (None if tied else pytest.approx(kendalltau(wins[:3], wins[3:]).statistic))


def test_drafts_by_their_judge() -> None:
    ratings = {"overall_score": 5, "emotional_appropriateness": 6, "helpfulness": 4, "tone_match": 5}
    judge = {**ratings, "draft_binary_assessment": {"B1": "yes", "B4": "yes"}}
    # (5 - 1) / 6; B1 is wanted, B4 not, B6 is not there
    expected = {"draft_judge_score": 4 / 6, "draft_binary_alignment": 1 / 3}
    assert draft_values(TRUTHS, [judge]) == pytest.approx(expected, abs=1e-9)
    assert draft_values(TRUTHS, []) == draft_values(TRUTHS, [{}]) == dict.fromkeys(expected)
    # Means of 5 and 3, 6, 4, 5; one yes and one no of B4 is a yes, and B6 is right now.
    other = {"overall_score": 3, "draft_binary_assessment": {"B4": "no", "B6": "no"}}
    both = {"draft_judge_score": (4.75 - 1) / 6, "draft_binary_alignment": 2 / 3}
    assert draft_values(TRUTHS, [judge, other]) == pytest.approx(both, abs=1e-9)


@each_row(
    ("draft", "alike", "preferred"),
    [
        # {i, see} of {i, see, you}, of {i, hear}: 1 of 3, and of {no}
        ("I see", 2 / 3, (2 * 2 / 3 + 1 / 3) / 3),
        ("", 0, 0),
    ],
)
def test_words_of_drafts(draft: str, alike: float, preferred: float) -> None:
    texts = {"original": "I see you", "human": "I hear", "alternate": "No"}
    compared = (pair("original", "alternate", "original"), *pairs(1, "original", "human", "human")[:2])
    values = similarity_values(draft, texts, compared, Rules())
    whole = {"response_similarity": alike, "preference_alignment": preferred}
    each = {"original": alike, "human": alike / 2, "alternate": 0}
    assert values == pytest.approx(whole | {f"response_similarity_{name}": one for name, one in each.items()}, abs=1e-9)
    # Without a draft there is nothing to compare; in the port it is like nothing.
    assert similarity_values(None, texts, compared, Rules()) == {}
    assert similarity_values(None, texts, compared, PROFILES["reference"]) == dict.fromkeys(values, 0)
