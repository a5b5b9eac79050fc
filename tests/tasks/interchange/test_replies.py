"""Rows of a file of replies and of files by other harnesses: which are read, what rule the others break, what calls get."""

import json
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from schemas.chat import ChatReply, ChatRequest
from schemas.errors import UsageError
from tasks.interchange.every_eval_ever_results import ExportOptions
from tasks.interchange.inspect_logs import write_inspect
from tasks.interchange.replies import NOT_IN_FILE, FileChat, ReplyRow, read_replies
from tests.tasks.interchange.written_run import written_run
from tests.tasks.models.making_calls import request

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


def test_failure_of_a_row_is_that_of_its_call() -> None:
    reply = ReplyRow(dataset="d", model="m", item_id="i", failure="content_filter").chat_reply()
    assert (reply.text, reply.failure, reply.error) == (None, "content_filter", "the file says that the call failed")
    assert (reply.latency_s, reply.paid_as) == (None, "file")


def test_counts_and_reasoning_of_a_row_are_kept() -> None:
    fields: dict[str, Any] = {"reply": "yes", "reasoning": "Hm.", "prompt_tokens": 7, "completion_tokens": 0}
    reply = ReplyRow(dataset="d", model="m", item_id="i", **fields).chat_reply()
    assert (reply.text, reply.reasoning, reply.prompt_tokens, reply.completion_tokens) == ("yes", "Hm.", 7, 0)
    assert reply.http_status is None


async def test_call_without_a_row_is_a_failure() -> None:
    kept: list[ChatReply] = []

    async def keep(_request: ChatRequest, reply: ChatReply) -> None:
        kept.append(reply)

    known, failed, unknown = request("known"), request("failed"), request("unknown")
    said, lost = ChatReply(text="B"), ChatReply(failure="content_filter")
    chat = FileChat({known.key: said, failed.key: lost})
    assert [await chat(each, keep) for each in (known, failed, unknown)] == [said, lost, NOT_IN_FILE]
    # The journal keeps what was answered, and no failure.
    assert kept == [said]


ROWS: list[dict[str, Any]] = [
    {"dataset": "d", "item_id": "i", "reply": "A"},
    {"dataset": "d", "item_id": "i", "reply": "B", "repetition": 1},
    {"dataset": "d", "item_id": "i", "reply": "C", "turn": 1},
    {"dataset": "d", "item_id": "i", "reply": "D", "setting": "cot"},
    {"dataset": "d", "item_id": "i", "reply": "E", "model": "other"},
    {"dataset": "d", "item_id": "i", "reply": "F", "prompt_sha256": "0" * 64},
    {"dataset": "d", "prompt_sha256": "0" * 64, "reply": "G"},
    {"dataset": "d", "prompt_sha256": "0" * 64, "reply": "H"},
    {"dataset": "d", "reply": "I"},
    {"dataset": "d", "item_id": "j", "reply": "", "failure": "timeout_total"},
    {"dataset": "d", "item_id": "j", "failure": "timeout_total"},
    {"dataset": "d", "item_id": "k", "reply": ""},
    {"dataset": "d", "item_id": "l", "reply": "J", "repetition": -1},
    {"dataset": "d", "item_id": "m", "reply": "K", "prompt_sha256": "short"},
]


def test_each_row_is_told_the_rule_it_breaks(tmp_path: Path) -> None:
    read = read_replies(write_lines(tmp_path / "replies.jsonl", *ROWS), model="m")
    # The sixth says another reply to the call of the first, the eighth to that of the seventh; an empty reply is one.
    assert read.broken == {
        **dict.fromkeys((6, 8), "row_is_unique"),
        9: "item_or_prompt_is_named",
        10: "reply_or_failure_is_given",
        **dict.fromkeys((13, 14), "values_are_of_their_types"),
    }
    assert [row.reply for row in read.rows.values()] == ["A", "B", "C", "D", "E", "G", None, ""]
    assert read.models == ("m", "other")
    assert [*read.about("d", "m", "base")] == [1, 2, 3, 7, 11, 12]
    assert [[*read.about(*job)] for job in (("d", "m", "cot"), ("d", "other", "base"), ("e", "m", "base"))] == [[4], [5], []]


def test_row_without_a_model_needs_one(tmp_path: Path) -> None:
    read = read_replies(write_lines(tmp_path / "replies.jsonl", ROWS[0]))
    assert (read.rows, read.broken) == ({}, {1: "values_are_of_their_types"})


def test_other_endings_and_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="kind of file with replies that ends in"):
        read_replies(write_lines(tmp_path / "replies.txt", ROWS[0]))
    with pytest.raises(UsageError, match="mood"):
        read_replies(write_lines(tmp_path / "replies.jsonl", {**ROWS[0], "mood": 1}))


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="its library is installed")
def test_log_of_inspect_needs_its_library(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="need the package inspect-ai") as caught:
        read_replies(write_lines(tmp_path / "log.eval", {}))
    assert caught.value.where == str(tmp_path / "log.eval")
    with pytest.raises(UsageError, match="need the package inspect-ai"):
        write_inspect(written_run(tmp_path / "lake"), tmp_path / "out", ExportOptions())
    assert not (tmp_path / "out").exists()
