"""Bodies as OpenAI-compatible servers send them, and what is read from them."""

import json
from typing import Any

import pytest

from schemas.chat import ChatReply
from schemas.vocabulary import Failure
from tasks.models.http.failures import FAILURE_KINDS
from tasks.models.http.parse_reply import is_same_model, read_completion
from tests.rows import each_row
from tests.thinking import FORMS, THOUGHT


def body(message: Any, **more: Any) -> bytes:
    return json.dumps({"choices": [{"finish_reason": "stop", "message": message}], **more}).encode()


@each_row("name", FORMS)
def test_a_thought_in_the_text_is_reasoning(name: str) -> None:
    reply = read_completion(body({"content": FORMS[name](THOUGHT, "B, A")}))
    assert (reply.text, reply.reasoning_in) == ("B, A", "think")
    assert THOUGHT in str(reply.reasoning)


@pytest.mark.parametrize(
    "message",
    [{"content": None}, {"content": " \n"}, {"content": [{"text": None}]}, {"content": "<think>off"}, None],
)
def test_a_reply_without_text_is_empty(message: dict[str, Any] | None) -> None:
    reply = read_completion(body(message))
    assert (reply.failure, reply.text, reply.finish_reason, reply.http_status) == ("empty_content", None, "stop", 200)
    assert str(reply.error).startswith("no text")
    assert str(reply.error).endswith(", finish_reason stop")


def test_a_part_of_another_type_leaves_the_others() -> None:
    parts = [
        {"type": "text", "text": "C"},
        {"type": "source", "ids": [4]},
        {"type": "image", "text": None},
        " or",
        {"text": " A"},
    ]
    assert read_completion(body({"content": parts})).text == "C or A"
    thinking = {"type": "thinking", "thinking": [{"type": "reference", "ids": [1]}, {"type": "text", "text": "Sad."}]}
    assert read_completion(body({"content": [thinking, *parts]})).reasoning == "Sad."


@pytest.mark.parametrize(
    "part",
    [
        {"type": "reasoning_text", "text": "Sad."},
        {"type": "thought", "text": "Sad."},
        {"type": "text", "thought": True, "text": "Sad."},
    ],
)
def test_part_that_is_thought_is_no_answer(part: dict[str, Any]) -> None:
    reply = read_completion(body({"content": [part, {"type": "text", "text": "B"}]}))
    assert (reply.text, reply.reasoning, reply.reasoning_in) == ("B", "Sad.", "content_part")


def test_choice_without_message_says_why_it_ended() -> None:
    usage = {"prompt_tokens": 640, "total_tokens": 700, "completion_tokens_details": {"reasoning_tokens": 60}}
    reply = read_completion(json.dumps({"choices": [{"index": 0, "finish_reason": "length"}], "usage": usage}).encode())
    assert (reply.failure, reply.finish_reason, reply.text) == ("length", "length", None)
    assert (reply.prompt_tokens, reply.completion_tokens) == (640, 60)
    filtered = read_completion(b'{"choices": [{"finish_reason": "SPII", "message": null}]}')
    assert (filtered.failure, filtered.completion_tokens) == ("content_filter", None)


@each_row(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 5, "total_tokens": 9, "completion_tokens": 3}, 3),
        ({"prompt_tokens": 5, "total_tokens": 4}, None),
        ({"total_tokens": 9}, None),
    ],
)
def test_reply_tokens_are_what_the_prompt_leaves(usage: dict[str, int], tokens: int | None) -> None:
    assert read_completion(body({"content": "B"}, usage=usage)).completion_tokens == tokens


