"""From the body of an OpenAI-compatible server's answer to a reply."""

import json
import re
from typing import Any

from schemas.chat import ChatReply

LONGEST_ERROR = 500
THINKING = re.compile(r"(?s)^\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*")
THINKING_WITHOUT_START = re.compile(r"(?s)^(.*?)</think(?:ing)?>\s*")
UNFINISHED_THINKING = re.compile(r"(?s)^\s*<think(?:ing)?>(.*)$")


def read_completion(body: bytes) -> ChatReply:
    """The reply in the body of a `200`.

    Returns:
        A reply with text, or with failure `malformed_reply` (no JSON, no choices) or `empty_reply` (null or blank content).
    """
    try:
        document = json.loads(body)
        choice = document["choices"][0]
        message = choice["message"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        got = body[:LONGEST_ERROR].decode("utf-8", "replace")
        return ChatReply(failure="malformed_reply", error=f"{type(error).__name__} in {got!r}", http_status=200)
    reasoning, text = split_reasoning(_text_of(message.get("content")))
    usage = document.get("usage") or {}
    known: dict[str, Any] = {
        "reasoning": message.get("reasoning_content") or message.get("reasoning") or reasoning,
        "finish_reason": choice.get("finish_reason"),
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "http_status": 200,
    }
    if not text.strip():
        return ChatReply(failure="empty_reply", error=f"no text, finish_reason {known['finish_reason']}", **known)
    return ChatReply(text=text, **known)


def split_reasoning(content: str) -> tuple[str | None, str]:
    """Reasoning and answer of a reply that carries both in its text.

    Some chat templates put the opening tag into the prompt, so a closing tag alone ends the reasoning too; a block that was cut
    off before its end is all reasoning and no answer.
    """
    for pattern in (THINKING, THINKING_WITHOUT_START):
        if found := pattern.match(content):
            return found[1].strip() or None, content[found.end() :]
    if found := UNFINISHED_THINKING.match(content):
        return found[1].strip() or None, ""
    return None, content


def describe_error(body: bytes) -> str:
    """The server's own message about a refused request, shortened."""
    text = body.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        text = error["message"] if isinstance(error, dict) else str(error)
    except (ValueError, KeyError, TypeError):
        pass  # not the usual form: the body as it is says most
    return str(text)[:LONGEST_ERROR]


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
