"""Calls for others to answer, and what comes back in their logs."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import ModuleType
from typing import Any

import pytest
import yaml

from schemas.chat import ChatMessage, ChatRequest
from schemas.documents.lake import RequestSet
from schemas.errors import UsageError
from tasks.models.batches.import_files import import_answers
from tasks.models.batches.store import BatchStore
from tasks.models.journal.files import ImportedReplies
from tasks.models.journal.request_files import OpenCall, flatten, read_requests, write_requests
from tasks.models.journal.table import opened_replies
from tests.tasks.models.making_calls import request

CALLS = [request("first\u2028line"), request("second"), request("again", repetition=1)]


SUBJECT = {"item_id": "talk-1", "step": "turn 2 review"}


def written(calls: Sequence[ChatRequest], folder: Path) -> tuple[RequestSet, ...]:
    return write_requests((OpenCall(call, **SUBJECT) for call in calls), folder / "talks.jsonl", with_tasks=True)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def batch(call: ChatRequest, text: str | None, status: int | None = 200) -> dict[str, Any]:
    body = {"model": call.model, "choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return {"custom_id": call.key, "response": {"status_code": status, "body": body}, "error": None}


def sample(call: ChatRequest, *texts: str, prompt: Any = None) -> dict[str, Any]:
    arguments: dict[str, Any] = {"gen_args_0": {"arg_0": flatten(call) if prompt is None else prompt, "arg_1": {"until": []}}}
    doc = {"custom_id": call.key, "prompt": flatten(call)}
    return {"doc_id": 0, "doc": doc, "arguments": arguments, "resps": [list(texts)], "filtered_resps": [""]}


def anthropic(call: ChatRequest, kind: str, *parts: dict[str, str], stop: str = "end_turn") -> dict[str, Any]:
    usage = {"input_tokens": 20, "cache_read_input_tokens": 5, "cache_creation_input_tokens": None, "output_tokens": 1}
    message = {"role": "assistant", "model": call.model, "content": list(parts), "stop_reason": stop, "usage": usage}
    return {"custom_id": call.key, "result": {"type": kind, **({"message": message} if parts else {})}}


def taken_in(folder: Path, *rows: Any, calls: Sequence[ChatRequest] = CALLS) -> tuple[ImportedReplies, dict[str, str | None]]:
    """Counts, and what the journal then says to each call."""
    log, journal = folder / "log.jsonl", folder / "journal.sqlite"
    log.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    written(calls, folder / "asked")
    taken = import_answers(log, folder / "asked", journal)
    with opened_replies(journal) as find:
        return taken, {call.messages[0].content: reply.text for call in calls if (reply := find(call.key))}


def test_set_of_files_per_endpoint_model_and_repetition(tmp_path: Path) -> None:
    about = written(CALLS, tmp_path)
    assert [(each.file, each.repetition, each.calls) for each in about] == [("talks.jsonl", 0, 2), ("talks-2.jsonl", 1, 1)]
    first, second = lines(tmp_path / "talks.jsonl")
    body = json.loads(CALLS[0].body_json)
    assert first == {"custom_id": CALLS[0].key, "method": "POST", "url": "/v1/chat/completions", "body": body}
    assert lines(tmp_path / "talks" / "documents.jsonl")[1] == {"custom_id": second["custom_id"], **SUBJECT, "prompt": "second"}
    with pytest.raises(UsageError, match="the file already exists"):
        written(CALLS, tmp_path)


class TaskLoader(yaml.SafeLoader):
    """Reads a task as lm-evaluation-harness does, the name of a function in its place."""


TaskLoader.add_constructor("!function", lambda _, node: f"function {node.value}")


def test_task_folder_is_whole(tmp_path: Path) -> None:
    written(CALLS[:1], tmp_path)
    folder = tmp_path / "talks"
    assert {path.name for path in folder.iterdir()} == {"talks.yaml", "documents.jsonl", "documents.py"}
    task = TaskLoader((folder / "talks.yaml").read_text(encoding="utf-8")).get_single_data()
    assert (task["task"], task["test_split"], task["output_type"]) == ("talks", "test", "generate_until")
    assert task["custom_dataset"] == "function documents.load"
    # Without `until` a reply would end at its first empty line.
    assert task["generation_kwargs"] == {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 16}
    (document,) = lines(folder / "documents.jsonl")
    assert document == {"custom_id": CALLS[0].key, **SUBJECT, "prompt": "first\u2028line"}
    assert re.findall(r"{{(\w+)}}", task["doc_to_text"] + task["doc_to_target"]) == ["prompt"]


def test_documents_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of a task reads the file beside it with the library of that name, which the harness brings."""
    written(CALLS[:1], tmp_path)
    paths: list[str] = []
    library = ModuleType("datasets")
    library.Dataset = type("Dataset", (), {"from_json": staticmethod(paths.append)})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", library)
    assert run_path(str(tmp_path / "talks" / "documents.py"))["load"](version=1) == {"test": None}
    assert paths == [str(tmp_path / "talks" / "documents.jsonl")]


