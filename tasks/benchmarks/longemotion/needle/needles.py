"""A needle in a haystack: a short text put into a long one at given lengths and depths.

Source: LongEmotion, section 3.1. What it leaves open (lengths, depths, tokenizer, layout) is set by `ContextOptions`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from typing import TypeVar

from schemas.context import Context, ContextOptions, LazySample, NeedleStyle
from schemas.errors import UsageError
from schemas.item import Item, Record, text_id
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.needle.haystacks import Haystack
from tasks.benchmarks.longemotion.needle.names import choose_names, rename
from tasks.datasets.building import number_repeats
from tasks.text.tokens import count_tokens, token_offsets

Ask = Callable[[str, str], str]
"""From a subject and the needle's text to the question."""

_PLAIN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "…": "...", "–": "-"})
_DASH = re.compile(r"\s*—\s*")
_ENDED = re.compile(r"[.!?][\"')\]]*$")
ALL = 100.0
"""Percent."""


@dataclass(frozen=True)
class Needle:
    """A short text that holds an answer, as its source has it, and what is asked about it.

    `clashing`: names in it that the haystack has too. `name`: of its item, before length and depth are added.
    """

    name: str
    task: ContextTask
    record: Record
    needle_id: str
    text: str
    subject: str
    choices: tuple[str, ...]
    label: str
    ask: Ask
    subset: str | None = None
    clashing: tuple[str, ...] = ()


@dataclass(frozen=True)
class InsertionPoint:
    """Where a needle is put: target length of the context in tokens, depth in percent, and the seed of what is drawn."""

    target_tokens: int
    depth_percent: float
    seed: int


def build_item(
    needle: Needle, haystack: Haystack, style: NeedleStyle, point: InsertionPoint, item_id: str
) -> tuple[Item, Context]:
    """Return the item of a needle at a place, both laid out in the style of the haystack.

    ValueError: the target length does not hold the needle and a sentence of the haystack, the haystack has the needle too, or
    there are too few names to rename with.
    """
    # Drawn by the text, so that all questions about one text name its people alike.
    draw = Random(f"names:{point.seed}:{needle.text}")  # noqa: S311 - a fixed draw, not a secret
    renamed = choose_names(needle.clashing, (needle.text, needle.subject, *needle.choices), haystack, draw)
    text = rename(match_layout(needle.text) if style == "matched" else " ".join(needle.text.split()), renamed)
    subject = rename(needle.subject, renamed)
    choices = tuple(rename(choice, renamed) for choice in needle.choices)
    label = rename(needle.label, renamed)
    inserted, context = _insert(needle, text, haystack, point)
    item = Item(
        question_type="label_choice",
        question=needle.ask(subject, text),
        context=inserted,
        options=choices,
        gold_indices=(choices.index(label),) if label in choices else None,
        item_id=item_id,
        subset=needle.subset,
    )
    return item, context.model_copy(update={"query": subject, "needle_style": style, "renamed": renamed})


def _insert(needle: Needle, text: str, haystack: Haystack, point: InsertionPoint) -> tuple[str, Context]:
    tokens = count_tokens(text)
    draw = Random(f"place:{point.seed}:{needle.task}:{needle.needle_id}")  # noqa: S311 - a fixed draw, not a secret
    first, at, last = _choose(haystack, point, tokens, draw.random())
    before, after = haystack.between(first, at), haystack.between(at, last)
    gap = haystack.gap_before(at)
    head = before + gap if before else ""
    inserted = head + text + (gap + after if after else "")
    if inserted.count(text) != 1:
        raise ValueError(f"the haystack already contains the text of needle {needle.needle_id}")
    ahead = haystack.token_at(at) - haystack.token_at(first)
    around = haystack.token_at(last) - haystack.token_at(first)
    spans = "; ".join(f"{start}-{end}" for start, end in haystack.spans(first, last))
    return inserted, Context(
        task=needle.task,
        tokens=around + tokens,
        target_tokens=point.target_tokens,
        needle=text,
        needle_id=needle.needle_id,
        needle_start=len(head),
        needle_end=len(head) + len(text),
        needle_token_start=ahead,
        needle_token_end=ahead + tokens,
        target_depth_percent=point.depth_percent,
        depth_percent=ALL * ahead / around,
        haystack=f"{haystack.name}, characters {spans}",
    )


