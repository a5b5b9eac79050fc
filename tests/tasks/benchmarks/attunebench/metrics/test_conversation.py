import json
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import MethodSpec, MetricSpec
from schemas.errors import ScoringError
from schemas.vocabulary import Profile
from tasks.benchmarks.attunebench.conversation import ConversationGold, WideAnswers
from tasks.benchmarks.attunebench.metrics.conversation import composite_values, measure_parts, score_conversation
from tasks.benchmarks.attunebench.metrics.rules import PROFILES, Rules
from tasks.lake.frames import sort_keys
from tasks.metrics.item_scores import score_items
from tasks.text.replies import read_object
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.metrics.samples import (
    WHOLE,
    gold,
    gold_layers,
    judged,
    oracle,
    pairs,
    panas,
    tags,
    turn,
    visible,
)
from tests.tasks.rows import answer, answers, item, items

CORRECTED, REFERENCE = PROFILES.values()
PERFECT: dict[str, float | None] = {
    **dict.fromkeys(("emotion_f1", "emotion_va_score", "binary_om_accuracy", "binary_human_accuracy", "pairwise_accuracy"), 1),
    **dict.fromkeys(("panas_baseline_adjusted", "four_branch_score", "q1_score", "q2_score", "q3_score", "q3_followup_score"), 1),
}


def score(annotations: ConversationGold, replies: Any, rules: Rules = CORRECTED) -> dict[str, float | None]:
    return score_conversation(annotations, visible(annotations), replies, rules)


@each_row(
    ("members", "value"),
    [
        ({}, 100),
        # 27 x 0.4 x 0.5 and 27 x 0.4 lost
        ({"panas_baseline_adjusted": 0}, 94.6),
        ({"panas_baseline_adjusted": -1}, 89.2),
        # The rest of the pillar stands for what is missing.
        ({"panas_baseline_adjusted": None, "q2_score": None, "binary_om_accuracy": None, "emotion_f1": None}, 100),
        ({"emotion_f1": None, "emotion_va_score": None}, None),
        ({"pairwise_accuracy": None, "binary_om_accuracy": None, "binary_human_accuracy": None}, None),
    ],
)
def test_composites_of_perfect_members_but_some(members: dict[str, float | None], value: float | None) -> None:
    composite = composite_values({**PERFECT, **members}, CORRECTED)["composite_score"]
    assert composite == (None if value is None else pytest.approx(value, abs=1e-9))


OUTCOMES = ("tp", "tn", "fp", "fn")


def test_turns_are_averaged_and_judgements_counted() -> None:
    answers = {"B1": "yes", "B4": "yes", "B6": "yes", "B13": "yes"}
    review = {"emotion_tags": [], "binary_om_assessment": answers, "binary_human_prediction": {}}
    values = score(WHOLE, {f"turn {number} review": review for number in (1, 2)})
    # no emotion in the second turn only
    assert (values["emotion_f1"], values["hit_rate_tagged"]) == (0.5, 0)
    # 1 of 3, 1 of 1
    assert values["binary_om_accuracy"] == pytest.approx(2 / 3, abs=1e-9)
    assert [values[f"binary_om_accuracy_{outcome}"] for outcome in OUTCOMES] == [1 + 1, 0, 2, 0]
    assert [values.get(name) for name in ("pairwise_accuracy", "four_branch_score", "composite_score")] == [None] * 3


def test_absent_judgement_is_replaced() -> None:
    annotations = gold(turn(judgements=judged(B1=("yes", None), B2=(None, "no"))))
    review = {"binary_om_assessment": {"B1": "yes", "B2": "yes"}, "binary_human_prediction": {"B1": "yes", "B2": "no"}}
    values = score(annotations, {"turn 1 review": review})
    # what the reply did is noted for B1 alone
    assert (values["binary_om_accuracy"], values["binary_human_accuracy"]) == (1, 1)


