import json
from pathlib import Path

import pytest

from schemas.errors import RecordError, UsageError
from tasks.benchmarks.attunebench.exchange import read_results, replies_of

FIELDS = {"conversationId": "c-1", "em_model": "m", "mode": "verbose", "post_conversation": None}
TURN = {"turnNumber": 1, "em_drafted_response": {}, "em_pairwise_selections": {"0": "B"}, "em_emotion_tags": None}


def test_replies_are_found_by_conversation_and_call(tmp_path: Path) -> None:
    (tmp_path / "c-1_openrouter_m_verbose.json").write_text(json.dumps({**FIELDS, "turns": [TURN]}), encoding="utf-8")
    for other in ("scores-corrected.json", "_skipped_m.json", "codebook.txt"):
        (tmp_path / other).write_text("[]", encoding="utf-8")
    (result,) = read_results(tmp_path)
    # Of a call that failed there is no reply, of one that lacks its part an empty one.
    assert replies_of(result) == {
        ("c-1", "turn 1 draft"): "{}",
        ("c-1", "turn 1 pairwise"): '{"pairwise_selections": {"0": "B"}}',
    }


def test_a_folder_without_result_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the folder has no result files"):
        read_results(tmp_path)


def test_a_file_that_is_no_result_is_named(tmp_path: Path) -> None:
    (tmp_path / "c-1_m.json").write_text('{"conversationId": "c-1"}', encoding="utf-8")
    with pytest.raises(RecordError, match="a result file cannot be read") as caught:
        read_results(tmp_path)
    assert caught.value.where == str(tmp_path / "c-1_m.json")
