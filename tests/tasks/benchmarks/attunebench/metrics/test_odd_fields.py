"""Conversations with one odd field each: which metrics it costs, and what the others come to, worked out by hand."""

import json
from collections.abc import Callable, Mapping
from functools import reduce
from operator import getitem
from typing import Any, cast

import pytest

from tasks.benchmarks.attunebench.benchmark import WHOLE
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH_MINI
from tasks.benchmarks.attunebench.metrics.conversation import annotated_items, measure_parts
from tasks.datasets.building import BuiltItems, build_items
from tests.rows import each_row
from tests.tasks.benchmarks.attunebench.datasets.conversations import (
    FIRST,
    JUDGED,
    NOTES,
    SCORES,
    TURN,
    WIDE,
    Fields,
    at,
    conversation,
)
from tests.tasks.benchmarks.attunebench.metrics.samples import D_N, N_U, PLAIN, Values, panas, replies

Change = Callable[[Fields], None]
ANSWERED = {"B1": ("yes", "no"), "B4": ("no", "yes"), "B6": ("no", "no"), "B13": ("na", "na")}


def questionnaire(positive: int, negative: int) -> Fields:
    items = {name.capitalize(): value for name, value in panas(positive, negative).items.items()}
    return {"totalPositiveAffect": positive, "totalNegativeAffect": negative, "responses": items}


def plain() -> Fields:
    """A conversation of one turn in which everything is there."""
    record = conversation(1, turns=1)
    (turn,) = record["turns"]
    tags = [{"emotion": "Distressed", "intensity": 5}, {"emotion": "Nervous", "intensity": 3}]
    turn |= {"llmResponse": "I see you", "moodShiftTags": tags}
    notes = turn["annotations"]
    notes["binaryJudgements"] = [
        {"questionId": name, "observedBehavior": did, "preferredBehavior": wanted} for name, (did, wanted) in ANSWERED.items()
    ]
    notes["alternateResponses"] = {"llmImproved": "No", "humanEdited": "I hear"}
    for row in notes["pairwiseComparisons"]:
        row["winner"] = "A" if row["responseA"] == "original" else "B"
    record |= {"prePanas": questionnaire(43, 11), "postPanas": questionnaire(49, 10)}
    record[WIDE] = {
        "fourBranchScores": {"perceiving": 5, "facilitating": 6, "understanding": 5, "managing": 4},
        "q1_lookingFor": ["a", "b"],
        "q2_emotionClarity": "Mixed",
        "q3_modelFit": "Mostly off",
        "q3_followUp_whatFeltOff": ["felt rushed", "too generic"],
    }
    return record


def lost(*names: str) -> Values:
    return dict.fromkeys(names)


EMOTION = lost(*(name for name in PLAIN if name.startswith(("emotion", "hit_rate"))))
JUDGEMENTS = lost(*(name for name in PLAIN if name.startswith("binary")), "draft_binary_alignment")
PAIRS = lost("pairwise_accuracy", "kendall_tau", "kendall_tau_b", "preference_alignment")
IMPROVED, EDITED = lost("response_similarity_alternate"), lost("response_similarity_human")
OTHERS = IMPROVED | EDITED
MOOD = lost(*(name for name in PLAIN if name.startswith("panas")))
ITEMS = lost(*(name for name in MOOD if "item" in name))
SKILL = lost("panas_baseline_adjusted", "panas_item_baseline_adjusted")
BRANCHES = lost(*(name for name in PLAIN if "branch" in name))
QUESTIONS = lost(*(name for name in PLAIN if name.startswith("q")))
NO_INTENSITY: Values = lost("emotion_intensity_mae", "emotion_f1_intensity") | {"emotion_va_intensity": (D_N + 0.3 + 0.9483) / 2}
# B1 is not asked about: B4 wrong, B6 right.
NOT_OBSERVED: Values = {"binary_om_accuracy": 1 / 2}
# What was observed takes the place of what was wanted: the answer was no, and is yes; both drafts and the person's side say yes.
NOT_PREFERRED: Values = {"binary_human_accuracy": 1 / 3, "binary_human_accuracy_hp": 1, "draft_binary_alignment": 2 / 3}
WITHOUT_B6: Values = NOT_OBSERVED | {
    "binary_human_accuracy": 1,
    "binary_human_accuracy_hp": 1 / 2,
    "draft_binary_alignment": 1 / 2,
}
# Of eleven seven are right; the original won seven of them.
NO_WINNER: Values = {"pairwise_accuracy": 7 / 11, "preference_alignment": (7 * 2 / 3 + 4 / 3) / 11}
# Of 19 items; alert was 4, then 5, and 5 is predicted. The totals are those stated.
NO_ALERT: Values = {"panas_item_mae": 4 / 19, "panas_item_normalized": 1 - 4 / 114, "panas_item_baseline_adjusted": 2 / 6}
NO_MANAGING: Values = lost("branch_managing") | {"four_branch_score": 1 - 3 / 18}
NO_FOLLOW_UP: Values = {"q3_followup_score": 0}