def test_perspective_of_a_conversation() -> None:
    review = {"binary_om_assessment": {}, "binary_human_prediction": {"B1": "no", "B4": "yes", "B6": "yes"}}
    facing = {"binary_om_assessment": {}, "binary_human_prediction": {"B1": "no", "B4": "no", "B6": "no"}}
    values = score(WHOLE, {"turn 1 review": review, "turn 1 hp_binary": facing})
    # Wanted are no, yes, no; both sides are right in two of three. Observer: TP 1 TN 1 FP 1; person: TN 2 FN 1, whose MCC is 0.
    assert (values["hp_perspective_gap"], values["hp_perspective_alignment"]) == (0, 1)
    assert values["hp_perspective_gap_mcc"] == pytest.approx(1 / 2, abs=1e-9)
    assert values["hp_perspective_alignment_mcc"] == 0
    assert [values[f"binary_human_accuracy_{outcome}"] for outcome in OUTCOMES] == [1, 1, 1, 0]
    # No call asked in the person's wording.
    assert score(WHOLE, {"turn 1 review": review})["hp_perspective_gap"] is None


@pytest.mark.parametrize("part", ["turn 1 review", "turn 2 pairwise", "post"])
def test_failed_call_is_missing_but_empty_in_reference(part: str) -> None:
    replies = oracle(WHOLE)
    failed, empty = {**replies, part: None}, {**replies, part: {}}
    assert score(WHOLE, failed, REFERENCE) == score(WHOLE, empty, REFERENCE)
    assert score(WHOLE, failed)["composite_score"] in (None, pytest.approx(100))
    assert (score(WHOLE, empty)["composite_score"] or 0) < 100
    assert (score(WHOLE, failed)["composite_score"] is None) == (part == "post")


THIN = gold(turn(judgements=judged(B1=("no", "no")), comparisons=pairs(1, "human", "human", "human")))
STILL = WHOLE.model_copy(update={"post_panas": WHOLE.pre_panas})
STORED = WHOLE.model_copy(update={"post_panas": panas(49, 10).model_copy(update={"stored": panas(46, 10).stored})})
TWICE = gold(turn(emotions=tags(("proud", 5))))
OTHER_WISHES = WHOLE.model_copy(update={"answers": WideAnswers(q1=("b", "c", "d"), q2="Openly", q3="Mostly off")})


@each_row(
    ("rule", "annotations", "replies", "metric", "corrected", "reference"),
    [
        # b of a to d; 2 / (2 + 3)
        ({"q1": "f1"}, OTHER_WISHES, oracle(WHOLE), "q1_score", 0.25, 0.4),
        # the stored total is 3 of 60 off: (3 / 60 + 0) / 2
        ({"totals": "stored"}, STORED, oracle(WHOLE), "panas_normalized", 1, 0.975),
        ({"empty": "counted"}, gold(turn()), oracle(gold(turn())), "binary_om_accuracy", None, 1),
        ({"empty": "counted"}, gold(turn()), oracle(gold(turn())), "binary_om_accuracy_hp", None, 0),
        ({"empty": "counted"}, gold(turn()), oracle(gold(turn())), "pairwise_accuracy", None, 1),
        # 0.5 of 0.4 of 27 points
        ({"undefined": "half"}, STILL, oracle(STILL), "composite_score", 100, 94.6),
        ({"unread": "lenient"}, THIN, {"turn 1 review": {}}, "binary_om_accuracy", 0, 1),
        ({"unread": "lenient"}, WHOLE, {"post": {}}, "four_branch_score", 0, 1 - 1 / 6),
        ({"duplicates": "kept"}, TWICE, {"turn 1 review": {"emotion_tags": ["proud", "proud"]}}, "emotion_va_score", 1, 0.5),
        ({"digits": 2}, OTHER_WISHES, oracle(WHOLE), "composite_score", 100 - 8.1 * (0.75 + 1) / 4, 96.46),
    ],
)
def test_each_rule_alone(
    rule: dict[str, Any], annotations: ConversationGold, replies: Any, metric: str, corrected: float, reference: float
) -> None:
    values = [score(annotations, replies, rules).get(metric) for rules in (CORRECTED, replace(CORRECTED, **rule))]
    assert values == [value if value is None else pytest.approx(value, abs=1e-9) for value in (corrected, reference)]


METRICS = ("pairwise_accuracy", "panas_baseline_adjusted", "composite_score")