@each_row(
    ("usage", "timings", "tokens"),
    [
        ({"prompt_tokens": 9000, "prompt_tokens_details": {"cached_tokens": 8000}, "total_tokens": 9005}, None, 9000),
        ({"prompt_tokens": 35, "cache_read_input_tokens": 12000}, None, 12035),
        ({"prompt_tokens": 7000, "cache_read_input_tokens": 6000, "completion_tokens": 2, "total_tokens": 13002}, None, 13000),
        ({"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42}, {"prompt_n": 40, "cache_n": 9000}, 9040),
        ({"prompt_tokens": 9040}, "fast", 9040),
        ({}, {"prompt_n": 40, "cache_n": 9000}, None),
    ],
)
def test_prompt_tokens_are_those_of_the_whole(usage: dict[str, Any], timings: Any, tokens: int | None) -> None:
    assert read_completion(body({"content": "B"}, usage=usage, timings=timings)).prompt_tokens == tokens


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reply_that_is_all_reasoning_names_parser(field: str) -> None:
    reply = read_completion(body({"content": None, field: "C", "tool_calls": []}))
    assert (reply.failure, reply.text, reply.reasoning) == ("reasoning_only", None, "C")
    assert reply.error == f"no text besides reasoning, finish_reason stop; all came in {field}"
    assert "reasoning parser" in FAILURE_KINDS["reasoning_only"].meaning


MALFORMED: dict[str, tuple[bytes, Failure]] = {
    "html": (b"<html>busy</html>", "invalid_json"),
    "cut off": (b'{"choices": [{"mess', "invalid_json"),
    "not UTF-8": (b"\xff\xfe\xfa", "invalid_json"),
    "deep": (b"[" * 99_999, "invalid_json"),
    "65 levels": (body({"content": "B"})[:-1] + b', "x": ' + b"[" * 64 + b"]" * 64 + b"}", "invalid_json"),
    "a million objects": (b'{"choices": [' + b"{}," * 10**6 + b"{}]}", "invalid_json"),
    "a key twice": (body({"content": "B"}).replace(b'"content"', b'"content": "A", "content"'), "invalid_json"),
    "null": (b"null", "missing_choices"),
    "choices empty": (b'{"choices": []}', "missing_choices"),
    "a legacy completion": (b'{"choices": [{"text": "B", "finish_reason": "stop"}]}', "missing_choices"),
    "message a string": (body("B"), "missing_choices"),
    "content a number": (body({"content": 5}), "missing_choices"),
}


@each_row("name", MALFORMED)
def test_no_completion_names_what_is_missing(name: str) -> None:
    sent, failure = MALFORMED[name]
    reply = read_completion(sent)
    assert (reply.failure, reply.text, reply.http_status) == (failure, None, 200)
    assert name != "html" or "<html>busy</html>" in str(reply.error)


FILTERED = (
    *("RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "LANGUAGE", "Content Filter"),
    *("guardrail_intervened", "ERROR_TOXIC", "FinishReason.SAFETY", "moderation", "policy_violation"),
)
BROKEN_OFF = (
    *("aborted", "USER_CANCEL", "timeout", "time_limit", "server_error", "interrupted", "client_disconnected"),
    *("tool_call_error", "worker_failure", "exception", "rate_limit", "preempted"),
)
ORDINARY = (
    *("STOP", "eos", "eos_token", "end", "end_turn", "stop_sequence", "<|eot_id|>", "complete"),
    *("finished", "FINISH_REASON_STOP", "tool_calls", "stop_str", "matched_stop"),
)


def finished(reason: str, **message: Any) -> ChatReply:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return read_completion(json.dumps({"choices": [{"finish_reason": reason, "message": message}], "usage": usage}).encode())


@each_row(
    ("reason", "message", "failure"),
    [
        ("stop", {"content": "", "tool_calls": [{"id": "1"}]}, "tool_call"),
        ("function_call", {"content": None, "function_call": {"name": "f"}}, "tool_call"),
        ("length", {"content": None, "reasoning_content": "Let me"}, "length"),
        ("content_filter: PROHIBITED_CONTENT", {}, "content_filter"),
        ("sensitive", {"content": ""}, "content_filter"),
        ("refusal", {"content": ""}, "content_filter"),
        # cut off by the filter, or by a server that failed: not what the model has to say
        ("content_filter", {"content": "I th"}, "content_filter"),
        ("insufficient_system_resource", {"content": "I th"}, "http_5xx"),
        *((reason, {"content": "I th"}, "content_filter") for reason in FILTERED),
        *((reason, {"content": "I th"}, "http_5xx") for reason in BROKEN_OFF),
        *((reason, {"content": None}, "tool_call") for reason in ("MALFORMED_FUNCTION_CALL", "tool_use", "UNEXPECTED_TOOL_CALL")),
        *((reason, {"content": None}, "length") for reason in ("max_output", "model_length", "output_limit", "context_window")),
        ("OTHER", {"content": None, "reasoning_content": "Hm"}, "empty_content"),
    ],
)
def test_a_completion_without_an_answer_says_why(reason: str, message: dict[str, Any], failure: Failure) -> None:
    reply = finished(reason, **message)
    assert (reply.failure, reply.text, reply.remark, reply.finish_reason) == (failure, None, None, reason)
    assert reason in str(reply.error)
    # What was paid for is counted.
    assert (reply.prompt_tokens, reply.completion_tokens) == (7, 3)


@pytest.mark.parametrize(
    ("reason", "message", "remark"),
    [
        ("stop", {"content": "B", "tool_calls": [{"id": "1"}]}, None),
        ("length", {"content": "B, since"}, "length"),
        ("length", {"refusal": "I cannot"}, "length"),
        ("stop", {"refusal": "I cannot"}, "refusal"),
        ("refusal", {"content": "I cannot"}, "refusal"),
        *((reason, {"content": "B"}, None) for reason in ORDINARY),
        ("moon in retrograde", {"content": "B"}, "unknown_end"),
    ],
)
def test_an_odd_answer_has_a_remark(reason: str, message: dict[str, Any], remark: str | None) -> None:
    reply = finished(reason, **message)
    assert (reply.failure, reply.remark) == (None, remark)
    assert reply.text == (message.get("content") or message.get("refusal"))


def test_an_answer_of_another_model_is_remarked_upon() -> None:
    reply = read_completion(body({"refusal": "No"}, model="gpt-4o-mini"), model="gpt-4o")
    assert (reply.text, reply.failure, reply.remark, reply.model) == ("No", None, "other_model", "gpt-4o-mini")


def test_other_models_answer_can_be_failure() -> None:
    sent = body({"content": "B"}, model="gpt-4o-mini", usage={"prompt_tokens": 7, "completion_tokens": 3})
    reply = read_completion(sent, model="gpt-4o", require_same_model=True)
    assert (reply.text, reply.failure, reply.remark, reply.model) == (None, "wrong_model", None, "gpt-4o-mini")
    assert (reply.error, reply.completion_tokens) == ("asked gpt-4o, answered by gpt-4o-mini", 3)


@pytest.mark.parametrize("more", [{"model": None}, {"model": "gpt-4o-2024-08-06"}, {"model": ""}])
def test_unnamed_model_is_believed(more: dict[str, Any]) -> None:
    reply = read_completion(body({"content": "B"}, **more), model="gpt-4o", require_same_model=True)
    assert (reply.text, reply.failure, reply.remark) == ("B", None, None)


@each_row(
    ("fields", "reasoning", "place"),
    [
        ({"reasoning_content": "It is B."}, "It is B.", "reasoning_content"),
        ({"reasoning_details": [{"text": "Sad, "}, {"type": "reasoning.text", "text": "so B."}]}, "Sad, so B.", "reasoning"),
        ({"reasoning_details": [{"summary": "Short."}, {"type": "reasoning.encrypted", "data": "x"}]}, "Short.", "reasoning"),
        ({"reasoning_details": [None, 3]}, None, None),
        ({"reasoning_details": "text"}, None, None),
        # sent twice, kept once
        ({"reasoning": "Sad, so B.", "reasoning_details": [{"text": "Sad, so B."}]}, "Sad, so B.", "reasoning"),
    ],
)
def test_reasoning_field_is_kept_apart(fields: Any, reasoning: str | None, place: str | None) -> None:
    reply = read_completion(body({"content": "B", **fields}))
    assert (reply.text, reply.reasoning, reply.reasoning_in) == ("B", reasoning, place)


def test_half_characters_are_replaced() -> None:
    reply = read_completion(body({"content": "B \ud83d", "reasoning_content": "\ude00"}))
    assert (reply.text, reply.reasoning) == ("B \ufffd", "\ufffd")


@pytest.mark.parametrize(
    "usage", [None, [1], {"prompt_tokens": "7"}, {"prompt_tokens": -1}, {"prompt_tokens": True}, {"prompt_tokens": 2**62}]
)
def test_absent_usage_is_null_not_zero(usage: Any) -> None:
    reply = read_completion(body({"content": "B"}, usage=usage))
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("B", None, None)


def with_logprobs(logprobs: Any, **message: Any) -> bytes:
    choice = {"finish_reason": "stop", "message": {"content": "B, A", **message}, "logprobs": logprobs}
    return json.dumps({"choices": [choice]}).encode()


def place(token: str, *likeliest: tuple[Any, Any]) -> dict[str, Any]:
    found = [{"token": other, "logprob": logprob, "bytes": None} for other, logprob in likeliest]
    return {"token": token, "logprob": -0.1, "top_logprobs": found}


BEST = place("B", ("B", -0.1), (" A", -2))


def test_log_probabilities_skip_blank_tokens() -> None:
    content = [place(" \n", ("x", -1.0)), BEST, place(",", (",", 0.0))]
    reply = read_completion(with_logprobs({"content": content}, content=" \nB, A"))
    assert reply.top_logprobs == (("B", -0.1), (" A", -2.0))


@each_row(
    "logprobs",
    [
        None,
        {"content": [place(" ", ("B", -0.1))]},
        {"content": [place("B")]},
        {"content": [{"token": "B", "top_logprobs": {"B": -0.1}}]},
        {"content": [place("B", ("B", -0.1), (None, -1.0))]},
        {"content": [place("B", ("B", True))]},
        {"content": [place("B", ("B", float("-inf")))]},
        {"content": [place("B", ("B", 10**400))]},
        # the form of the older completions
        {"tokens": ["B"], "top_logprobs": [{"B": -0.1, "A": -2.0}]},
        # not how the answer begins: a header that the server took off
        {"content": [place("<|channel|>", ("A", -0.1), ("B", -0.2))]},
    ],
)
def test_odd_log_probabilities_are_null_alone(logprobs: Any) -> None:
    reply = read_completion(with_logprobs(logprobs))
    assert (reply.text, reply.failure, reply.top_logprobs) == ("B, A", None, None)


@pytest.mark.parametrize(
    "message",
    [{"content": f"{opening}B?</think>B"} for opening in ("<think>", "", "<think></think>")] + [{"reasoning_content": "B?"}],
)
def test_log_probabilities_exclude_reasoning(message: dict[str, str]) -> None:
    reply = read_completion(with_logprobs({"content": [BEST]}, **message))
    assert (str(reply.text)[0], reply.reasoning, reply.top_logprobs) == ("B", "B?", None)


def test_half_character_in_token_can_be_stored() -> None:
    reply = read_completion(with_logprobs({"content": [place("B", ("B", -0.1), ("\ud83d", -3.0))]}))
    assert reply.top_logprobs == (("B", -0.1), ("\ufffd", -3.0))


SAME = [
    ("Qwen2.5-7B-Instruct", "qwen2.5-7b-instruct"),
    ("gpt-4", "gpt-4-0613"),
    ("gemini-1.5-pro", "gemini-1.5-pro-002"),
    ("doubao-pro-32k", "doubao-pro-32k-240615"),
    ("mistral-large-latest", "mistral-large-2411"),
    ("claude-sonnet-4", "claude-sonnet-4@20250514"),
    ("gemini-2.5-pro", "gemini-2.5-pro-preview-05-06"),
    ("deepseek-v3", "deepseek-v3-0324"),
    ("Mistral-7B-Instruct", "Mistral-7B-Instruct-v0.3"),
    ("gpt-4o", "openai/gpt-4o-2024-08-06"),
    ("Qwen/Qwen3-8B", "/data/models/Qwen/Qwen3-8B/"),
    ("smollm2-q4", "C:\\models\\SmolLM2-Q4.gguf"),
    ("big", "/models/big-00001-of-00003.gguf"),
    ("llama3", "llama3:latest"),
    ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1"),
    ("ep-20240615123456-abcde", "doubao-pro-32k-240615"),
]
OTHER = [
    ("gpt-4o", "gpt-4o-mini"),
    ("mistral-large-2407", "mistral-large-2411"),
    ("deepseek-v3", "deepseek-v3.1"),
    ("gemini-1.5-pro", "gemini-1.5-flash-002"),
    ("qwen/qwen3-8b", "unsloth/qwen3-8b"),
    ("llama3:8b", "llama3:70b"),
    ("openrouter/auto", "openai/gpt-4o"),
    ("gpt-4o", "/"),
]


@each_row(("asked", "named"), SAME)
def test_these_are_one_model(asked: str, named: str) -> None:
    assert is_same_model(asked, named)


@each_row(("asked", "named"), OTHER)
def test_these_are_two_models(asked: str, named: str) -> None:
    assert not is_same_model(asked, named)


@each_row(("asked", "named"), [pair for pair in (*SAME, *OTHER) if not pair[0].startswith("ep-")])
def test_either_asked_name_is_accepted(asked: str, named: str) -> None:
    assert is_same_model(named, asked) == is_same_model(asked, named)
