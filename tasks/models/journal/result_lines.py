"""Lines of a batch's results in the forms of OpenAI, vLLM and Anthropic, read as the answers of a server."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

ERROR_STATUS: Mapping[str, int] = {
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


def read_result(fields: Mapping[str, Any]) -> tuple[str, int, bytes]:
    """Return the id of a call, its HTTP status and the body in OpenAI's form.

    Raises:
        KeyError, TypeError, AttributeError: the line is of another form.
    """
    if "result" in fields:
        return fields["custom_id"], *_read_anthropic(fields["result"])
    response = fields["response"] or {"status_code": NEVER_RAN, "body": None}
    body = {"error": fields.get("error")} if response["body"] is None else response["body"]
    return fields["custom_id"], response["status_code"], json.dumps(body).encode()


def _read_anthropic(result: Mapping[str, Any]) -> tuple[int, bytes]:
    kind = result["type"]
    if kind == "errored":
        error = result.get("error") or {}
        error = error.get("error") or error
        return ERROR_STATUS.get(str(error.get("type")), HTTPStatus.INTERNAL_SERVER_ERROR), json.dumps({"error": error}).encode()
    if kind != "succeeded":
        return NEVER_RAN, {"canceled": b"", "expired": b""}[kind]
    message = result["message"]
    usage = message.get("usage") or {}
    counts = [usage[name] or 0 for name in usage if name.endswith("input_tokens")] or None
    body = {
        "model": message["model"],
        "choices": [{"message": {"content": message["content"]}, "finish_reason": message["stop_reason"]}],
        "usage": {"prompt_tokens": counts and sum(counts), "completion_tokens": usage.get("output_tokens")},
    }
    return HTTPStatus.OK, json.dumps(body).encode()
