from typing import Any

import pytest

from tasks.benchmarks.attunebench.conversation import Panas, WideAnswers
from tasks.benchmarks.attunebench.metrics.afterwards import panas_values, phrase_f1, question_values
from tasks.benchmarks.attunebench.metrics.rules import PROFILES, Rules
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.metrics.samples import ANSWERS, FITS, NEGATIVE, panas, wide

BEFORE, AFTER = panas(43, 11), panas(49, 10)
CORRECTED, REFERENCE = PROFILES.values()


def mood(positive: int, negative: int, **items: Any) -> dict[str, Any]:
    return {"post_panas": {**panas(positive, negative).items, **items}}


def values(reply: dict[str, Any], rules: Rules = CORRECTED, after: Panas = AFTER) -> list[float | None]:
    scored = panas_values(BEFORE, after, reply, rules)
    return [scored[name] for name in ("panas_normalized", "panas_baseline_adjusted")]


@each_row(
    ("positive", "negative", "normalised", "skill"),
    [
        (49, 10, 1, 1),
        # errors 3 of a change of 6, and 1 of 1
        (46, 11, 1 - 2 / 60, 0.25),
        (43, 11, 1 - 3.5 / 60, 0),
        # 1 - 11 / 6 and 1
        (60, 10, 1 - 5.5 / 60, (1 - 11 / 6 + 1) / 2),
        # never below -1
        (70, 10, 1 - 10.5 / 60, 0),
    ],
)
def test_totals_are_scored_by_error_and_change(positive: int, negative: int, normalised: float, skill: float) -> None:
    assert values(mood(positive, negative)) == pytest.approx([normalised, skill], abs=1e-9)


def test_total_that_did_not_change_is_left_out() -> None:
    # positive 49 as predicted; of 11 and 11 nothing can be said
    assert values(mood(49, 10), after=panas(49, 11))[1] == 1
    assert values(mood(43, 11), after=BEFORE) == [1, None]


CHANGED = {"panas_changes": {name: AFTER.items[name] - BEFORE.items[name] for name in AFTER.items}}


def test_changes_and_items_come_to_the_same() -> None:
    assert values(CHANGED) == [1, 1]


def test_item_missing_in_reply_is_worst() -> None:
    # Worst: the total is off by 60, and its skill is -1. Port: 49 - 5 = 44, 5 of 6 off.
    reply = mood(49, 10, interested=None)
    assert values(reply) == pytest.approx([1 - 30 / 60, 0], abs=1e-9)
    assert values(reply, REFERENCE) == pytest.approx([1 - 2.5 / 60, (1 - 5 / 6 + 1) / 2], abs=1e-9)
    assert panas_values(BEFORE, AFTER, reply, CORRECTED)["panas_item_normalized"] == pytest.approx(1 - 6 / 20 / 6, abs=1e-9)
    assert panas_values(BEFORE, AFTER, reply, REFERENCE)["panas_item_normalized"] == 1


def test_missing_mood_is_worst_or_forty() -> None:
    # errors 60 and 60; the port's 40 is off by 9 and 30, and is no prediction whose skill could be told
    assert values({}) == [0, -1]
    assert values({}, REFERENCE) == [pytest.approx(1 - 19.5 / 60, abs=1e-9), None]
    # Of the negative items alone the skill is known: 10 as predicted.
    half = {"post_panas": dict.fromkeys(NEGATIVE, 1)}
    assert values(half, REFERENCE) == [pytest.approx(1 - 4.5 / 60, abs=1e-9), 1]
    assert values(half) == [1 - 30 / 60, 0]
    assert values(mood(49, 10), after=Panas()) == [None, None]
    # 40 stands in: errors 9 and 30
    assert values(mood(49, 10), REFERENCE, after=Panas())[0] == pytest.approx(1 - 19.5 / 60, abs=1e-9)


def test_change_of_unknown_item_is_left_out() -> None:
    before = Panas(items={name: value for name, value in BEFORE.items.items() if name != "alert"}, stored=BEFORE.stored)
    scored = panas_values(before, AFTER, CHANGED, CORRECTED)
    # An item without a value before is not held against the model: negative affect and nineteen items are left, all right.
    assert set(scored.values()) == {1, 0}
    assert scored["panas_item_mae"] == 0
    # The port adds up what is there: 49 - 5 = 44, 5 of 6 off, and 10 of 11.
    skill = panas_values(before, AFTER, CHANGED, REFERENCE)["panas_baseline_adjusted"]
    assert skill == pytest.approx((1 - 5 / 6 + 1) / 2, abs=1e-9)


def test_unanswered_questions_are_worst() -> None:
    worst = {"q1_score": 0, "q2_score": 0, "q3_score": 0, "q3_distance": 3, "q3_followup_score": 0}
    assert question_values(ANSWERS, {}, FITS, CORRECTED) == worst
    none = WideAnswers(q1=("a",))
    assert question_values(none, {}, FITS, CORRECTED) == {**worst, "q2_score": None, "q3_score": None, "q3_distance": None}
    # The port compares nothing with nothing.
    lenient = {**worst, "q2_score": 1, "q3_score": 1, "q3_distance": None, "q3_followup_score": 1}
    assert question_values(none, {}, FITS, REFERENCE) == lenient
    assert question_values(WideAnswers(), wide(ANSWERS, {}), FITS, CORRECTED) == {}


@each_row(
    ("gold", "phrases", "value"),
    [([], [], 1), (["a"], [], 0), ([], ["a"], 0), (["a"], ["b"], 0), (["a b c d"], ["a"], 0), (["a", "b"], ["b", "a"], 1)],
)
def test_phrases(gold: list[str], phrases: list[str], value: float) -> None:
    # a of a, b, c, d is a quarter, less than 0.3
    assert phrase_f1(gold, phrases) == value