def test_several_messages_are_one_text() -> None:
    said = (ChatMessage(role="system", content="Be kind."), ChatMessage(role="user", content="Hi"))
    assert flatten(replace(CALLS[0], messages=said)) == "system: Be kind.\n\nuser: Hi"


def test_replies_of_a_batch_and_of_samples(tmp_path: Path) -> None:
    rows = (batch(CALLS[1], "<think>hm</think>B"), sample(CALLS[0], "A"), "", batch(CALLS[2], "C"))
    taken, said = taken_in(tmp_path, *rows)
    assert (taken.added, taken.read, taken.refused) == (3, 3, 0)
    assert said == {"first\u2028line": "A", "second": "B", "again": "C"}


def test_broken_rows_alone_are_refused(tmp_path: Path) -> None:
    expired = {"custom_id": CALLS[0].key, "response": None, "error": {"code": "batch_expired"}}
    rows: tuple[Any, ...] = (
        *(batch(CALLS[1], "B"), batch(CALLS[1], "other"), batch(request("foreign"), "F"), batch(CALLS[0], "A", 500), expired),
        *(batch(CALLS[0], "A", None), batch(CALLS[0], None), sample(CALLS[0], "A", "A")),
        *({"custom_id": []}, "[]", '{"custom_id": "cut o'),
    )
    taken, said = taken_in(tmp_path, *rows)
    assert said == {"second": "B"}
    assert dict(taken.rules) == {
        # Of CALLS[0] the first line counts, with status 500; three other results and a second reply to CALLS[1] differ from it.
        "duplicate_id": 4,
        "unknown_id": 1,
        "still_to_be_asked": 1,
        "form_is_known": 3,
        "line_is_whole": 1,
    }
    assert (taken.read, taken.refused, taken.added, taken.to_ask) == (11, 10, 1, 2)
    assert taken.unknown_form == "doc_id, doc, arguments, resps, filtered_resps"


@pytest.mark.parametrize(("identity", "kept"), [("lm-eval/NAME", 1), ("http://localhost:9/v1", 0)])
def test_other_text_is_no_sent_prompt(tmp_path: Path, identity: str, kept: int) -> None:
    said = (ChatMessage(role="system", content="Be kind."), ChatMessage(role="user", content="Hi"))
    call = replace(CALLS[0], messages=said, identity=identity)
    taken, _ = taken_in(tmp_path, sample(call, "A"), calls=[call])
    assert (taken.added, taken.rules["prompt_is_that_of_the_call"]) == (kept, 1 - kept)


def test_a_request_that_was_changed_is_not_answered(tmp_path: Path) -> None:
    written(CALLS[1:2], tmp_path / "asked")
    path = tmp_path / "asked" / "talks.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("second", "third"), encoding="utf-8")
    (tmp_path / "log").write_text(json.dumps(batch(CALLS[1], "B")), encoding="utf-8")
    assert import_answers(tmp_path / "log", tmp_path / "asked", tmp_path / "journal").rules == {"key_is_that_of_the_call": 1}


