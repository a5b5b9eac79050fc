import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import RecordError
from tasks.metrics.attunebench.conversation import score_conversation
from tasks.metrics.attunebench.result_files import ResultFile, parse_result, read_result, result_fields
from tasks.metrics.attunebench.rules import PROFILES
from tests.tasks.metrics.attunebench.samples import BEFORE, WHOLE, oracle, shown

JUDGE = {"overall_score": 5, "tone_match": 6, "draft_binary_assessment": {"B1": "yes"}}
RESULT = ResultFile("c-1", "some/model", "verbose_omniscient", "absolute", {**oracle(WHOLE), "turn 1 judge": JUDGE})


def through_a_file(result: ResultFile, folder: Path) -> ResultFile:
    path = folder / result.name("openrouter")
    path.write_text(json.dumps(result_fields(result, WHOLE)), encoding="utf-8")
    return read_result(path)


@pytest.mark.parametrize("rules", PROFILES.values(), ids=PROFILES)
def test_replies_are_scored_the_same_after_a_round_trip(rules: Any, tmp_path: Path) -> None:
    # Parts that are missing and parts that are unread stay so.
    parts = {"turn 1 pairwise": {}, "turn 2 review": None, "turn 2 hp_binary": {"binary_om_assessment": {"B1": "TRUE"}}}
    for replies in (
        RESULT.replies,
        {**RESULT.replies, **parts},
        {**RESULT.replies, "post": None},
        {**RESULT.replies, "post": {}},
    ):
        result = replace(RESULT, replies=replies)
        read = through_a_file(result, tmp_path)
        assert replace(read, replies=replies) == result
        scores = [score_conversation(WHOLE, shown(WHOLE), one.replies, rules) for one in (result, read)]
        assert scores[0] == scores[1]


def test_fields_of_a_turn() -> None:
    parts = {"turn 1 review": {"emotion_tags": ["upset"], "binary_om_assessment": {"B1": 1}}, "turn 1 pairwise": {}}
    first, second = result_fields(replace(RESULT, replies={**RESULT.replies, **parts, "turn 2 review": None}), WHOLE)["turns"]
    assert first["em_emotion_tags"] == [{"emotion": "Upset", "intensity": None}]
    assert (first["em_binary_om_assessment"], first["em_binary_human_prediction"]) == ({"B1": "yes"}, {})
    assert (first["em_pairwise_selections"], second["em_pairwise_selections"]) == ({}, {"0": "B", "1": "B", "2": "B"})
    assert (second["em_emotion_tags"], second["em_binary_om_assessment"]) == (None, None)
    assert first["em_draft_judge_scores"] == {"overall_score": 5, "tone_match": 6}
    assert (first["em_draft_binary_assessment"], second["em_draft_judge_scores"]) == ({"B1": "yes"}, None)


@pytest.mark.parametrize("strategy", ["delta", "blind_delta"])
def test_changes_of_the_mood(strategy: str, tmp_path: Path) -> None:
    changes = dict.fromkeys(BEFORE.items, 1)
    result = replace(RESULT, strategy=strategy, replies={"post": {"panas_changes": changes, "conversation_wide": {}}})
    items = result_fields(result, WHOLE)["post_conversation"]["predicted_post_panas"]["items"]
    # The positive items of 43 are 5, 5, 5, 4 ...
    assert items["Interested"] == 6
    values = [
        score_conversation(WHOLE, shown(WHOLE), one.replies, PROFILES["corrected"])
        for one in (result, through_a_file(result, tmp_path))
    ]
    # 53 of 49 from 43, 21 of 10 from 11
    assert [one["panas_baseline_adjusted"] for one in values] == [pytest.approx((1 / 3 - 1) / 2)] * 2


def test_numbers_of_an_export_are_numbers() -> None:
    post = {"post_panas": {"Proud": "5", "active": 4.0, "UPSET": 9}, "conversation_wide": {"fourBranchScores": {"managing": "4"}}}
    judge = {"overall_score": "5", "tone_match": 6.0, "helpfulness": "good"}
    written = result_fields(replace(RESULT, judge="j", replies={"post": post, "turn 1 judge": judge}), WHOLE)
    after = written["post_conversation"]
    assert after["predicted_post_panas"] == {"items": {"Proud": 5, "Active": 4, "Upset": 7}}
    assert after["predicted_conversation_wide"] == {"fourBranchScores": {"managing": 4}}
    first, _ = written["turns"]
    assert first["em_draft_judge_scores_by_model"] == {"j": {"overall_score": 5, "tone_match": 6}}
    assert json.dumps(after["predicted_post_panas"]["items"]["Active"]) == "4"


OFFICIAL: dict[str, Any] = {
    "conversationId": "c-1",
    "em_model": "m",
    "mode": "default",
    "turns": [{"turnNumber": 1, "em_emotion_tags": [{"emotion": "Upset", "intensity": 4}], "em_drafted_response": "I see"}],
    "post_conversation": {
        "panas_strategy": "absolute",
        "predicted_post_panas": {"Proud": 5, "Irritable": 1, "totalPositiveAffect": 46, "totalNegativeAffect": 11},
        "predicted_conversation_wide": {"q2_emotionClarity": "Openly"},
    },
}


def test_an_official_file_is_read_with_its_items_in_either_place() -> None:
    after = OFFICIAL["post_conversation"]
    items = {name: one for name, one in after["predicted_post_panas"].items() if "total" not in name}
    nested = {**OFFICIAL, "post_conversation": {**after, "predicted_post_panas": {"items": items}}}
    one, other = (parse_result(fields).replies for fields in (OFFICIAL, nested))
    assert one == other
    assert one["post"] == {"post_panas": {"proud": 5, "irritable": 1}, "conversation_wide": {"q2_emotionClarity": "Openly"}}
    assert one["turn 1 review"] == {"emotion_tags": [{"emotion": "Upset", "intensity": 4}]}
    # Of a strategy of changes these count, not what they come to.
    changed = {**after, "panas_strategy": "delta", "predicted_panas_delta": {"Proud": 1}}
    assert (parse_result({**OFFICIAL, "post_conversation": changed}).replies["post"] or {})["panas_changes"] == {"Proud": 1}


def test_the_name_of_a_file() -> None:
    assert RESULT.name("openrouter") == "c-1_openrouter_some-model_verbose_omniscient.json"


@pytest.mark.parametrize("fields", [{}, {"turns": [{}]}, {"turns": [], "post_conversation": 3}, []])
def test_a_file_that_is_none_is_told(fields: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises(RecordError, match="a result file cannot be read") as caught:
        read_result(path)
    assert caught.value.where == str(path)


def test_a_result_of_a_conversation_alone() -> None:
    with pytest.raises(KeyError):
        parse_result({"conversationId": "c-1"})