TAGS, POST_ITEMS = (*TURN, "moodShiftTags"), ("postPanas", "responses")
FOLLOW_UP, RATED = (WIDE, "q3_followUp_whatFeltOff"), (WIDE, "fourBranchScores")


def renamed(*path: str | int, to: str) -> Change:
    """Return a change of one field: another name."""

    def change(record: Fields) -> None:
        *parents, last = path
        section = reduce(getitem, parents, cast("Any", record))
        section[to] = section.pop(last)

    return change


def flat(record: Fields) -> None:
    record["postPanas"] |= record["postPanas"].pop("responses")


ODD: list[tuple[str, Change, Values]] = [
    ("intensity as text", at(*TAGS, 0, "intensity", value="5"), {}),
    ("intensity with a fraction", at(*TAGS, 0, "intensity", value=5.4), {}),
    # Two points from nervous 5, where it was the same.
    ("intensity 9", at(*TAGS, 0, "intensity", value=9), {"emotion_va_intensity": (D_N + 0.2 + N_U + 0.25) / 2}),
    (
        "intensity 0",
        at(*TAGS, 1, "intensity", value=0),
        {"emotion_intensity_mae": 4, "emotion_f1_intensity": 1 / 6, "emotion_va_intensity": (D_N + 0.3 + N_U + 0.15) / 2},
    ),
    (
        "intensity moderate",
        at(*TAGS, 1, "intensity", value="Moderate"),
        {"emotion_intensity_mae": 1, "emotion_f1_intensity": 5 / 12, "emotion_va_intensity": (D_N + 0.3 + N_U + 0.3) / 2},
    ),
    ("intensity null", at(*TAGS, 1, "intensity"), NO_INTENSITY),
    (
        "intensity mild",
        at(*TAGS, 1, "intensity", value="mild"),
        {"emotion_intensity_mae": 3, "emotion_f1_intensity": 1 / 4, "emotion_va_intensity": (D_N + 0.3 + N_U + 0.2) / 2},
    ),
    ("intensity intense", at(*TAGS, 0, "intensity", value="Intense"), {"emotion_va_intensity": (D_N + 0.25 + N_U + 0.25) / 2}),
    ("emotion in lower case", at(*TAGS, 0, "emotion", value="distressed "), {}),
    ("emotion outside the twenty", at(*TAGS, 0, "emotion", value="Happy"), EMOTION),
    ("tag that is a text", at(*TAGS, 0, value="Distressed"), EMOTION),
    ("tags null", at(*TAGS), EMOTION),
    ("observed in capitals", at(*JUDGED, 0, "observedBehavior", value=" YES "), {}),
    *(
        (f"observed as {name}", renamed(*JUDGED, 0, "observedBehavior", to=name), {})
        for name in ("did_occur", "humanValue", "actualValue", "llmValue")
    ),
    *(
        (f"preferred as {name}", renamed(*JUDGED, 0, "preferredBehavior", to=name), {})
        for name in ("should_occur", "humanPreference")
    ),
    ("observed null", at(*JUDGED, 0, "observedBehavior"), NOT_OBSERVED),
    ("preferred null", at(*JUDGED, 0, "preferredBehavior"), NOT_PREFERRED),
    (
        "question that is not known",  # and has no answer: of three it is the wrong one
        at(*JUDGED, 2, "questionId", value="B999"),
        {"binary_om_accuracy": 1 / 3, "binary_om_accuracy_hp": 2 / 3, "binary_human_accuracy_hp": 1 / 3},
    ),
    ("question null", at(*JUDGED, 2, "questionId"), WITHOUT_B6),
    ("judgement that is a text", at(*JUDGED, 2, value="B6: no"), WITHOUT_B6),
    ("judgements null", at(*JUDGED), JUDGEMENTS),
    ("annotations in an empty object", at(*NOTES, value={}), JUDGEMENTS | PAIRS | OTHERS),
    ("alternates absent", at(*NOTES, "alternateResponses", drop=True), PAIRS | OTHERS),
    ("edited reply as alternate2", renamed(*NOTES, "alternateResponses", "humanEdited", to="alternate2"), {}),
    ("winner null", at(*FIRST, "winner"), NO_WINNER),
    ("winner C", at(*FIRST, "winner", value="C"), NO_WINNER),
    ("winner by number", at(*FIRST, "winner", value="response_1"), {}),
    ("label alternate1", at(*FIRST, "responseB", value="alternate1"), {}),
    ("side response_1", renamed(*FIRST, "responseA", to="response_1"), {}),
    ("label of no reply", at(*FIRST, "responseA", value="model"), PAIRS),
    ("reply beside itself", at(*FIRST, "responseB", value="original"), PAIRS),
    ("pairwise question that is not known", at(*FIRST, "questionId", value="PW99"), {}),
    ("pairwise question null", at(*FIRST, "questionId"), PAIRS),
    ("comparisons null", at(*NOTES, "pairwiseComparisons"), PAIRS),
    ("item as text", at(*POST_ITEMS, "Alert", value="5"), {}),
    ("item in lower case", renamed(*POST_ITEMS, "Alert", to="alert"), {}),
    ("items in the object", flat, {}),
    ("items as items", renamed(*POST_ITEMS, to="items"), {}),
    ("item absent", at(*POST_ITEMS, "Alert", drop=True), NO_ALERT),
    (
        "item 9",  # and the total 51: 5 of 8 off; alert, 4 before and 7 after, is 2 of 3 off
        at(*POST_ITEMS, "Alert", value=9),
        {
            "panas_normalized": 1 - 3 / 60,
            "panas_baseline_adjusted": (3 / 8 + 0) / 2,
            "panas_item_mae": 6 / 20,
            "panas_item_normalized": 1 - 6 / 120,
            "panas_item_baseline_adjusted": (2 + 1 / 3) / 7,
        },
    ),
    ("item before absent", at("prePanas", "responses", "Alert", drop=True), {"panas_item_baseline_adjusted": 2 / 6}),
    ("total absent", at("postPanas", "totalPositiveAffect", drop=True), {}),
    ("total out of range", at("postPanas", "totalPositiveAffect", value=75), {}),
    ("no items", at(*POST_ITEMS, drop=True), ITEMS),
    ("mood afterwards null", at("postPanas"), MOOD),
    ("mood before null", at("prePanas"), SKILL),
    ("mood before in an empty object", at("prePanas", value={}), SKILL),
    ("branch absent", at(*RATED, "managing", drop=True), NO_MANAGING),
    ("branch 4.0", at(*RATED, "managing", value=4.0), {}),
    ("branch 9", at(*RATED, "managing", value=9), {"branch_managing": 1 / 2, "four_branch_score": 1 - 6 / 24}),
    ("branches null", at(*RATED), BRANCHES),
    ("branches in an empty object", at(*RATED, value={}), BRANCHES),
    ("follow-up absent", at(*FOLLOW_UP, drop=True), NO_FOLLOW_UP),
    # Two of the three words on either side.
    ("follow-up a text", at(*FOLLOW_UP, value="felt rushed"), {"q3_followup_score": 2 / 3}),
    ("follow-up in an object", at(*FOLLOW_UP, value={"1": "felt rushed"}), lost("q3_followup_score")),
    ("q1 null", at(WIDE, "q1_lookingFor"), lost("q1_score")),
    ("q1 a text", at(WIDE, "q1_lookingFor", value="b"), {"q1_score": 1 / 3}),
    ("q1 as Q1", renamed(WIDE, "q1_lookingFor", to="Q1"), {}),
    ("q2 a number", at(WIDE, "q2_emotionClarity", value=2), lost("q2_score")),
    ("q2 as Q2", renamed(WIDE, "q2_emotionClarity", to="Q2"), {}),
    ("q3 that is no option", at(WIDE, "q3_modelFit", value="So-so"), {"q3_distance": 3}),
    ("q3 as Q3", renamed(WIDE, "q3_modelFit", to="Q3"), {}),
    ("nothing of the whole", at(WIDE), QUESTIONS | BRANCHES),
    ("profile null", at("participant_profile"), {}),
    ("who_5 out of range", at(*SCORES, "who_5", value=30), {}),
    ("metadata absent", at("metadata", drop=True), {}),
    ("turn number absent", at(*TURN, "turnNumber", drop=True), {}),
]
"""What is odd, and the values that differ from PLAIN under `corrected`; null = there is none."""

