"""How an item is shown: how often and in which order of its options, and with how much of a context that is too long.

Options come in several orders so that position bias can be told from a preference for an answer.

Only the context of an item is truncated, never its question, options or instruction, and the prompt says where, and only if the
benchmark or the user says so. How much must go is computed from the token counts in the server's refusal; a server that states
none is asked with less and less of the text.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import dataframely as dy

from schemas.item import Item
from schemas.question_types import answered_by
from schemas.tables.items import Items
from schemas.usage import TESTED
from schemas.vocabulary import Language, TooLong
from tasks.models.http.error_patterns import stated_tokens
from tasks.solvers.state import Call

Order = tuple[int, ...] | None
"""Index of the item's option shown at each place; null = as the item has them."""


class Presentation(NamedTuple):
    """One item, as a row of `items`, in one order of its options.

    `repetition` numbers all times it is asked, `draw` those that ask for the same again: their calls are others.
    """

    row: Mapping[str, Any]
    repetition: int
    order: Order
    draw: int = 0


@dataclass(frozen=True)
class Epochs:
    """How often an item is asked: in `permute` orders of its options drawn by `seed` (0 = its own), all that `repeat` times."""

    permute: int = 0
    seed: int = 0
    repeat: int = 1

    @property
    def settings(self) -> dict[str, object]:
        """What of it changes the calls; the seed draws orders of options, so it counts only where they are permuted."""
        permuted = {"permute": {"orders": self.permute, "seed": self.seed}} if self.permute else {}
        return {**permuted, **({"repeat": self.repeat} if self.repeat > 1 else {})}


def plan_epochs(items: dy.DataFrame[Items], epochs: Epochs = Epochs()) -> list[Presentation]:
    """List every item as often as it is asked."""
    return [
        Presentation(row, draw * len(orders) + number, order, draw)
        for row in items.iter_rows(named=True)
        for orders in [option_orders(row, epochs.permute, epochs.seed)]
        for draw in range(epochs.repeat)
        for number, order in enumerate(orders)
    ]


def option_orders(row: Mapping[str, Any], permute: int, seed: int) -> tuple[Order, ...]:
    """Return the orders an item, a row of `items`, is asked in, one per repetition; of 0 orders its own, once.

    A single choice starts from an order drawn by seed and moves on by one place each time, so that over as many orders as there
    are options each of them stands at each place once. With more orders than options the first ones come again, answered by the
    same stored replies. Whatever else there is to ask, and options that name each other, keep their order.
    """
    if permute == 0:
        return (None,)
    if row["question_type"] not in answered_by("letter") or row["fixed_order"]:
        return (None,) * permute
    first = list(range(len(row["options"])))
    Random(f"{seed}/{row['dataset']}/{row['item_id']}").shuffle(first)  # noqa: S311 - a repeatable draw, not a secret
    starts = [number % len(first) for number in range(permute)]
    return tuple((*first[start:], *first[:start]) for start in starts)


def show_in_order(item: Item, order: Order) -> Item:
    """Return the item as it is shown: its options in this order. Gold and points still name the item's own order."""
    if order is None or item.options is None:
        return item
    return item.model_copy(update={"options": tuple(item.options[index] for index in order)})


TRUNCATION_VERSION = "1"
"""Bumped when a context is cut elsewhere or marked otherwise."""

MARKS: dict[Language, str] = {"en": "[Part of the text is left out here.]", "zh": "【此处省略了部分原文】"}
MOST_TRIES = 8
SHARE = 0.75
"""Of the text, kept by the next try where the server does not say how long the prompt is."""

SLACK = 0.97
"""Of the room that is there: tokens per character differ between the parts of a text."""

MOST_KEPT = 0.95
"""Of the text, kept by the next try at most, so that an estimate that is a little off cannot use up the tries."""

MOST_CHARACTERS_PER_TOKEN = 8
"""No tokenizer gets more out of ordinary text; bounds the first try where only the length of the context is known."""

