"""A needle taken out of its haystack again, and the haystack cut anew: the two have to be equal."""

import re

from schemas.context import Context
from tasks.benchmarks.longemotion.needle.haystacks import Haystack

SPAN = re.compile(r"(\d+)-(\d+)")


def remove_needle(text: str, context: Context) -> str:
    """The text without the needle and the white space after it or, at the end of the text, before it."""
    start, end = context.needle_start, context.needle_end
    assert start is not None
    assert end is not None
    assert text[start:end] == context.needle
    after = text[end:].lstrip()
    return text[:start] + after if after else text[:start].rstrip()


def haystack_of(haystack: Haystack, context: Context) -> str:
    """The text around a needle, cut anew from the haystack by the spans that `Context.haystack` records."""
    spans = SPAN.findall((context.haystack or "").rpartition("characters ")[2])
    assert spans
    return haystack.joint.join(haystack.text[int(start) : int(end)] for start, end in spans)
