"""Lines of results in the forms of OpenAI, vLLM, Anthropic and Gemini, read as the answers of a server and matched to calls."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple

from schemas.chat import ModelEntry
from schemas.json_yaml import read_json, require_short
from schemas.vocabulary import PaidAs
from tasks.models.batches.store import Outcome
from tasks.models.http.failures import LONGEST_ERROR, read_error
from tasks.models.http.parse_reply import read_completion
from tasks.models.journal.table import JournalRow, write_reply

ANTHROPIC_STATUS: Mapping[str, int] = {
    "invalid_request_error": HTTPStatus.BAD_REQUEST,
    "authentication_error": HTTPStatus.UNAUTHORIZED,
    "billing_error": HTTPStatus.PAYMENT_REQUIRED,
    "permission_error": HTTPStatus.FORBIDDEN,
    "not_found_error": HTTPStatus.NOT_FOUND,
    "request_too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "rate_limit_error": HTTPStatus.TOO_MANY_REQUESTS,
}
"""Anthropic's types of errors as it sends them to live calls; what is not here is a fault of the server."""

NEVER_RAN = 0
"""Status of a call that the provider did not make."""

RPC_STATUS: Mapping[int, int] = {1: NEVER_RAN, 3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 16: 401}
"""Codes of gRPC, which errors of Gemini have where they have no HTTP status; what is not here is a fault of the server."""

VLLM = "vllm-"
"""Beginning of the ids that vLLM gives to the lines of its output."""

PASSING = {"http_429", "http_5xx"}
"""Failures that are the provider's: the call is still to be asked."""


class Result(NamedTuple):
    """A line of results: the id of its call, an HTTP status, the body in OpenAI's form, and how it was paid."""

    key: str
    status: int
    body: bytes
    paid_as: PaidAs


def _read_result(fields: Mapping[str, Any]) -> Result:
    """Return what a line says of a call; KeyError, TypeError, AttributeError: it is of another form."""
    is_ours, paid_as = "custom_id" in fields, "batch"
    key = fields["custom_id" if is_ours else "key"]
    if not is_ours:
        status, body = _read_gemini(fields)
    elif "result" in fields:
        status, body = _read_anthropic(fields["result"])
    else:
        response = fields["response"] or {"status_code": NEVER_RAN, "body": None}
        status, body = response["status_code"] or NEVER_RAN, response["body"]
        body = {"error": _inner(fields.get("error"))} if body is None else body
        name = fields.get("id")
        paid_as = "batch" if isinstance(name, str) and not name.startswith(VLLM) else "file"
    if not (isinstance(key, str) and isinstance(status, int)):
        raise TypeError("an id is text, a status a number")
    return Result(key, status, json.dumps(body).encode(), paid_as)  # type: ignore[arg-type]


def _inner(error: Any) -> Any:
    """Return an error without the object that has it as its `error`."""
    return error.get("error") or error if isinstance(error, dict) else error


def _read_anthropic(result: Mapping[str, Any]) -> tuple[int, Any]:
    kind = result["type"]
    if kind == "errored":
        error = _inner(result.get("error")) or {}
        return ANTHROPIC_STATUS.get(str(error.get("type")), HTTPStatus.INTERNAL_SERVER_ERROR), {"error": error}
    if kind != "succeeded":
        return NEVER_RAN, {"canceled": "", "expired": ""}[kind]
    message = result["message"]
    usage = message.get("usage") or {}
    counts = [usage[name] or 0 for name in usage if name.endswith("input_tokens")] or None
    return HTTPStatus.OK, {
        "model": message["model"],
        "choices": [{"message": {"content": message["content"]}, "finish_reason": message["stop_reason"]}],
        "usage": {"prompt_tokens": counts and sum(counts), "completion_tokens": usage.get("output_tokens")},
    }


def _read_gemini(fields: Mapping[str, Any]) -> tuple[int, Any]:
    if error := fields.get("error"):
        code = error.get("code")
        is_http = isinstance(code, int) and code >= HTTPStatus.BAD_REQUEST
        return code if is_http else RPC_STATUS.get(code, HTTPStatus.INTERNAL_SERVER_ERROR), {"error": error}
    response = fields["response"]
    usage = response.get("usageMetadata") or {}
    counts = [usage[name] for name in ("candidatesTokenCount", "thoughtsTokenCount") if usage.get(name) is not None]
    # A prompt that the filter stopped has no candidate.
    blocked = {"finishReason": (response.get("promptFeedback") or {}).get("blockReason") and "content_filter"}
    candidate = (response.get("candidates") or [blocked])[0]
    parts = (candidate.get("content") or {}).get("parts") or []
    return HTTPStatus.OK, {
        "model": response.get("modelVersion"),
        "choices": [{"message": {"content": parts}, "finish_reason": candidate.get("finishReason")}],
        "usage": {"prompt_tokens": usage.get("promptTokenCount"), "completion_tokens": sum(counts) if counts else None},
    }


def read_lines(
    lines: Iterable[bytes],
    calls: Mapping[str, JournalRow],
    entry: ModelEntry | None = None,
    known: Mapping[str, JournalRow] | None = None,
) -> Outcome:
    """Match lines of output and error files, in any order, to the calls to which replies are taken, by key.

    `entry` is the model of a job of ours; null: the lines themselves say how they were paid. `known` are the calls that the lines
    may be about, by default `calls`.
    """
    outcome, seen = Outcome(), dict[str, Result]()
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    for line in lines:
        rule = "line_is_whole" if line.startswith(b"{") else "line_is_json"
        fields: Any = None
        try:
            require_short(line)
            fields = read_json(line, lenient=True)
            rule = "form_is_known"
            result = _read_result(fields)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            outcome.rules[rule] += 1
            outcome.is_whole = False
            if rule == "form_is_known" and not outcome.unknown_form:
                outcome.unknown_form = ", ".join(fields)[:200] if isinstance(fields, dict) else type(fields).__name__
            continue
        key = result.key
        if key not in (known or calls):
            outcome.rules["unknown_id"] += 1
        elif seen.setdefault(key, result)[:3] != result[:3]:
            outcome.rules["duplicate_id"] += 1
        elif key in calls:
            _take(outcome, calls[key]._replace(created=now), result, entry)
    return outcome


def _take(outcome: Outcome, call: JournalRow, result: Result, entry: ModelEntry | None) -> None:
    if result.status == NEVER_RAN:
        outcome.free.add(call.key)
        return
    if result.status == HTTPStatus.OK:
        strict, model = bool(entry and entry.require_same_model), read_json(call.request)["model"]
        reply = read_completion(result.body, result.status, model=model, require_same_model=strict)
    else:
        reply = read_error(result.status, result.body)
    error = reply.error and reply.error[:LONGEST_ERROR]
    reply = replace(reply, error=error, latency_s=None, paid_as="batch" if entry else result.paid_as)
    if reply.failure in PASSING:
        outcome.free.add(call.key)
    elif reply.failure is None:
        outcome.rows[call.key] = call._replace(reply=write_reply(reply))
    else:
        outcome.failed[call.key] = reply