ODD_NAMES = [name for name, _, _ in ODD]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltItems:
    """All of them as one dataset, the plain one first."""
    path, records = tmp_path_factory.mktemp("odd") / "odd.jsonl", []
    for number, change in enumerate((None, *(change for _, change, _ in ODD))):
        record = plain()
        if change:
            change(record)
        records.append({**record, "conversationId": f"c-{number:03d}"})
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return build_items(ATTUNEBENCH_MINI, [path], None, 0)


@pytest.fixture(scope="module")
def scored(built: BuiltItems) -> Mapping[str, list[Values]]:
    """Values by profile, in the order of the table."""
    items = annotated_items(built.items, built.annotations).values()
    answers = replies(q2="Mixed", q3="Mixed, some good moments, some misses")
    parts = {part: json.dumps(reply) for part, reply in answers.items()}
    return {profile: [measure_parts(item, parts, profile) for item in items] for profile in ("corrected", "reference")}


def members(values: Values) -> Values:
    return {name: values.get(name) for name in PLAIN}


def near(values: Values) -> dict[str, Any]:
    return {name: value if value is None else pytest.approx(value, abs=1e-9) for name, value in values.items()}


def test_an_odd_field_costs_its_own_metrics(built: BuiltItems, scored: Mapping[str, list[Values]]) -> None:
    assert (built.items.height, built.rejected.height) == (1 + len(ODD), 0)
    first, *others = map(members, scored["corrected"])
    assert first == near(PLAIN)
    for (odd, _, changed), values in zip(ODD, others, strict=True):
        assert values == near(PLAIN | changed), odd


