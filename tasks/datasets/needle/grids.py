"""Needles at every length and depth: the items that a construction offers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from random import Random
from typing import TypeVar

from schemas.context import ContextOptions, LazySample
from schemas.errors import UsageError
from tasks.datasets.needle.haystacks import Haystack
from tasks.datasets.needle.needles import ALL, InsertionPoint, Needle, build_item

NumberT = TypeVar("NumberT", int, float)


def draft_grid(
    needles: Iterable[Needle], haystack: Haystack, options: ContextOptions, drawn: tuple[int, int], seed: int
) -> Sequence[LazySample]:
    """One draft per needle, target length and depth, needles in order.

    Lengths and depths that the options do not give are drawn per needle, uniformly, and do not depend on each other: at given
    lengths a needle has the same drawn depth. Items are named after the needle and the lengths and depths that are given.

    Args:
        needles: with names of their own; of several with one name the second gets the suffix `-2`, and so on.
        haystack: laid out in the style of the options.
        options: lengths in tokens and depths in percent.
        drawn: shortest and longest length that is drawn.
        seed: of all that is drawn.

    Raises:
        UsageError: a length or a depth is given twice.
    """
    lengths, depths = _checked("lengths", options.lengths), _checked("depths", options.depths)
    copies: Counter[str] = Counter()
    drafts = []
    for needle in needles:
        copies[needle.name] += 1
        stem = needle.name if copies[needle.name] == 1 else f"{needle.name}-{copies[needle.name]}"
        for suffix, place in _places(needle, lengths, depths, drawn, seed):
            item_id = f"{stem}{suffix}"
            build = partial(build_item, needle, haystack, options.needle_style, place, item_id)
            drafts.append(LazySample(item_id, needle.record, build, stem))
    return drafts


def _places(
    needle: Needle, lengths: Sequence[int], depths: Sequence[float], drawn: tuple[int, int], seed: int
) -> Iterator[tuple[str, InsertionPoint]]:
    by_seed = f"{seed}:{needle.long_task}:{needle.needle_id}"
    length = Random(f"length:{by_seed}").randint(*drawn)  # noqa: S311 - a fixed draw, not a secret
    depth = Random(f"depth:{by_seed}").uniform(0.0, ALL)  # noqa: S311
    for target in lengths or (length,):
        for percent in depths or (depth,):
            suffix = (f"-len{target}" if lengths else "") + (f"-depth{percent:g}" if depths else "")
            yield suffix, InsertionPoint(target_tokens=target, depth_percent=percent, seed=seed)


def _checked(name: str, values: tuple[NumberT, ...]) -> tuple[NumberT, ...]:
    # Items are named by six digits of a depth; two that are the same then would be one item.
    if len({str(value) if isinstance(value, int) else f"{value:g}" for value in values}) < len(values):
        raise UsageError(
            f"The {name} of contexts cannot be used.",
            where=f"contexts.{name}",
            expected="different numbers",
            got=", ".join(str(value) for value in values),
            next_step=f"name each of the {name} once",
        )
    return values
