"""Find the JSON object in a model's reply."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from schemas.json_yaml import DEEPEST
from tasks.text.reasoning import strip_reasoning

_DECODER = json.JSONDecoder(strict=False)
"""Lets line breaks stand in a text: models write them, and they leave no doubt about what is meant."""

_START = re.compile(r'\{\s*"')
_FENCE = re.compile(r"```(?:json)?\s*+(.*?)```", re.DOTALL | re.IGNORECASE)


def read_object(text: str | None) -> Mapping[str, Any] | None:
    """Return the JSON object of a reply: its whole text, else a fenced block, else what the outermost braces hold.

    Raw line breaks in strings are mended; of a list the first object counts. Empty if there is none, null if no reply came.
    """
    if text is None:
        return None
    for candidate in _candidates(text):
        try:
            value = _DECODER.decode(candidate)
        except (ValueError, RecursionError):
            continue
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, dict):
                return one
    return {}


def objects_from_end(text: str, decoder: json.JSONDecoder = _DECODER) -> Iterator[Any]:
    """Yield the complete JSON objects that have a key, as the decoder gives them, the one that begins last first.

    After DEEPEST in a row that are not complete it ends: what holds them is nested too deep to be meant.
    """
    # Behind the last brace that closes nothing is complete: a reply that opens objects without end costs no time.
    failed = 0
    for start in reversed([found.start() for found in _START.finditer(text, 0, text.rfind("}") + 1)]):
        try:
            yield decoder.raw_decode(text, start)[0]
            failed = 0
        except (ValueError, RecursionError):
            failed += 1
            if failed > DEEPEST:
                return


def _candidates(text: str) -> Iterator[str]:
    if text.lstrip()[:1] in ("{", "["):
        yield text
    answer = strip_reasoning(text)
    yield from _FENCE.findall(answer)
    yield answer[answer.find("{") : answer.rfind("}") + 1]