def _choose(haystack: Haystack, point: InsertionPoint, needle_tokens: int, drawn: float) -> tuple[int, int, int]:
    """Return first position, the needle's position and the position after the last sentence.

    The needle's place in the book is drawn; the text around it is cut at the nearest ends of sentences, so that length and depth
    hold to half a sentence each. The book is continued from its start only if no place leaves enough of it on both sides.
    """
    around = point.target_tokens - needle_tokens
    too_short = ValueError(f"{point.target_tokens} tokens are too few for a needle of {needle_tokens} and a sentence around it")
    if around < 1:
        raise too_short
    ahead = round(around * point.depth_percent / ALL)
    tokens = haystack.open_tokens
    low, high = bisect_left(tokens, ahead), bisect_right(tokens, haystack.tokens - (around - ahead))
    places = haystack.open[low:high] or haystack.open
    at = places[int(drawn * len(places))]
    first = min(at, haystack.nearest(haystack.token_at(at) - ahead)) if point.depth_percent > 0 else at
    last = max(at, haystack.nearest(haystack.token_at(first) + around)) if point.depth_percent < ALL else at
    if first == last:
        raise too_short
    return first, at, last


def match_layout(text: str) -> str:
    """Return a text as the book's prose is laid out: one line, straight quotes, double hyphens for dashes, a mark at its end."""
    line = " ".join(_DASH.sub("--", text).split()).translate(_PLAIN)
    return line if _ENDED.search(line) else f"{line}."


NumberT = TypeVar("NumberT", int, float)


def placed_needle(task: ContextTask, text: str, start: int, needle: str, needle_id: str | None) -> Context:
    """Return what is known of a text that holds a needle at `start`, in characters, with the needle's depth as it came out."""
    tokens, end = [at for at, _ in token_offsets(text)], start + len(needle)
    first, last = bisect_left(tokens, start), bisect_left(tokens, end)
    around = len(tokens) - (last - first)
    return Context(
        task=task,
        tokens=len(tokens),
        needle=needle,
        needle_id=needle_id,
        needle_start=start,
        needle_end=end,
        needle_token_start=first,
        needle_token_end=last,
        depth_percent=ALL * first / around if around else None,
    )


def list_grid(
    needles: Sequence[Needle], haystack: Haystack, options: ContextOptions, drawn: tuple[int, int], seed: int
) -> Sequence[LazySample]:
    """Return one sample per needle, target length and depth, needles in order; of two of one name the second gets `-2`.

    Lengths in tokens and depths in percent that the options do not give are drawn per needle, uniformly, lengths between the two
    of `drawn`. They do not depend on each other: at given lengths a needle has the same drawn depth. Items are named after the
    needle and the lengths and depths that are given. UsageError: a length or a depth is given twice.
    """
    lengths, depths = checked("lengths", options.lengths), checked("depths", options.depths)
    samples = []
    stems = number_repeats(needle.name for needle in needles)
    for needle, stem in zip(needles, stems, strict=True):
        by_seed = f"{seed}:{needle.task}:{needle.needle_id}"
        length = Random(f"length:{by_seed}").randint(*drawn)  # noqa: S311 - a fixed draw, not a secret
        depth = Random(f"depth:{by_seed}").uniform(0.0, ALL)  # noqa: S311
        for target, percent in product(lengths or (length,), depths or (depth,)):
            point = InsertionPoint(target_tokens=target, depth_percent=percent, seed=seed)
            item_id = stem + (f"-len{target}" if lengths else "") + (f"-depth{percent:g}" if depths else "")
            build = partial(build_item, needle, haystack, options.needle_style, point, item_id)
            samples.append(LazySample(item_id, needle.record, build, text_id(needle.text), stem))
    return samples


def checked(name: str, values: tuple[NumberT, ...]) -> tuple[NumberT, ...]:
    """Return the lengths or depths of contexts; raise UsageError if one is given twice."""
    # Items are named by six digits of a depth; two that are the same then would be one item.
    if len({str(value) if isinstance(value, int) else f"{value:g}" for value in values}) < len(values):
        raise UsageError(
            f"the {name} of contexts cannot be used",
            where=f"contexts.{name}",
            expected="different numbers",
            got=", ".join(str(value) for value in values),
            next_step=f"give each of the {name} once",
        )
    return values
