"""A needle taken out of its haystack again, and the haystack cut anew: the two have to be equal."""

import re

from schemas.context import Context
from tasks.datasets.needle.haystacks import Haystack

SPAN = re.compile(r"(\d+)-(\d+)")


def remove_needle(text: str, context: Context) -> str:
    """The haystack: the text without the needle and the white space after it or, at the end of the text, before it.

    Args:
        text: `Item.context`.
        context: what is known of it.

    Raises:
        ValueError: the needle does not stand where the context says, or it says nowhere.
    """
    start, end = context.needle_start, context.needle_end
    if start is None or end is None or text[start:end] != context.needle:
        raise ValueError("the needle does not stand at its recorded span")
    after = text[end:].lstrip()
    return text[:start] + after if after else text[:start].rstrip()


def haystack_of(haystack: Haystack, context: Context) -> str:
    """The text around a needle, cut anew from the haystack by the spans that `Context.haystack` records.

    Raises:
        ValueError: the context records none.
    """
    spans = SPAN.findall((context.haystack or "").rpartition("characters ")[2])
    if not spans:
        raise ValueError("no spans of a haystack are recorded")
    return haystack.joint.join(haystack.text[int(start) : int(end)] for start, end in spans)
