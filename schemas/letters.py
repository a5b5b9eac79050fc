"""Letters that stand for options, in prompts and in replies."""

from functools import cache
from string import ascii_uppercase


@cache  # the same few numbers for every item of a run
def option_letters(n: int) -> tuple[str, ...]:
    """Return the letters of `n` options in order: A to Z, then AA, AB, ... as in a spreadsheet."""
    return tuple(_letter(index) for index in range(n))


def _letter(index: int) -> str:
    prefix = "" if index < len(ascii_uppercase) else _letter(index // len(ascii_uppercase) - 1)
    return prefix + ascii_uppercase[index % len(ascii_uppercase)]
