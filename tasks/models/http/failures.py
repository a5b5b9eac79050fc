"""List the ways a call can fail, with retries and remedies, and name the one that a server's error is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

import httpx

from schemas.chat import ChatReply
from schemas.json_yaml import read_json
from schemas.vocabulary import Failure
from tasks.models.http.error_patterns import (
    BASE_RESPONSE,
    CODES,
    MESSAGES,
    PASSING,
    UNDER_SUCCESS,
    find_failure,
    is_reply_limit,
    read_max_context,
)
from tasks.text.backoff import Retry


@dataclass(frozen=True)
class FailureKind:
    """One kind of failure, in words for the user; `retry` says how often it is tried and after which pauses."""

    meaning: str
    retry: Retry
    remedy: str


# A request that got lost or a server that restarts: seconds are enough.
SOON = Retry(attempts=3, first_delay_s=0.5, longest_delay_s=4)
# Each attempt may take minutes already; a second one covers a request that got lost.
SLOW = Retry(attempts=2, first_delay_s=1, longest_delay_s=4)
# The same question mostly gets the same answer, and each is paid for; a second try catches a provider's hiccup.
ONCE_MORE = Retry(attempts=2, first_delay_s=0.5, longest_delay_s=4)
# The same call would fail in the same way.
NEVER = Retry(attempts=1)

FAILURE_KINDS: Mapping[Failure, FailureKind] = {
    "connect": FailureKind(
        "no server answered, or the connection closed before the answer",
        Retry(attempts=4, first_delay_s=0.5, longest_delay_s=4),
        "start the server, or check base_url",
    ),
    "tls": FailureKind(
        "the server's certificate is not trusted, or the encrypted connection failed",
        NEVER,
        "check base_url and the clock; set SSL_CERT_FILE for a private authority",
    ),
    "timeout_connect": FailureKind(
        "no connection within connect_timeout_s", SLOW, "check the network and base_url, raise connect_timeout_s"
    ),
    "timeout_first_byte": FailureKind(
        "the answer did not begin within first_byte_timeout_s", SLOW, "raise first_byte_timeout_s or lower concurrency"
    ),
    "timeout_total": FailureKind(
        "the answer was not complete within timeout_s",
        SLOW,
        "raise timeout_s, lower concurrency or max_tokens",
    ),
    "auth": FailureKind(
        "the key is missing, wrong, or may not use the model (HTTP 401, 403)",
        NEVER,
        "set the variable that api_key_env names; check what the key may use",
    ),
    "quota": FailureKind(
        "the account has no credit left, or has reached its limit (HTTP 402, or 403 and 429 that say so)",
        NEVER,
        "top up the account or raise its limit, then run again",
    ),
    "context_too_long": FailureKind(
        "the item is longer than the model's context (HTTP 413, or 400 that says so)",
        NEVER,
        "choose --set too_long=cut_middle or cut_start, or serve the model with a longer context",
    ),
    "max_tokens_too_large": FailureKind(
        "max_tokens is larger than the server allows, or leaves no room for the prompt (HTTP 400 that says so)",
        NEVER,
        "lower --max-tokens (of a judge or another role ROLE.sampling.max_tokens); the items are not too long",
    ),
    "prompt_cut": FailureKind(
        "the server read only part of the prompt: it counted fewer tokens than a text can have, or one count for all long texts",
        NEVER,
        "enlarge the context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; vLLM: --max-model-len; llama.cpp: -c), then run again",
    ),
    "content_filter": FailureKind(
        "the provider's filter stopped the question or the answer",
        NEVER,
        "none; use another provider for this model, or accept that the item is missing",
    ),
    "http_4xx": FailureKind(
        "the server refuses the request for another reason (any other HTTP 4xx)",
        NEVER,
        "read the error; moodflow models check shows which parameters the model refuses",
    ),
    "http_429": FailureKind(
        "too many requests or tokens in too short a time (HTTP 429, 425)",
        Retry(attempts=8, first_delay_s=1, longest_delay_s=60),
        "run again later; lower concurrency, set requests_per_minute or tokens_per_minute",
    ),
    "http_5xx": FailureKind(
        "the server failed or cut off its answer (HTTP 5xx, 408, 409, 499)",
        Retry(attempts=5, first_delay_s=1, longest_delay_s=30),
        "run again later; check the log if it is your server",
    ),
    "truncated_body": FailureKind(
        "the connection ended in the middle of the answer, or the answer exceeds 16 MiB",
        SOON,
        "run again; check any proxies",
    ),
    "invalid_json": FailureKind(
        "the answer is not JSON (for example a proxy's error page)", SOON, "check that base_url ends in /v1 or similar"
    ),
    "missing_choices": FailureKind(
        "the answer is not a chat completion, or is a redirect (not followed)",
        SOON,
        "check that base_url is the OpenAI-compatible address",
    ),
    "empty_content": FailureKind(
        "a completion without text", ONCE_MORE, "run again; look at one answer with moodflow models check"
    ),
    # It stopped at max_tokens, and would again.
    "length": FailureKind(
        "the limit of the reply was reached before the answer began", NEVER, "raise max_tokens or lower reasoning_effort"
    ),
    # It depends on how the server was started, and each try is paid for.
    "reasoning_only": FailureKind(
        "the whole reply is reasoning, usually because the server's reasoning parser also took the answer",
        NEVER,
        "start the server with the reasoning parser of this model, or without one",
    ),
    "tool_call": FailureKind(
        "a tool call instead of text, though no tools are offered",
        ONCE_MORE,
        "turn off the server's tool-call parser, or accept that the item is missing",
    ),
    # A gateway may send the next call to the right one.
    "wrong_model": FailureKind(
        "the server names a different model than the one asked, and require_same_model is set",
        SOON,
        "check the name with moodflow models list; pin the provider or the version",
    ),
    "budget": FailureKind("not sent: the budget of the run is spent", NEVER, "raise budget or --budget-tokens and run again"),
    "waiting": FailureKind(
        "not sent: it waits in a batch of the provider",
        NEVER,
        "run the same command again when the batch has ended; moodflow batches list shows them",
    ),
    "not_in_file": FailureKind(
        "not sent: the replies come from a file, which has none to this call",
        NEVER,
        "add the row to the file; moodflow replies template writes every row that is needed",
    ),
    # Large weights take minutes.
    "loading": FailureKind(
        "the server is still loading its model",
        Retry(attempts=20, first_delay_s=1, longest_delay_s=30),
        "run again when the model is loaded; check the server's log",
    ),
}
"""The one table of failures; docs/failures.md shows it."""

RETRIES: Mapping[Failure, Retry] = {failure: kind.retry for failure, kind in FAILURE_KINDS.items()}

STATUSES: Mapping[int, Failure] = {
    HTTPStatus.UNAUTHORIZED: "auth",
    HTTPStatus.PAYMENT_REQUIRED: "quota",
    HTTPStatus.FORBIDDEN: "auth",
    HTTPStatus.REQUEST_TIMEOUT: "http_5xx",
    HTTPStatus.CONFLICT: "http_5xx",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "context_too_long",
    HTTPStatus.TOO_EARLY: "http_429",
    HTTPStatus.TOO_MANY_REQUESTS: "http_429",
    499: "http_5xx",  # nginx and Gemini: the call was given up in between
}
"""What a status means where neither code nor message of the error says more."""

LONGEST_MESSAGE = 10_000
"""Characters of an error that are looked at: patterns take the square of them."""

HUNDREDS: Mapping[int, Failure] = {4: "http_4xx", 5: "http_5xx"}


class ServerError(NamedTuple):
    """An error as a server states it: codes, types and the like in `codes`, and the HTTP status its body speaks of."""

    codes: tuple[str, ...]
    message: str
    status: int | None = None


def read_error(status: int, body: bytes) -> ChatReply:
    """Read the failure in an answer that is not a success, or whose body is an error nevertheless, as some gateways send it.

    Codes of the error decide, then wordings of its message, then the status. The error's text is on one line and not shortened.
    """
    error = _error_in(body) or ServerError((), body[:LONGEST_MESSAGE].decode("utf-8", "replace"))
    told = describe_error(body)
    if httpx.codes.is_redirect(status):
        told = f"a redirect, which is not followed: {told}"
    elif (limit := re.search(r'"n_ctx": ?(\d{1,9})\b', body.decode("utf-8", "replace"))) and read_max_context(told) is None:
        told = f"{told} (n_ctx {limit[1]})"
    return ChatReply(failure=name_failure(status, error), error=f"HTTP {status}: {told}", http_status=status)


def name_failure(status: int, error: ServerError) -> Failure:
    """Name the failure that an error is; a success whose body states no HTTP status of its own is `missing_choices`."""
    meant = error.status if httpx.codes.is_success(status) and error.status is not None else status
    if meant == HTTPStatus.TOO_MANY_REQUESTS and PASSING.search(error.message):
        return "http_429"
    failure = find_failure(CODES, error.codes) or find_failure(MESSAGES, [error.message], whole=False)
    if meant // 100 not in HUNDREDS:
        failure = failure or find_failure(UNDER_SUCCESS, error.codes)
    if failure in {None, "context_too_long"} and is_reply_limit(error.message):
        return "max_tokens_too_large"
    return failure or STATUSES.get(meant) or HUNDREDS.get(meant // 100, "missing_choices")


def find_error(document: Any) -> ServerError | None:
    """Return the error that a JSON document states, or null.

    Forms: `{"error": {...}}` or `{"error": "..."}`, in a list (Gemini), in a choice (OpenRouter), flat with `"object": "error"`
    or a code and a message (SGLang, DashScope), and `{"base_resp": {"status_code": ...}}` (MiniMax).
    """
    if isinstance(document, list):
        return next((error for error in map(find_error, document) if error), None)
    if not isinstance(document, dict):
        return None
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    error = document.get("error") or (choice.get("error") if isinstance(choice, dict) else None)
    base = document.get("base_resp")
    if isinstance(error, dict) and any(error.values()):
        return _read_error(error)
    if error and not isinstance(error, dict):
        return ServerError((), str(error)[:LONGEST_MESSAGE])
    if isinstance(base, dict) and base.get("status_code"):
        return ServerError((f"{BASE_RESPONSE}{base['status_code']}",), str(base.get("status_msg") or "")[:LONGEST_MESSAGE])
    return _read_error(document) if choices is None and isinstance(document.get("message"), str) else None


def describe_error(body: bytes) -> str:
    """Return the server's own message about a request it refused, on one line; the body if it is not in the usual form."""
    error = _error_in(body)
    text = error.message if error and error.message else body[:LONGEST_MESSAGE].decode("utf-8", "replace")
    return " ".join(whole_text(text).split()) or "an empty body"


def whole_text(text: str) -> str:
    """Return a text without halves of surrogate pairs, which JSON may hold and no file can store."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _error_in(body: bytes) -> ServerError | None:
    try:
        return find_error(read_json(body.decode("utf-8", "replace"), lenient=True))
    except ValueError:
        return None


def _read_error(error: dict[str, Any]) -> ServerError:
    message = error.get("message")
    metadata, inner = error.get("metadata"), error.get("innererror")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    # What the provider behind a gateway said.
    text = " ".join(part[:LONGEST_MESSAGE] for part in (message, raw) if isinstance(part, str))
    values = [error.get(name) for name in ("code", "type", "status")]
    values.append(inner.get("code") if isinstance(inner, dict) else None)
    codes = tuple(str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool))
    statuses = (str(error.get(name)) for name in ("code", "http_code", "status"))
    return ServerError(codes, text, next((int(status) for status in statuses if re.fullmatch(r"[45]\d\d", status)), None))
