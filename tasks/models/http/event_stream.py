"""Join the events of a streamed answer into the one document that is sent where nothing is streamed."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from schemas.json_yaml import read_json
from tasks.models.http.failures import find_error

STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
"""How an event stream begins, perhaps with a comment; JSON and pages never do."""

LINES = re.compile(rb"\s*\{[^\n]*\}\r?\n\s*\{")
OF_OLLAMA = "JSON line by line, as the native API of Ollama streams it, and not the OpenAI-compatible one below /v1"

DONE = "[DONE]"
ERROR_EVENT = re.compile(r"^event: ?error$", re.MULTILINE)
BROKEN_OFF = 502
"""What gateways answer for a server that hung up."""


def join_events(body: bytes) -> bytes:
    """Return the body of an answer as if it had not been streamed; if it is no event stream, return it as it is.

    Texts in the chunks of the first choice are joined. Of usage, model and the like the last one counts. The first event with an
    error is the whole answer. Where neither `[DONE]` nor a finish reason came, the answer is an error that says so.
    """
    if LINES.match(body):
        return json.dumps({"error": f"{OF_OLLAMA}: {body.decode('utf-8', 'replace')}"}).encode()
    if not STREAM.match(body):
        return body
    document: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    parts: defaultdict[str, list[Any]] = defaultdict(list)
    data = ""
    with suppress(ValueError, TypeError, AttributeError):  # at an event that cannot be read what came before counts
        for data in _read_events(body.decode("utf-8-sig", "replace")):
            if data == DONE:
                choice.setdefault("finish_reason", None)
                break
            event = read_json(data, lenient=True)
            if find_error(event):
                return data.encode()
            first: dict[str, Any] = next((other for other in event.pop("choices", None) or () if not other.get("index")), {})
            if whole := first.pop("message", None):
                parts.clear()  # it repeats what came in parts
            delta = whole or first.pop("delta", None) or {}
            logprobs = first.pop("logprobs", None)
            tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
            for name, part in (*delta.items(), ("logprobs", tokens)):
                if part and isinstance(part, str | list):
                    parts[name].append(part)
            choice |= {name: value for name, value in first.items() if value}
            document |= {name: value for name, value in event.items() if value is not None}
    if "finish_reason" not in choice:
        characters = sum(map(len, parts["content"]))
        text = f"the event stream broke off after {characters} characters of the reply; its last event: {data}"
        return json.dumps({"error": {"code": BROKEN_OFF, "message": text}}).encode()
    message = {name: _join(parts[name]) for name in parts}
    choices = [{**choice, "message": message, "logprobs": {"content": message.get("logprobs")}}]
    return json.dumps({**document, "choices": choices}).encode()


def _read_events(text: str) -> Iterator[str]:
    """Yield the data of each event; of objects that follow each other without a blank line each is an event.

    After an event of type `error` comes one whose data states that error, in case its own data does not.
    """
    for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        lines = [line[5:].strip(" ") for line in block.split("\n") if line.startswith("data:")]
        are_several = all(line.startswith(("{", DONE)) for line in lines)
        yield from filter(None, lines if are_several else ["\n".join(lines)])
        if ERROR_EVENT.search(block):
            yield json.dumps({"error": {"code": BROKEN_OFF, "message": "\n".join(lines)}})


def _join(parts: list[Any]) -> Any:
    """Join texts, or lists between which texts may stand."""
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    return list(chain.from_iterable([{"type": "text", "text": part}] if isinstance(part, str) else part for part in parts))
