"""Find which options a text is a part of: "Uncertain" of "Uncertain: the premises imply neither", "不同" of "意思不同"."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tasks.metrics.reply import SHORTEST, WORD, clean_reply, is_long, level_text, plain_text

NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|cannot|without|less|than|or)\b|n't\b|[不没非无未别或?✗]", re.IGNORECASE)

_QUOTES = " \"'"
_EDGES = " \"'.。!,:;()"
"""Taken off a part; a question mark stays, since what is asked is not said."""

_CLAUSE_END = re.compile(r"[.,:;!?()、。–—]")
_COMMON = re.compile(
    r"\b(?:a|an|the|this|that|these|those|there|here|it|its|is|are|was|were|be|been|being|i|you|he|she|we|they|them|their|your"
    r"|his|her|my|our|of|to|in|on|at|by|for|from|with|into|and|but|then|than|when|what|which|who|because|since|will|would|can"
    r"|could|should|may|might|must|have|has|had|do|does|did|some|only|very|just|also|if|as|so|no|not|yes|none"
    r"|(?:(?:final|correct|right|best)\s+)?(?:answer|option|choice|letter)s?)\b"
    r"|答案|选项|选择|回答|可以|我们|他们|你们|没有|不是|不会|不能|因为|所以|但是|如果|可能|应该|这个|那个|一个|就是|还是|或者|以及|是的|[的了是在和与]",
    re.IGNORECASE,
)
"""Words that stand in any option: a text that holds no others names none."""


class PlaceInOption(NamedTuple):
    """Where a text stands in a levelled option; `is_part`: it begins or ends the option or a clause of it."""

    start: int
    end: int
    is_part: bool


def options_with(text: str, options: Sequence[str]) -> dict[int, PlaceInOption]:
    """Return the indices of the options that hold `text`, and where; whether it is a part of them.

    It is held as whole words (of Chinese, two characters at least) that say more than those that stand anywhere. It is a part
    where it begins or ends the option or a clause of it.
    """
    core = plain_text(text).strip(_EDGES)
    if not is_long(_COMMON.sub(" ", core).strip(_EDGES)) or not re.search(r"[^\W\d_]", core):
        return {}
    places = {index: _place(core, _levelled(option)) for index, option in enumerate(options)}
    return {index: part for index, part in places.items() if part is not None}


def option_by_part(text: str, options: Sequence[str]) -> int | None:
    """Return the index of the one option that holds `text`, if it is a part of it and not denied there; else null.

    "ironic" does not name "It is not ironic", nor "honesty" "Honesty is not what matters".
    """
    holders = options_with(text, options)
    if len(holders) != 1:
        return None
    ((index, part),) = holders.items()
    option = _levelled(options[index])
    rest = option[: part.start] + "\n" + _CLAUSE_END.split(option[part.end :], maxsplit=1)[0]
    return index if part.is_part and not NEGATION.search(rest) else None


def opened_by(text: str, options: Sequence[str]) -> list[int]:
    """Return the options whose opening clause the text is, whatever its words: "Yes" of "Yes, she does"."""
    core = plain_text(text).strip(_EDGES)
    if len(core) < SHORTEST:
        return []
    rests = {index: whole[len(core) :] for index, option in enumerate(options) if (whole := _opening(option)).startswith(core)}
    return [index for index, rest in rests.items() if _CLAUSE_END.match(rest.lstrip(_QUOTES))]


@lru_cache(maxsize=4096)
def _opening(option: str) -> str:
    return _levelled(option).lstrip(_QUOTES)


@lru_cache(maxsize=4096)
def _levelled(option: str) -> str:
    """Return an option without the mark-up that is taken out of replies, too."""
    return plain_text(clean_reply(level_text(option)))


_JOINED_BEFORE, _JOINED_AFTER = re.compile(rf"(?:[{WORD}'+-]|\d[.,])\Z"), re.compile(rf"[{WORD}]|['-]\w|[.,]\d")
"""What makes the word before or behind go on."""


def _place(core: str, option: str) -> PlaceInOption | None:
    """Return where the text stands in the levelled option, as a part of it if it is one anywhere; null if it is not held."""
    places, start = list[PlaceInOption](), option.find(core)
    while start >= 0:
        end = start + len(core)
        joined = re.match(f"[{WORD}]", core) and _JOINED_BEFORE.search(option[max(0, start - 2) : start])
        goes_on = re.match(f"[{WORD}]", core[-1]) and _JOINED_AFTER.match(option, end)
        if not joined and not goes_on:
            left, right = option[max(0, start - 9) : start].rstrip(_QUOTES)[-1:], option[end : end + 9].lstrip(_QUOTES)[:1]
            is_part = not left or not right or _CLAUSE_END.match(left) is not None or _CLAUSE_END.match(right) is not None
            places.append(PlaceInOption(start, end, is_part))
        start = option.find(core, end)
    return max(places, key=lambda part: part.is_part, default=None)
