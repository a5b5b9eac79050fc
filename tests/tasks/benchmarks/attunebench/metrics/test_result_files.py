import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import RecordError
from tasks.benchmarks.attunebench.metrics.result_files import ResultFile, parse_result, read_result, result_fields
from tests.tasks.benchmarks.attunebench.metrics.samples import WHOLE, oracle

JUDGE = {"overall_score": 5, "tone_match": 6, "draft_binary_assessment": {"B1": "yes"}}
RESULT = ResultFile("c-1", "some/model", "verbose_omniscient", "absolute", {**oracle(WHOLE), "turn 1 judge": JUDGE})


def test_fields_of_a_turn() -> None:
    parts = {"turn 1 review": {"emotion_tags": ["upset"], "binary_om_assessment": {"B1": 1}}, "turn 1 pairwise": {}}
    first, second = result_fields(replace(RESULT, replies={**RESULT.replies, **parts, "turn 2 review": None}), WHOLE)["turns"]
    assert first["em_emotion_tags"] == [{"emotion": "Upset", "intensity": None}]
    assert (first["em_binary_om_assessment"], first["em_binary_human_prediction"]) == ({"B1": "yes"}, {})
    assert (first["em_pairwise_selections"], second["em_pairwise_selections"]) == ({}, {"0": "B", "1": "B", "2": "B"})
    assert (second["em_emotion_tags"], second["em_binary_om_assessment"]) == (None, None)
    assert first["em_draft_judge_scores"] == {"overall_score": 5, "tone_match": 6}
    assert (first["em_draft_binary_assessment"], second["em_draft_judge_scores"]) == ({"B1": "yes"}, None)


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


def test_official_file_is_read_in_both_layouts() -> None:
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