def test_a_folder_without_calls_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_requests(tmp_path)
    (tmp_path / "talks.about.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read") as caught:
        read_requests(tmp_path)
    assert "file: Field required" in str(caught.value.got)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("talks.about.json", '"talks.jsonl"', '"../talks.jsonl"'),
        ("talks.about.json", '"file"', "\xff"),
        ("talks.jsonl", '"body": {', '"body": 5, "was": {'),
        ("talks.jsonl", '"content"', '"contents"'),
        ("talks.jsonl", "}}", "}"),
    ],
)
def test_a_damaged_folder_of_calls_names_the_file(tmp_path: Path, name: str, old: str, new: str) -> None:
    written(CALLS[1:2], tmp_path)
    path = tmp_path / name
    assert old in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match="the request files cannot be read") as caught:
        read_requests(tmp_path)
    assert (caught.value.where, bool(caught.value.got)) == (str(path), True)


@pytest.mark.parametrize(
    "prompt",
    [
        " second\n",
        "<|im_start|>user\nsecond<|im_end|>\n<|im_start|>assistant\n",
        "<s>[INST] second [/INST]",
        ['[{"role": "user", "content": "second"}]'],
        [{"role": "user", "content": "second"}],
    ],
)
def test_prompt_in_frame_of_template_is_same(tmp_path: Path, prompt: Any) -> None:
    taken, said = taken_in(tmp_path, sample(CALLS[1], "B", prompt=prompt))
    assert (taken.added, said) == (1, {"second": "B"})


@pytest.mark.parametrize(
    "prompt",
    [
        *("", "secondly", "Q: first A: B Q: second", "second\nAnswer:"),
        '[{"role": "system", "content": "Be rude."}, {"role": "user", "content": "second"}]',
        "<|im_start|>system\nYou are a poet.<|im_end|>\n<|im_start|>user\nsecond<|im_end|>",
    ],
)
def test_a_sample_asked_with_another_prompt_is_refused(tmp_path: Path, prompt: str) -> None:
    taken, said = taken_in(tmp_path, sample(CALLS[1], "B", prompt=prompt))
    assert (dict(taken.rules), said) == ({"prompt_is_that_of_the_call": 1}, {})


def test_sample_prompt_may_stand_in_document(tmp_path: Path) -> None:
    good, other = sample(CALLS[1], "B"), sample(CALLS[0], "A")
    other["doc"]["prompt"] = "other"
    del good["arguments"], other["arguments"]
    taken, said = taken_in(tmp_path, good, other)
    assert (dict(taken.rules), said) == ({"prompt_is_that_of_the_call": 1}, {"second": "B"})


def test_results_of_batch_in_form_of_anthropic(tmp_path: Path) -> None:
    thought, answer = {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "B"}
    expired, errored, odd = (anthropic(CALLS[0], kind) for kind in ("expired", "errored", "lost"))
    cut = anthropic(CALLS[2], "succeeded", answer, stop="max_tokens")
    taken, said = taken_in(tmp_path, anthropic(CALLS[1], "succeeded", thought, answer), cut, expired, errored, odd)
    assert said == {"second": "B", "again": "B"}
    assert dict(taken.rules) == {"still_to_be_asked": 1, "duplicate_id": 1, "form_is_known": 1}
    with opened_replies(tmp_path / "journal.sqlite") as find:
        first, second = find(CALLS[1].key), find(CALLS[2].key)
    assert first is not None
    assert second is not None
    assert (first.reasoning, first.finish_reason, first.prompt_tokens, first.completion_tokens) == ("hm", "end_turn", 25, 1)
    assert second.remark == "length"


def test_tokens_that_were_not_counted_are_not_zero(tmp_path: Path) -> None:
    row = anthropic(CALLS[1], "succeeded", {"type": "text", "text": "B"})
    row["result"]["message"]["usage"] = None
    assert taken_in(tmp_path, row)[1] == {"second": "B"}
    with opened_replies(tmp_path / "journal.sqlite") as find:
        reply = find(CALLS[1].key)
    assert reply is not None
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


def test_oversized_line_is_refused(tmp_path: Path) -> None:
    taken, _ = taken_in(tmp_path, batch(CALLS[1], "B" * 2**24))
    assert dict(taken.rules) == {"line_is_whole": 1}


