"""Errors as servers word them, and the failures they are; every mark of the table has an example here."""

import json
from typing import Any

import pytest

from schemas.vocabulary import FAILURES, Failure
from tasks.models.http.error_patterns import (
    TABLES,
    find_failure,
    stated_tokens,
)
from tasks.models.http.failures import FAILURE_KINDS, RETRIES, describe_error, find_error, read_error
from tests.rows import each_row


def error(message: str = "", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


def base_resp(code: int, message: str = "") -> dict[str, Any]:
    return {"base_resp": {"status_code": code, "status_msg": message}}


CODES_OF: dict[Failure, str] = {
    "context_too_long": "context_length_exceeded string_above_max_length request_too_large tokens_too_long 1261",
    "content_filter": "content_filter content_policy_violation InputTextSensitiveContentDetected OutputTextRiskDetection "
    "sensitive_words_detected 1301",
    "quota": "organization_usage_limit_exceeded billing_hard_limit_reached exceeded_current_quota_error Arrearage QuotaExceeded "
    "AllocationQuota.FreeTierOnly AccountOverdueError billing_error 1113 1310",
    "auth": "InvalidApiKey AuthenticationError 1002",
    "http_429": "rate_limit_error rate_limit_reached_error 1302",
}
CODED: list[tuple[int, Any, Failure]] = [
    *((400, error(code=code), failure) for failure, codes in CODES_OF.items() for code in codes.split()),
    (200, base_resp(1027), "content_filter"),
    (200, base_resp(1008), "quota"),
    *((200, base_resp(code), "auth") for code in (1004, 2049)),
    *((200, base_resp(code), "http_429") for code in (1002, 1039)),
    (200, base_resp(1013), "http_5xx"),
    (500, error(type="exceed_context_size_error", code=500), "context_too_long"),
    (400, error(code="400", innererror={"code": "ResponsibleAIPolicyViolation"}), "content_filter"),
    (400, {"code": "DataInspectionFailed", "message": "no", "request_id": "1"}, "content_filter"),
    (429, error("check your plan", type="insufficient_quota", code="insufficient_quota"), "quota"),
    (429, error(type="insufficient_balance_error", http_code="429"), "quota"),
    (200, error(type="overloaded_error"), "http_5xx"),
    (200, error(code="server_error"), "http_5xx"),
]
"""Told by their code; the messages of MiniMax and Zhipu differ, their numbers do not."""

TOO_LONG: list[tuple[int, str, int | None]] = [
    (400, "This model's maximum context length is 4096 tokens. However, you requested 4226 tokens", 4096),
    (400, "The decoder prompt (length 163840) is longer than the maximum model length of 131072.", 131072),
    (400, "The input (61709 tokens) is longer than the model's context length (40960 tokens).", 40960),
    (400, "prompt is too long: 208656 tokens > 200000 maximum", 200000),
    (400, "Input prompt (15681 tokens) is too long and exceeds limit of 2560", 2560),
    (400, "Input is too long for requested model.", None),
    (400, "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease", 200000),
    (400, "request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192),
    (500, "Requested tokens (516) exceed context window of 512", 512),
    (400, "prompt too long; exceeded max context length by 12 tokens", None),
    (400, "invalid params, context window exceeds limit (2013)", None),
    (400, "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).", 59862),
    (400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 258048]", 258048),
    (400, "The input token count (132478) exceeds the maximum number of tokens allowed (131072).", 131072),
    (400, "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)", 262144),
    (400, "Input token length too long", None),
    (400, "Total tokens of image and text exceed max message tokens. Request id: 0217", None),
    (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 4096),
    (422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 3000", 1024),
    (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131072),
    (400, "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.", 272000),
    (400, "Trying to keep 9000 tokens when context the overflows, with a context length of only 4096 tokens", 4096),
    (400, "total number of tokens in the prompt cannot exceed 4081 - received 6000", 4081),
]
"""Told by their words, with the longest context that they state."""

LONGEST = "maximum context length is 4096 tokens"
TOO_LARGE = "'max_tokens' or 'max_completion_tokens' is too large"
REPLY_LIMITS: dict[Failure, list[str]] = {
    "max_tokens_too_large": [
        f"{TOO_LARGE}: 4096. This model's {LONGEST} and your request has 120 input tokens (4096 > 4096 - 120).",
        f"This model's {LONGEST}. However, you requested 4,132 tokens (36 in the messages, 4,096 in the completion).",
        f"This endpoint's {LONGEST}. However, you requested about 4100 tokens (100 of text input, 4000 in the output).",
        "You passed 64 input tokens and requested 4096 output tokens. However, the model's context length is only 4096 tokens.",
        f"Token count exceeds the model's {LONGEST}: 600 tokens from the input messages and 3800 tokens for the completion.",
        "input length and `max_tokens` exceed context limit: 900 + 200000 > 200000, decrease",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 90 `inputs` tokens and 4090 `max_new_tokens`",
        "`max_new_tokens` must be <= 192. Given: 512",
        "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, whereas you provided 9000.",
        "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
        "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the context",
        "The parameter `max_tokens` specified in the request is not valid: integer above maximum value, expected <= 12288",
        "max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens",
        "The request has a maxOutputTokens value of 70000 but the supported range is from 1 to 65536",
        "max_completion_tokens is limited for this model",
        "Parameter max_tokens is out of range: 1..4096",
        "max_tokens参数非法：请限定在[1,4095]",
        "The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value",
        "The maximum value for max_tokens is 8192",
        "max_output_tokens: Input should be less than or equal to 4096",
        "Requested max_tokens of 100000 exceeds the maximum of 8192",
        f"'max_tokens' is too large: {'9' * 5000}. {LONGEST}, 4 input tokens",
    ],
    # the prompt takes what the limit leaves, or more than there is
    "context_too_long": [
        f"{TOO_LARGE}: 1000. This model's {LONGEST} and your request has 3500 input tokens (1000 > 4096 - 3500).",
        f"This model's {LONGEST}. However, you requested 6000 tokens (5000 in the messages, 1000 in the completion).",
        f"This model's {LONGEST}. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3000 `inputs` tokens and 1500 `max_new_tokens`",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "The sum of the prompt and max_tokens exceeds the model's maximum context length",
    ],
    "length": ["Could not finish the message because max_tokens or model output limit was reached."],
    "http_4xx": [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "max_tokens must be greater than thinking.budget_tokens",
        "max_tokens must be at least 1, got -120",
    ],
}
"""Limits of the reply, and prompts that are too long in much the same words."""

WORDED: list[tuple[int, str, Failure]] = [
    *((status, message, "context_too_long") for status, message, _ in TOO_LONG),
    *((400, message, failure) for failure, messages in REPLY_LIMITS.items() for message in messages),
    (400, "Content Exists Risk", "content_filter"),
    (400, "The request was rejected because it was considered high risk", "content_filter"),
    (403, 'x-ai/grok requires moderation on OpenInference. Your input was flagged for "violence".', "content_filter"),
    (400, "Input data may contain inappropriate content.", "content_filter"),
    (400, "The response was filtered due to the prompt triggering the content management policy.", "content_filter"),
    (400, "insufficient balance (1008)", "quota"),
    (429, "You exceeded your current quota, please check your plan and billing details.", "quota"),
    (400, "Your credit balance is too low to access the Anthropic API.", "quota"),
    (400, "This request requires more credits, or fewer max_tokens.", "quota"),
    (400, "Access denied, please make sure your account is in good standing.", "quota"),
    (403, "The request failed because your account has an overdue balance.", "quota"),
    (403, "You've reached your usage limit for this billing cycle", "quota"),
    (400, "API key not valid. Please pass a valid API key.", "auth"),
    (400, "Incorrect API key provided: sk-...", "auth"),
    (503, "llm server loading model", "loading"),
    (503, "Model org/small-7b is currently loading", "loading"),
    (500, "the model is still being loaded, come back later", "loading"),
    (503, "The engine is starting", "loading"),
    (503, "the service is still warming up", "loading"),
    (503, "Model not ready", "loading"),
    (500, "error loading model: not enough memory", "http_5xx"),
    (500, "failed loading model", "http_5xx"),
    (400, "no model is loaded", "http_4xx"),
]

STATED: dict[Failure, tuple[int, ...]] = {
    "missing_choices": (307,),
    "http_4xx": (400, 404),
    "auth": (401, 403),
    "quota": (402,),
    "http_5xx": (408, 409, 499, 529),
    "context_too_long": (413,),
    "http_429": (425, 429),
}


def test_every_failure_has_its_kind_and_its_retry() -> None:
    assert set(FAILURE_KINDS) == set(RETRIES) == set(FAILURES)
    assert all(kind.meaning and kind.remedy for kind in FAILURE_KINDS.values())


@each_row(("status", "document", "failure"), CODED)
def test_a_code_names_the_failure(status: int, document: Any, failure: Failure) -> None:
    reply = read_error(status, json.dumps(document).encode())
    assert (reply.failure, reply.http_status, reply.text) == (failure, status, None)
    assert str(reply.error).startswith(f"HTTP {status}: ")


@each_row(("status", "message", "failure"), WORDED)
def test_a_wording_names_the_failure(status: int, message: str, failure: Failure) -> None:
    reply = read_error(status, json.dumps(error(message, type="invalid_request_error", code=status)).encode())
    assert (reply.failure, reply.error) == (failure, f"HTTP {status}: {message}")


@each_row(("status", "failure"), [(status, failure) for failure, statuses in STATED.items() for status in statuses])
def test_status_names_failure_where_nothing_else_does(status: int, failure: Failure) -> None:
    for body in (b"", b"sorry", json.dumps(error("sorry", type="invalid_request_error")).encode()):
        assert read_error(status, body).failure == failure


@each_row(
    ("failure", "pattern"),
    [(name, one) for table in (TABLES["codes"], TABLES["under_success"]) for name in table for one in table[name]],
)
def test_every_code_has_an_example_that_it_decides(failure: Failure, pattern: str) -> None:
    errors = [find_error(document) for _, document, named in CODED if named == failure]
    assert any(find_failure({failure: (pattern,)}, found.codes) for found in errors if found)


@pytest.mark.parametrize(
    "message",
    [
        "You exceeded your current quota, please check your plan and billing details. Please retry in 36.6s.",
        "Allocated quota exceeded, please increase your quota limit.",
        "Request too large on tokens per min (TPM): Limit 30000, Requested 31000. Your input is too long.",
    ],
)
def test_passing_limit_is_no_used_up_quota(message: str) -> None:
    document = error(message, code="insufficient_quota", status="RESOURCE_EXHAUSTED")
    assert read_error(429, json.dumps(document).encode()).failure == "http_429"


@each_row(
    ("document", "failure", "told"),
    [
        ([error("prompt is too long: 9 tokens > 8 maximum", code=400)], "context_too_long", "prompt"),
        (error("no credits", code=402), "quota", "no credits"),
        (error("slow down", http_code="429"), "http_429", "slow down"),
        ({"object": "error", "message": "bad", "type": "BadRequestError", "code": 400}, "http_4xx", "bad"),
        ({"choices": [{"error": {"code": 503, "message": "gone"}, "message": {"content": "Sa"}}]}, "http_5xx", "gone"),
        ({"error": "out of memory"}, "missing_choices", "out of memory"),
        (base_resp(4711, "who knows"), "missing_choices", "who knows"),
    ],
)
def test_an_error_may_come_with_http_200(document: Any, failure: Failure, told: str) -> None:
    reply = read_error(200, json.dumps(document).encode())
    assert (reply.failure, reply.http_status) == (failure, 200)
    assert str(reply.error).startswith(f"HTTP 200: {told}")


def test_impossible_context_size_is_ignored() -> None:
    nines = "9" * 5000
    assert stated_tokens("longest_context", f"maximum context length is {nines}") is None
    # As JSON it cannot be read either; what stands before the number names the failure.
    reply = read_error(400, f'{{"error": {{"message": "prompt is too long", "n_ctx": {nines}}}}}'.encode())
    assert reply.failure == "context_too_long"


def test_what_the_provider_behind_a_gateway_said_counts() -> None:
    raw = '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}'
    body = json.dumps(error("Provider returned error", code=400, metadata={"raw": raw})).encode()
    reply = read_error(400, body)
    assert reply.failure == "context_too_long"
    assert stated_tokens("longest_context", str(reply.error)) == 8


STATED_CONTEXTS: list[tuple[str, int | None]] = [
    *((message, tokens) for _, message, tokens in TOO_LONG),
    ("This model's maximum context length is 4,096 tokens. However, you requested 4226 tokens", 4096),
    ("the request exceeds the available context size (n_ctx 256)", 256),
    ("Your request exceeded model token limit : 262144 (requested: 269030)", 262144),
    ("Input length 33000 exceeds the maximum length 32768", 32768),
    ("Prompt contains 50000 tokens, too large for model with 32768 maximum context length", 32768),
    ("max_tokens: 9000 > 8192", None),
]


@each_row(("text", "tokens"), STATED_CONTEXTS)
def test_longest_context_is_read_where_error_states_it(text: str, tokens: int | None) -> None:
    assert stated_tokens("longest_context", text) == tokens


def test_llama_cpp_context_size_is_read() -> None:
    document = error("the request exceeds the available context size", type="exceed_context_size_error", n_ctx=256)
    reply = read_error(400, json.dumps(document).encode())
    assert reply.error == "HTTP 400: the request exceeds the available context size (n_ctx 256)"
    assert stated_tokens("longest_context", str(reply.error)) == 256


@pytest.mark.parametrize(
    "document",
    [
        {"choices": [{"message": {"content": "B"}}], "error": None, "base_resp": {"status_code": 0}},
        {"choices": [{"message": {"content": "B"}}], "error": {"code": 0, "message": "", "type": None}},
        [],
        None,
        {"code": 1},
    ],
)
def test_what_states_no_error_is_none(document: Any) -> None:
    assert find_error(document) is None


@each_row(
    ("sent", "described"),
    [
        (b'{"object": "error", "message": "too long"}', "too long"),
        (b'[{"error": {"message": "no such model"}}]', "no such model"),
        (b'{"error": {"code": 4}}', '{"error": {"code": 4}}'),
        (b"[1]", "[1]"),
        (b'{"error": "two\\nlines"}', "two lines"),
        (b"", "an empty body"),
        (b'{"error": "half \\ud83d"}', "half \ufffd"),
        (b"[" * 99_999, "[" * 10_000),
        (json.dumps({"error": {"message": "input length " * 99_999}}).encode(), ("input length " * 770)[:10_000].strip()),
    ],
)
def test_the_servers_own_message_describes_an_error(sent: bytes, described: str) -> None:
    assert describe_error(sent) == described
