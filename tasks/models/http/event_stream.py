"""Join the events of a streamed answer into the one document that is sent where nothing is streamed."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from schemas.documents import read_json
from tasks.models.http.failures import find_error

STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
"""Beginning of an event stream, which may be a comment; no JSON and no page begins so."""

DONE = "[DONE]"
BROKEN_OFF = 502
"""What gateways answer for a server that hung up."""

SHOWN = 200
"""Characters of the last event, where the stream broke off."""


def join_events(body: bytes) -> bytes:
    """Return an answer's body as if it had not been streamed; one that is no event stream as it is.

    Texts of the chunks are joined, of usage, model and the like the last one counts. The first event with an error is the whole
    answer. Where neither `[DONE]` nor a finish reason came, the answer is an error that says so.
    """
    if not STREAM.match(body):
        return body
    fields: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    message: defaultdict[str, list[Any]] = defaultdict(list)
    data = ""
    try:
        for data in _read_events(body.decode("utf-8-sig")):
            if data == DONE:
                choice.setdefault("finish_reason", None)
                break
            event = read_json(data, lenient=True)
            if find_error(event):
                return data.encode()
            _add(event, fields, choice, message)
    except (ValueError, TypeError, AttributeError):
        pass  # what came until then decides
    if "finish_reason" in choice:
        return _write(fields, choice, message)
    characters = sum(map(len, message["content"]))
    text = f"the event stream broke off after {characters} characters of the reply; its last event: {data[:SHOWN]}"
    return json.dumps({"error": {"code": BROKEN_OFF, "message": text}}).encode()


def _read_events(text: str) -> Iterator[str]:
    """Yield the data of each event; of objects that follow each other without a blank line each is an event."""
    for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        lines = [line[5:].strip(" ") for line in block.split("\n") if line.startswith("data:")]
        are_several = all(line.startswith(("{", DONE)) for line in lines)
        yield from lines if are_several else ["\n".join(lines)]


def _add(event: Any, fields: dict[str, Any], choice: dict[str, Any], message: defaultdict[str, list[Any]]) -> None:
    """Add an event to what came before; of several choices the first counts."""
    first = next((part for part in event.pop("choices", None) or () if not part.get("index")), {})
    if whole := first.pop("message", None):
        message.clear()  # it repeats what came in parts
    delta = {**(whole or first.pop("delta", None) or {}), "logprobs": (first.pop("logprobs", None) or {}).get("content")}
    for name, part in delta.items():
        if part and isinstance(part, str | list):
            message[name].append(part)
    choice |= {name: value for name, value in first.items() if value}
    fields |= {name: value for name, value in event.items() if value is not None}


def _write(fields: dict[str, Any], choice: dict[str, Any], message: Mapping[str, list[Any]]) -> bytes:
    joined = {name: _join(parts) for name, parts in message.items()}
    return json.dumps(
        {**fields, "choices": [{**choice, "message": joined, "logprobs": {"content": joined.get("logprobs")}}]}
    ).encode()


def _join(parts: list[Any]) -> Any:
    """Join texts, or lists between which texts may stand."""
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    lists = ([{"type": "text", "text": part}] if isinstance(part, str) else part for part in parts)
    return list(chain.from_iterable(lists))
