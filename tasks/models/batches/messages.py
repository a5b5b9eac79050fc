"""The body of a chat completion as Anthropic's Messages API takes it."""

from collections.abc import Mapping
from typing import Any

VERSION = "1"
"""Bumped when the same body is converted otherwise; it is part of the endpoint's identity."""

SAME = ("model", "temperature", "top_p")
LIMITS = ("max_tokens", "max_completion_tokens")
KNOWN = {*SAME, *LIMITS, "messages", "stop"}


def messages_identity(base_url: str) -> str:
    """Return the identity of the Messages API at a base URL, as these calls reach it."""
    return f"{base_url.rstrip('/')}/messages, conversion {VERSION}"


def without_counterpart(body: Mapping[str, Any]) -> list[str]:
    """Return the parameters of a body that the Messages API does not have: such a call cannot be sent there."""
    return sorted(body.keys() - KNOWN)


def to_messages(body: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the body of a chat completion; system messages become the one system text."""
    turns = body["messages"]
    system = "\n\n".join(turn["content"] for turn in turns if turn["role"] == "system")
    stop = body.get("stop")
    return {
        **{name: body[name] for name in SAME if name in body},
        "max_tokens": next(body[name] for name in LIMITS if name in body),
        "messages": [turn for turn in turns if turn["role"] != "system"],
        **({"system": system} if system else {}),
        **({"stop_sequences": [stop] if isinstance(stop, str) else stop} if stop else {}),
    }
