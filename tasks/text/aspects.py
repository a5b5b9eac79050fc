"""Read and format summaries by the five aspects of a counselling report."""

from collections.abc import Sequence
from typing import Any

from schemas.context import ASPECTS
from tasks.text.json_objects import objects_from_end
from tasks.text.reasoning import strip_reasoning


def read_aspects(reply: str) -> dict[str, str] | None:
    """Return the five aspects of a reply that is asked for as a JSON object with the keys `ASPECTS`, in that order.

    The object may stand in a fence or bare, among other words or in another object; of several, the last complete one counts.
    What the model thought is left out. A list of texts is joined by spaces, other keys are ignored.

    Returns:
        Aspect to text; null if no object has all five, each a text or a list of texts.
    """
    for value in objects_from_end(strip_reasoning(reply)):
        texts = {aspect: text for aspect in ASPECTS if (text := _join(value.get(aspect))) is not None}
        if len(texts) == len(ASPECTS):
            return texts
    return None


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