def score_rows(profile: Profile, annotations: Any, parts: Any = None) -> pl.DataFrame:
    """Score one item, all of whose parts are as the person annotated but these; null = the call failed."""
    method = MethodSpec(id="m", profile=profile, metrics=tuple(MetricSpec(metric=name) for name in METRICS))
    replies = {**oracle(annotations), **(parts or {})}
    rows = [answer("c-1", None if reply is None else json.dumps(reply), part=part) for part, reply in replies.items()]
    row = items(item("c-1", "annotation", context=visible(annotations).to_json()))
    return score_items(row, answers(*rows), None, method, gold_layers({"c-1": annotations})).sort(sort_keys(("metric",)))


@pytest.mark.parametrize(("profile", "value"), [("corrected", None), ("reference", 94.6)])
def test_a_method_has_its_profile(profile: Profile, value: float | None) -> None:
    scores = score_rows(profile, STILL)
    # Nothing changed: dropped, or half of the member.
    assert scores["value"].to_list() == [1, None, pytest.approx(value or 100)]
    assert scores["part"].to_list() == [""] * 3


@each_row(
    ("annotations", "parts", "statuses"),
    [
        (WHOLE, {"post": None}, ["scored", "call_failed", "call_failed"]),
        # One of two turns is enough.
        (WHOLE, {"turn 1 pairwise": None}, ["scored"] * 3),
        # The mood did not change: there is no skill to lose with the call.
        (STILL, {"post": None}, ["scored", "not_counted", "call_failed"]),
        (gold(), {}, ["not_counted"] * 3),
    ],
)
def test_lost_value_is_missing_absent_not_counted(annotations: ConversationGold, parts: Any, statuses: list[str]) -> None:
    assert score_rows("corrected", annotations, parts)["status"].to_list() == statuses


ITEM = (WHOLE, visible(WHOLE))
RIGHT: dict[str, str | None] = {part: json.dumps(reply) for part, reply in oracle(WHOLE).items()}


def test_error_in_reading_leaves_conversation_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(text: str | None) -> Any:
        if text and "\\ud800" in text:
            raise RecursionError
        return read_object(text)

    monkeypatch.setattr("tasks.benchmarks.attunebench.metrics.conversation.read_object", stumble)
    scores = score_rows("corrected", WHOLE, {"turn 1 draft": {"drafted_response": "\ud800"}})
    assert scores.select("status", "error").unique().rows() == [("unparsed", "RecursionError")]
    # As with replies without any JSON, every answer is wrong.
    expected = measure_parts(ITEM, dict.fromkeys(RIGHT, ""), "corrected")
    assert scores["value"].to_list() == [expected[metric] for metric in scores["metric"].cast(pl.String)]


def test_failed_call_costs_only_dependent_values() -> None:
    without_facing = measure_parts(ITEM, {**RIGHT, "turn 1 hp_binary": None}, "corrected")
    assert None not in without_facing.values()
    assert "draft_judge_score" not in without_facing
    unjudged = measure_parts(ITEM, {**RIGHT, "turn 1 judge": None, "turn 2 judge": None}, "corrected")
    assert {name for name, value in unjudged.items() if value is None} == {"draft_judge_score", "draft_binary_alignment"}


def test_replies_without_a_part_are_counted() -> None:
    # One of nine replies has no JSON, one lacks its items, and one did not come.
    spoilt = {**RIGHT, "turn 1 draft": "I see.", "post": '{"conversation_wide": {}}', "turn 2 review": None}
    # An emotion without its intensity is not all that was asked for.
    tag = {**RIGHT, "turn 1 review": json.dumps({**oracle(WHOLE)["turn 1 review"], "emotion_tags": [{"emotion": "upset"}]})}
    shares = [measure_parts(ITEM, parts, "corrected")["read_share"] for parts in (RIGHT, spoilt, dict.fromkeys(RIGHT), tag)]
    assert shares == [1, 6 / 8, None, 8 / 9]


def test_a_profile_without_rules_is_refused() -> None:
    with pytest.raises(ScoringError, match="a profile has no rules for conversations"):
        measure_parts(ITEM, {}, "strict")
