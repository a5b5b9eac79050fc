"""Read values of a person's record and of a model's reply as AttuneBench's scorer reads them."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from tasks.benchmarks.attunebench.datasets.codebook import load_codebook

LABELS = {"alternate1": "alternate", "alternate2": "human", **{label: label for label in ("original", "alternate", "human")}}
"""Labels of compared replies by all their spellings."""

_SIDES = {"a": "A", "response_a": "A", "response_1": "A", "b": "B", "response_b": "B", "response_2": "B"}


def read_number(value: Any) -> float | None:
    """Return a number, also one that is written as text; null if it is none, or not finite."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def read_scale(value: Any) -> int | None:
    """Return a number rounded into 1 to 7; null if it is none."""
    number = read_number(value)
    return None if number is None else min(max(round(number), 1), 7)


def read_side(value: Any, label_a: str, label_b: str) -> str | None:
    """Return the side that a letter, a number or the label of its reply stands for, `A` or `B`; null if it is neither."""
    name = str(value).strip().lower()
    return _SIDES.get(name) or {label_a: "A", label_b: "B"}.get(LABELS.get(name, name))


def panas_items(value: object) -> dict[str, object]:
    """Return the value of each of the twenty adjectives, in any case, in an object or under its `responses` or `items`."""
    whole = value if isinstance(value, Mapping) else {}
    parts = (whole, *(part for name in ("items", "responses") if isinstance(part := whole.get(name), Mapping)))
    by_name = {str(name).strip().lower(): item for part in parts for name, item in part.items()}
    return {name: by_name[name] for name in load_codebook().adjectives if name in by_name}
