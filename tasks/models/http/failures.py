"""List the ways a call can fail, with retries and remedies, and name the one that a server's error is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

from schemas.chat import ChatReply
from schemas.json_yaml import read_json
from schemas.vocabulary import Failure
from tasks.models.http.error_patterns import (
    PASSING,
    TABLES,
    find_failure,
    is_reply_limit,
    stated_tokens,
)
from tasks.text.backoff import Retry


@dataclass(frozen=True)
class FailureKind:
    """One kind of failure, in words for the user; `retry` says how often it is tried and after which pauses."""

    meaning: str
    retry: Retry
    remedy: str


FAILURE_KINDS: Mapping[Failure, FailureKind] = {
    failure: FailureKind(kind["meaning"], Retry(**kind.get("retry", {"attempts": 1})), kind["remedy"])
    for failure, kind in TABLES["kinds"].items()
}
"""The one table of failures, of data/failures.yaml; docs/failures.md shows it."""

RETRIES: Mapping[Failure, Retry] = {failure: kind.retry for failure, kind in FAILURE_KINDS.items()}

STATUSES: Mapping[int, Failure] = TABLES["statuses"]
"""What a status means where neither code nor message of the error says more."""

BUDGET_SPENT = "not sent: the budget of this run is spent; run again with a larger one"

LONGEST_ERROR = 400
"""Characters of an error that are kept."""

LONGEST_MESSAGE = 10_000
"""Characters of an error that are looked at: patterns take the square of them."""

SUCCESS, REDIRECT = 2, 3
"""Hundreds of a status."""

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
    if status // 100 == REDIRECT:
        told = f"a redirect, which is not followed: {told}"
    elif (limit := re.search(r'"n_ctx": ?(\d{1,9})\b', body.decode("utf-8", "replace"))) and stated_tokens(
        "longest_context", told
    ) is None:
        told = f"{told} (n_ctx {limit[1]})"
    return ChatReply(failure=name_failure(status, error), error=f"HTTP {status}: {told}", http_status=status)


def name_failure(status: int, error: ServerError) -> Failure:
    """Name the failure that an error is; a success whose body states no HTTP status of its own is `missing_choices`."""
    meant = error.status if status // 100 == SUCCESS and error.status is not None else status
    if meant == HTTPStatus.TOO_MANY_REQUESTS and PASSING.search(error.message):
        return "http_429"
    failure = find_failure(TABLES["codes"], error.codes) or find_failure(TABLES["messages"], [error.message], whole=False)
    if meant // 100 not in HUNDREDS:
        failure = failure or find_failure(TABLES["under_success"], error.codes)
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
        return ServerError((f"base_resp {base['status_code']}",), str(base.get("status_msg") or "")[:LONGEST_MESSAGE])
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