def test_conversation_with_odd_field_has_composite(scored: Mapping[str, list[Values]]) -> None:
    _, *others = scored["corrected"]
    without = {odd for (odd, _, changed), values in zip(ODD, others, strict=True) if values.get("composite_score") is None}
    # Without any emotion, or any judgement and any pair, a whole pillar is missing.
    assert without == {odd for odd, _, changed in ODD if changed in (EMOTION, JUDGEMENTS | PAIRS | OTHERS)}


# The port takes what is not there for empty, or for the middle of the scale.
@each_row(
    ("odd", "changed"),
    [
        (
            "tags null",
            {name: 0 for name in EMOTION if "mae" not in name} | {"hit_rate_tagged": None, "emotion_intensity_mae": None},
        ),
        # A hit without intensity has 0 x 0.5; of 0.7 and 0.3 only the likeness stays: distressed as nervous, nervous as upset.
        (
            "intensity null",
            {"emotion_intensity_mae": None, "emotion_f1_intensity": 0, "emotion_va_intensity": (D_N + 0.3 + N_U) / 2},
        ),
        ("winner null", {"pairwise_accuracy": 7 / 12, "preference_alignment": (7 * 2 / 3 + 4 / 3) / 11}),
        ("alternates absent", PAIRS | OTHERS | {"pairwise_accuracy": 1}),
        # 40 for 49 and for 10: 6 and 29 off
        ("mood afterwards null", MOOD | {"panas_normalized": 1 - 17.5 / 60}),
        ("mood before null", SKILL),
        ("branches null", BRANCHES | {"four_branch_score": 1}),
        # Nothing was asked for, and three options are named.
        ("q1 null", {"q1_score": 0}),
        # The stored total stands, cut to 70: 24 and 1 off, of 27 and 1 that changed.
        ("total out of range", {"panas_normalized": 1 - 12.5 / 60, "panas_baseline_adjusted": (1 - 24 / 27) / 2}),
    ],
)
def test_port_reads_odd_fields_its_way(scored: Mapping[str, list[Values]], odd: str, changed: Values) -> None:
    first, *others = map(members, scored["reference"])
    # Q1 is F1 there, 2 x 1 / (2 + 3).
    assert first == near(PLAIN | {"q1_score": 2 / 5})
    assert others[ODD_NAMES.index(odd)] == near(first | changed)


@each_row(
    ("odd", "remarks"),
    [
        ("intensity 9", ["turn 1 intensity: 9 is read as 7"]),
        ("emotion outside the twenty", ["turn 1 emotion: 'happy' is none of the twenty adjectives"]),
        ("judgement that is a text", ["turn 1 binaryJudgements: 'B6: no' is left out"]),
        ("winner C", ["turn 1 winner: 'C' is left out"]),
        (
            "alternates absent",
            ["turn 1 alternateResponses: missing", "turn 1 has no comparisons: 12 of 12 cannot be shown"],
        ),
        ("item absent", ["postPanas has no alert"]),
        (
            "total out of range",
            [
                "postPanas totalPositiveAffect: 75 is read as 70",
                "postPanas totalPositiveAffect is 70, and its items add up to 49",
            ],
        ),
        ("who_5 out of range", ["who_5: 30 is left out, since it is not 0 to 25"]),
        ("profile null", ["participant_profile: missing"]),
        ("annotations in an empty object", ["turn 1 annotations: missing"]),
    ],
)
def test_odd_field_has_a_remark(built: BuiltItems, odd: str, remarks: list[str]) -> None:
    item = f"c-{1 + ODD_NAMES.index(odd):03d}"
    assert built.annotations[WHOLE].filter(item_id=item)["remarks"].to_list() == [remarks]
