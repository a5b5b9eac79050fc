import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import RecordError, UsageError
from tasks.benchmarks.attunebench.exchange import read_replies
from tasks.benchmarks.attunebench.metrics.result_files import ResultFile, parse_result, result_fields
from tests.tasks.benchmarks.attunebench.metrics.samples import WHOLE, oracle

JUDGE = {"overall_score": 5, "tone_match": 6, "draft_binary_assessment": {"B1": "yes"}}
RESULT = ResultFile("c-1", "some/model", "verbose_omniscient", "absolute", {**oracle(WHOLE), "turn 1 judge": JUDGE}, "openrouter")


def test_fields_of_a_turn() -> None:
    parts = {"turn 1 review": {"emotion_tags": ["upset"], "binary_om_assessment": {"B1": 1}}, "turn 1 pairwise": {}}
    result = replace(RESULT, replies={**RESULT.replies, **parts, "turn 2 review": None})
    fields: Any = result_fields(result, WHOLE)
    first, second = fields["turns"]
    assert first["em_emotion_tags"] == [{"emotion": "Upset", "intensity": None}]
    assert (first["em_binary_om_assessment"], first["em_binary_human_prediction"]) == ({"B1": "yes"}, {})
    assert (first["em_pairwise_selections"], second["em_pairwise_selections"]) == ({}, {"0": "B", "1": "B", "2": "B"})
    assert (second["em_emotion_tags"], second["em_binary_om_assessment"]) == (None, None)
    assert first["em_draft_judge_scores"] == {"overall_score": 5, "tone_match": 6}
    assert (first["em_draft_binary_assessment"], second["em_draft_judge_scores"]) == ({"B1": "yes"}, None)
    assert result.failed == ["turn 2 review"]
    assert result.name == "c-1_openrouter_some-model_verbose_omniscient.json"


TURN = {"turnNumber": 1, "em_emotion_tags": [{"emotion": "Upset", "intensity": 4}], "em_drafted_response": {}}
AFTER: dict[str, Any] = {
    "panas_strategy": "absolute",
    "predicted_post_panas": {"Proud": 5, "Irritable": 1, "totalPositiveAffect": 46, "totalNegativeAffect": 11},
    "predicted_conversation_wide": {"q2_emotionClarity": "Openly"},
}
OFFICIAL: dict[str, Any] = {"conversationId": "c-1", "em_model": "m", "mode": "default", "turns": [TURN]}


def post(**fields: Any) -> Any:
    return parse_result({**OFFICIAL, "post_conversation": {**AFTER, **fields}}).replies["post"]


def test_official_file_is_read_in_both_layouts() -> None:
    answers = {"conversation_wide": {"q2_emotionClarity": "Openly"}}
    assert post() == post(predicted_post_panas={"items": {"Proud": 5, "Irritable": 1}})
    assert post() == {"post_panas": {"proud": 5, "irritable": 1}, **answers}
    # With a strategy of changes these count, not what they come to.
    assert post(panas_strategy="delta", predicted_panas_delta={"Proud": 1}) == {"panas_changes": {"Proud": 1}, **answers}


def test_folder_gives_replies_by_conversation_and_call(tmp_path: Path) -> None:
    path = tmp_path / "c-1_openrouter_m_default.json"
    path.write_text(json.dumps({**OFFICIAL, "post_conversation": None}), encoding="utf-8")
    for other in ("scores-corrected.json", "_skipped_m.json", "codebook.txt"):
        (tmp_path / other).write_text("[]", encoding="utf-8")
    (file,) = read_replies(tmp_path)
    # A call that failed has no reply, one that lacks its part an empty one.
    assert file.replies == {
        ("c-1", "turn 1 draft"): "{}",
        ("c-1", "turn 1 review"): '{"emotion_tags": [{"emotion": "Upset", "intensity": 4}]}',
    }


def test_folder_without_result_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the folder has no result files"):
        list(read_replies(tmp_path))


@pytest.mark.parametrize("fields", [{"conversationId": "c-1"}, {"turns": [{}]}, {"turns": [], "post_conversation": 3}, []])
def test_file_that_is_no_result_is_named(fields: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises(RecordError, match="a result file cannot be read") as caught:
        list(read_replies(tmp_path))
    assert caught.value.where == str(path)
