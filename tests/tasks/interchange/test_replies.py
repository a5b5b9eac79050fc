"""Rows of files by other harnesses, as a file of replies has them."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tasks.interchange.replies import ReplyRow, read_replies

PROMPT = "Is 2 > 1?\nA. yes\nB. no"
PROMPT_SHA256 = sha256(b'[{"content": "Is 2 > 1?\\nA. yes\\nB. no", "role": "user"}]').hexdigest()


def write_lines(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_foreign_lm_eval_sample_is_named_by_prompt(tmp_path: Path) -> None:
    time = "2026-08-01T10-00-00.000001"
    (tmp_path / f"results_{time}.json").write_text('{"model_name": "org/m"}')
    sample = {"doc_id": 0, "doc": {"q": 1}, "arguments": {"gen_args_0": {"arg_0": PROMPT}}, "resps": [["A"]]}
    # One line per filter; the third is of another kind.
    lines = ({**sample, "filter": "none"}, {**sample, "filter": "strict"}, {**sample, "resps": []})
    read = read_replies(write_lines(tmp_path / f"samples_my_task_{time}.jsonl", *lines))
    assert read.rows == {1: ReplyRow(dataset="my_task", model="org/m", prompt_sha256=PROMPT_SHA256, reply="A")}
    assert read.broken == {3: "values_are_of_their_types"}


def test_every_eval_ever_sample_is_read_once(tmp_path: Path) -> None:
    sample = {
        "sample_id": "i7#r2",
        "evaluation_id": "e",
        "interaction_type": "single_turn",
        "model_id": "org/m",
        "evaluation_name": "mini.feeling.irony.mini_irony.choice.accuracy.base",
        "metadata": {"moodflow": '{"dataset": "mini_irony", "item_id": "i7", "repetition": 1}'},
    }
    answered = {**sample, "output": {"raw": ["yes"]}, "evaluation": {"score": 1}}
    dialogue = {**sample, "interaction_type": "multi_turn", "output": None}
    foreign = {**answered, "metadata": {"status": "scored"}}
    lines = (answered, {**answered, "evaluation": {"score": 0}}, dialogue, foreign)
    read = read_replies(write_lines(tmp_path / "x_samples.jsonl", *lines))
    row = ReplyRow(dataset="mini_irony", model="org/m", item_id="i7", repetition=1, reply="yes")
    assert (read.rows, read.broken) == ({1: row}, dict.fromkeys((3, 4), "values_are_of_their_types"))


@pytest.mark.parametrize(("finish_reason", "remark"), [("stop", None), ("length", "length")])
def test_reply_is_read_as_that_of_a_server(finish_reason: str, remark: str | None) -> None:
    row = ReplyRow(dataset="d", model="m", item_id="i", reply="<think>Hm.</think>yes", finish_reason=finish_reason)
    reply = row.chat_reply()
    assert (reply.text, reply.reasoning, reply.remark) == ("yes", "Hm.", remark)
    assert (reply.latency_s, reply.paid_as) == (None, "file")


def test_empty_cell_of_a_csv_is_null(tmp_path: Path) -> None:
    path = tmp_path / "replies.csv"
    path.write_text('dataset,model,item_id,reply,option_order\nd,m,i,"A\nB","[1, 0]"\nd,m,j,,\n')
    read = read_replies(path)
    assert read.rows == {2: ReplyRow(dataset="d", model="m", item_id="i", reply="A\nB", option_order=(1, 0))}
    assert read.broken == {3: "reply_or_failure_is_given"}