OPENAI_OUTPUT = """\
{"id": "batch_req_1", "custom_id": "%s", "response": {"status_code": 200, "request_id": "r1", "body": {"model": "listener", \
"choices": [{"index": 0, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"}], \
"usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}}}, "error": null}
{"id": "batch_req_2", "custom_id": "%s", "response": null, "error": {"code": "batch_expired", "message": "expired"}}
{"id": "batch_req_3", "custom_id": "%s", "response": {"status_code": 400, "request_id": "r3", "body": {"error": \
{"message": "This model's maximum context length is 4096 tokens.", "code": "context_length_exceeded"}}}, "error": null}"""
VLLM_OUTPUT = """\
{"id": "vllm-1", "custom_id": "%s", "response": {"status_code": 200, "request_id": "vllm-batch-1", "body": {"model": "listener", \
"choices": [{"index": 0, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"}], \
"usage": {"prompt_tokens": 7, "completion_tokens": 1}}}, "error": null}
{"id": "vllm-2", "custom_id": "%s", "response": {"status_code": 503, "request_id": "vllm-batch-2", "body": null}, \
"error": "engine is dead"}
{"id": "vllm-3", "custom_id": "%s", "response": {"status_code": 400, "request_id": "vllm-batch-3", "body": null}, "error": \
{"error": {"message": "This model's maximum context length is 4096 tokens.", "type": "BadRequestError", "code": 400}}}"""
GEMINI_OUTPUT = """\
{"key": "%s", "response": {"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}, {"text": "B"}], \
"role": "model"}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 1, \
"thoughtsTokenCount": 2}, "modelVersion": "listener"}}
{"key": "%s", "error": {"code": 8, "message": "quota", "status": "RESOURCE_EXHAUSTED"}}
{"key": "%s", "response": {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 7}}}"""


@pytest.mark.parametrize(
    ("output", "paid_as", "tokens", "failure"),
    [
        (OPENAI_OUTPUT, "batch", 1, "context_too_long"),
        (VLLM_OUTPUT, "file", 1, "context_too_long"),
        (GEMINI_OUTPUT, "batch", 3, "content_filter"),
    ],
    ids=["openai", "vllm", "gemini"],
)
def test_each_form_is_read(tmp_path: Path, output: str, paid_as: str, tokens: int, failure: str) -> None:
    calls = [request(text) for text in ("answered", "passing", "refused")]
    taken, said = taken_in(tmp_path, output % tuple(call.key for call in calls), calls=calls)
    assert said == {"answered": "B"}
    assert dict(taken.rules) == {"still_to_be_asked": 1, "call_was_answered": 1}
    assert (taken.read, taken.added, taken.to_ask) == (3, 1, 2)
    with opened_replies(tmp_path / "journal.sqlite") as find:
        reply = find(calls[0].key)
    assert reply is not None
    assert (reply.paid_as, reply.latency_s, reply.prompt_tokens, reply.completion_tokens) == (paid_as, None, 7, tokens)
    # A run that writes its calls to a file is told of what failed for good.
    with BatchStore(tmp_path / "journal.sqlite") as store:
        told = [store.failure(call.key) for call in calls]
    assert [reply and reply.failure for reply in told] == [None, None, failure]


def test_equal_lines_count_once(tmp_path: Path) -> None:
    taken, said = taken_in(tmp_path, batch(CALLS[1], "B"), batch(CALLS[1], "B"))
    assert (taken.added, taken.refused, said) == (1, 0, {"second": "B"})


def test_cut_last_line_keeps_others(tmp_path: Path) -> None:
    taken, said = taken_in(tmp_path, "<html>busy</html>", batch(CALLS[1], "B"), json.dumps(batch(CALLS[0], "A"))[:-9])
    assert (dict(taken.rules), said) == ({"line_is_json": 1, "line_is_whole": 1}, {"second": "B"})


def test_answers_to_one_file_are_taken(tmp_path: Path) -> None:
    about = write_requests((OpenCall(call, **SUBJECT) for call in CALLS), tmp_path / "asked.jsonl")
    assert [each.file for each in about] == ["asked.jsonl", "asked-2.jsonl"]
    assert read_requests(tmp_path / "asked-2.jsonl").keys() == {CALLS[2].key}
    assert read_requests(tmp_path).keys() == {call.key for call in CALLS}
    written(CALLS[:1], tmp_path / "folder")
    assert read_requests(tmp_path / "folder" / "talks.jsonl").keys() == {CALLS[0].key}
