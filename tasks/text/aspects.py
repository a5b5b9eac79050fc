"""Read and format summaries by the five aspects of a counselling report."""

import json
import re
from collections.abc import Sequence
from typing import Any

from schemas.context import ASPECTS

_DECODER = json.JSONDecoder(strict=False)
"""Lets line breaks stand in a text: models write them, and they leave no doubt about what is meant."""


def read_aspects(reply: str) -> dict[str, str] | None:
    """Return the five aspects of a reply that is asked for as a JSON object with the keys `ASPECTS`, in that order.

    The object may stand in a fence or bare, among other words or in another object; of several, the last complete one counts.
    Thoughts before the last `</think>`, or after a `<think>` that is never closed, are left out. A list of texts is joined by
    spaces, other keys are ignored.

    Returns:
        Aspect to text; null if no object has all five, each a text or a list of texts.
    """
    said = reply.rpartition("</think>")[2].partition("<think>")[0]
    for brace in reversed(list(re.finditer(r"\{", said))):
        if aspects := _read_object(said, brace.start()):
            return aspects
    return None


def _read_object(text: str, start: int) -> dict[str, str] | None:
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    # What begins with a brace is an object.
    texts = {aspect: _join(value.get(aspect)) for aspect in ASPECTS}
    known = {aspect: text for aspect, text in texts.items() if text is not None}
    return known if len(known) == len(ASPECTS) else None


def _join(value: Any) -> str | None:
    parts = value if isinstance(value, list) else [value]
    return " ".join(parts) if all(isinstance(part, str) for part in parts) else None


def format_aspects(texts: Sequence[str]) -> str:
    """Return five lines, one per aspect with its name in front, in the order of `ASPECTS`.

    White space inside a text becomes single spaces, so that no text can look like another aspect.

    Raises:
        ValueError: if there are not five texts.
    """
    return "\n".join(f"{aspect}: {' '.join(text.split())}" for aspect, text in zip(ASPECTS, texts, strict=True))