WINDOW = 200
"""Characters in which the end of a sentence, or else of a word, is looked for."""

SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？；…][”’」』）]*|\n\s*")
WORD_END = re.compile(r"\s+|[，、：]|(?<=[㐀-鿿])")

RunOnce = Callable[[Item], Awaitable[tuple[Call, ...]]]


async def solve_within_context(item: Item, too_long: TooLong, run_once: RunOnce) -> tuple[Call, ...]:
    """Ask an item; under a policy that cuts, again with less of its context as long as the model finds it too long.

    Each try has a key of its own. What a helper found too long is not the item, nor is a call that does not show the context:
    these are not asked again. The calls of the last try say how many characters they left out. They failed with
    `context_too_long` if the item has no context, what is besides it is too long already, or MOST_TRIES cuts were not enough.
    """
    calls = await run_once(item)
    current = item
    for _ in range(0 if too_long == "missing" else MOST_TRIES):
        call = calls[-1]
        shows_context = any((current.context or "") in message.content for message in call.request.messages)
        if call.reply.failure != "context_too_long" or call.role != TESTED or not shows_context:
            break
        cut = truncate(item, choose_length(call, len(current.context or "")), too_long)
        if cut is None:
            break
        current, left_out = cut
        made = await run_once(current)
        # Helpers read the whole of it.
        calls = tuple(call._replace(left_out_characters=left_out if call.role == TESTED else 0) for call in made)
    return calls


def choose_length(call: Call, length: int) -> int:
    """Return how many characters, the mark included, the context may have in the next try; 0 or less: the rest is too long.

    The call failed with `context_too_long`; its context had `length` characters.
    """
    error = call.reply.error or ""
    limit, used = stated_tokens("longest_context", error), stated_tokens("prompt_tokens", error)
    if limit is None:
        return int(length * SHARE)
    # Most servers count the longest reply as well. Even one that may be longer than the whole context leaves half to the prompt.
    room = limit - min(call.request.sampling.max_tokens, limit // 2)
    whole = sum(len(message.content) for message in call.request.messages)
    if used is None or used <= room:
        return min(int(length * SHARE), room * MOST_CHARACTERS_PER_TOKEN - (whole - length))
    surplus = whole * (1 - SLACK * room / used)
    return min(int(length - surplus), int(length * MOST_KEPT))


def truncate(item: Item, length: int, too_long: TooLong) -> tuple[Item, int] | None:
    """Return the item with a context of at most this length, and the characters left out; null if that leaves no text.

    Cuts are made between sentences, or words where no sentence ends nearby. A line of its own marks what is left out, and counts
    for the length. `cut_middle` keeps as much of the beginning as of the end, `cut_start` the end only.
    """
    context, mark = item.context or "", MARKS[item.language]
    kept = length - len(mark) - 2  # two line ends around the mark
    if kept < 1 or kept >= len(context):
        return None
    of_head = kept // 2 if too_long == "cut_middle" else 0
    of_tail = kept - of_head
    head = context[: _boundary(context, max(of_head - WINDOW, of_head // 2), of_head, -1)].rstrip()
    begin = len(context) - of_tail
    tail = context[_boundary(context, begin, min(begin + WINDOW, begin + of_tail // 2), 0) :].lstrip()
    if not head and not tail:
        return None
    shortened = "\n".join(part for part in (head, mark, tail) if part)
    return item.model_copy(update={"context": shortened}), len(context) - len(head) - len(tail)


def _boundary(text: str, start: int, end: int, which: int) -> int:
    """Return the last (-1) or first (0) place between sentences, else words, from `start` to `end`; else that end."""
    for pattern in (SENTENCE_END, WORD_END):
        # Seen from one character before, so that a place at the very start is found; the end of the window ends no word.
        places = [match.end() for match in pattern.finditer(text, max(start - 1, 0), end)]
        if places := [position for position in places if start <= position]:
            return places[which]
    return end if which else start
