"""Read the values in the JSON of replies to AttuneBench's calls.

No reply is refused: a call that failed is null, and a reply without JSON is an object without keys, all of it unread.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from tasks.benchmarks.attunebench.conversation import POST, Comparison
from tasks.benchmarks.attunebench.datasets.codebook import load_codebook, panas_items, read_number, read_scale, read_side

Reply = Mapping[str, Any]
"""The object that a reply holds; null in its place = the call failed."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "draft": ("drafted_response",),
    "judge": ("draft_binary_assessment",),
    "review": ("emotion_tags", "binary_om_assessment", "binary_human_prediction"),
    "hp_binary": ("binary_om_assessment", "binary_human_prediction"),
    "pairwise": ("pairwise_selections",),
    POST: ("conversation_wide",),
}
"""Keys of each call's reply. That of `post` also has the twenty items, under ITEMS, or their changes, under CHANGES."""

ITEMS, CHANGES = "post_panas", "panas_changes"
RATINGS = ("overall_score", "emotional_appropriateness", "helpfulness", "tone_match")
"""A judge's, of a draft next to the person's own edit; 1 to 7."""

ANY_REPLY: Reply = {"drafted_response": "", RATINGS[0]: 1, "draft_binary_assessment": {"": "no"}}
"""A reply that can be scored, whatever the call."""

Tags = list[tuple[str, int | None]]
"""Emotions and their intensities, 1 to 7; null = none given."""

_WORDS = {
    **dict.fromkeys(("yes", "true", "y", "1"), "yes"),
    **dict.fromkeys(("no", "false", "n", "0"), "no"),
    **dict.fromkeys(("na", "n/a", "n-a"), "na"),
}


def missing_keys(part: str, reply: Reply) -> tuple[str, ...]:
    """Return the required keys that the reply of a part lacks; `intensity` stands for that of an emotion."""
    call = part.rpartition(" ")[2]
    lacking = tuple(key for key in REQUIRED[call] if key not in reply)
    if any(intensity is None for _, intensity in read_tags(reply.get("emotion_tags")) or ()):
        return ("intensity", *lacking)
    return lacking if call != POST or ITEMS in reply or CHANGES in reply else (ITEMS, *lacking)


def is_unread(part: str, reply: Reply) -> bool:
    """Return whether the reply of a part lacks a required key; one of a judge, whether it has neither rating nor assessment."""
    if not part.endswith("judge"):
        return bool(missing_keys(part, reply))
    rated = any(read_number(reply.get(name)) is not None for name in RATINGS)
    return not rated and not read_words(reply.get("draft_binary_assessment"))


def read_share(replies: Mapping[str, Reply | None]) -> float | None:
    """Return the share of replies of the model under test, by part, that have all required keys; null if none came."""
    own = {part: reply for part, reply in replies.items() if reply is not None and not part.endswith("judge")}
    return fmean(not missing_keys(part, reply) for part, reply in own.items()) if own else None


def read_words(value: Any) -> dict[str, str]:
    """Return `yes`, `no` or `na` by question id; an answer that is none of them in any spelling is left out."""
    answers = value.items() if isinstance(value, dict) else ()
    return {key: word for key, text in answers if (word := _WORDS.get(str(text).strip().lower()))}


def read_selections(value: Any, comparisons: Sequence[Comparison]) -> dict[str, str]:
    """Return the side, `A` or `B`, by the number of the comparison, from "0"; it may be a letter, a number or a reply's label."""
    texts = {str(number): text for number, text in value.items()} if isinstance(value, dict) else {}
    rows = ((str(number), pair) for number, pair in enumerate(comparisons))
    return {number: side for number, pair in rows if (side := read_side(texts.get(number), pair.label_a, pair.label_b))}


def read_tags(value: Any) -> Tags | None:
    """Return the emotions of a list, duplicates kept, names that are none of the twenty adjectives left out; null if unread."""
    if not isinstance(value, list):
        return None
    objects = (tag if isinstance(tag, dict) else {"emotion": tag} for tag in value)
    tags = ((str(tag.get("emotion")).strip().lower(), read_scale(tag.get("intensity"))) for tag in objects)
    return [(name, intensity) for name, intensity in tags if name in load_codebook().adjectives]


def read_items(reply: Reply, before: Mapping[str, int]) -> dict[str, int]:
    """Return the PANAS items that the reply of `post` predicts, 1 to 7: the items themselves, or `before` and their changes.

    A change of an item that has no value before is unread.
    """
    items = panas_items(reply.get(ITEMS, reply.get(CHANGES)))
    numbers = {name: number for name, value in items.items() if (number := read_number(value)) is not None}
    if ITEMS not in reply:
        numbers = {name: before[name] + change for name, change in numbers.items() if name in before}
    return {name: min(max(round(number), 1), 7) for name, number in numbers.items()}


def read_text(value: Any) -> str | None:
    """Return an option as it is compared, trimmed and in lower case; null if it is no text."""
    return value.strip().lower() if isinstance(value, str) else None


def read_phrases(value: Any) -> list[str] | None:
    """Return the options or phrases of a list, or of a single text; null if it is neither."""
    texts = [value] if isinstance(value, str) else value
    return [text for text in map(read_text, texts) if text] if isinstance(texts, list | tuple) else None
