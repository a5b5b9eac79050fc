"""A sample of Every Eval Ever: each field of a line, of a run that is known."""

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.interchange.every_eval_ever import write_run
from tasks.interchange.every_eval_ever_results import ExportOptions
from tasks.interchange.every_eval_ever_samples import hash_sample, texts
from tests.tasks.interchange.written_run import CALLS, restricted, written_run

NAME = "tiny.a.low.task_d.d.choice.accuracy.base"
OPTIONS = ExportOptions("Lab", "first_party", {"org/m": "maker/model-1"}, redact=True)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.rglob("*_samples.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_line_says_all_of_its_answer(tmp_path: Path) -> None:
    assert write_run(written_run(tmp_path / "lake"), tmp_path / "out", OPTIONS).samples == 2
    first, second = lines_of(tmp_path / "out")
    ours = json.loads(first["metadata"].pop("moodflow"))
    # Both calls of the answer count, but not the one of the model that played.
    assert first == {
        "schema_version": "0.3.0",
        "evaluation_id": "tiny/maker_model-1/r",
        "model_id": "maker/model-1",
        "evaluation_name": NAME,
        "evaluation_result_id": f"tiny/maker_model-1/r/{NAME}",
        "sample_id": "a",
        "sample_hash": hash_sample("Ben sat.\n\nWho sat?", ["Ben"]),
        "interaction_type": "single_turn",
        "input": {
            "raw": "Ben sat.\n\nWho sat?",
            "reference": ["Ben"],
            "choices": ["Ann", "Ben"],
            "formatted": "Who sat? Say a letter.",
        },
        "output": {"raw": ["B"], "reasoning_trace": ["Ben did."]},
        "messages": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": "Ben",
                "is_terminal": True,
                "extraction_method": "moodflow.single_choice",
            }
        ],
        "evaluation": {"score": 1.0, "is_correct": True},
        "token_usage": {"input_tokens": 10 + 5, "output_tokens": 2 + 1, "total_tokens": 18},
        "performance": {"latency_ms": 500 + 250},
        "error": None,
        "metadata": {"status": "scored", "cluster": "a", "language": "en"},
    }
    assert (ours["item_id"], ours["turn"], ours["option_order"], ours["finish_reason"]) == ("a", 1, [1, 0], "stop")
    assert ours["prompt_sha256"] == CALLS[1]["messages_sha256"]
    assert (second["sample_id"], second["evaluation"], second["output"]["reasoning_trace"]) == (
        *("a#r2", {"score": 0.0, "is_correct": False}),
        None,
    )


def test_redacted_line_keeps_scores_and_no_text(tmp_path: Path) -> None:
    written = write_run(restricted(written_run(tmp_path / "lake")), tmp_path / "out", OPTIONS)
    assert [each.model_dump() for each in written.withheld] == [{"dataset": "d", "licence": "on request", "lines": True}]
    first, _ = lines_of(tmp_path / "out")
    assert first["sample_hash"] == hash_sample("Ben sat.\n\nWho sat?", ["Ben"])
    assert (first["evaluation"]["score"], first["metadata"]) == (1.0, {"status": "scored", "cluster": "a", "language": "en"})
    assert not any(text in json.dumps(first) for text in ("Ben", "Ann", "sat"))


@pytest.mark.parametrize(
    ("value", "text"), [("as it is", "as it is"), (3, "3"), (0.5, "0.5"), (True, "true"), (["a"], '["a"]'), (0, "0"), ("", "")]
)
def test_details_are_texts(value: object, text: str) -> None:
    assert texts(name=value, other=None) == {"name": text}


def test_hash_counts_references_in_their_order() -> None:
    assert hash_sample("q", ["A", "B"]) != hash_sample("q", ["B", "A"])
    assert hash_sample("q", ["A", "B"]) != hash_sample("q", ["AB"])
