import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.benchmarks.attunebench.metrics.emotions import best_sum, emotion_values, greedy_sum
from tasks.benchmarks.attunebench.metrics.replies import Tags
from tasks.benchmarks.attunebench.metrics.rules import PROFILES, Rules

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
