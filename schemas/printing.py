"""Make text from outside safe to print: control characters move a terminal's cursor, lone surrogates cannot be written."""

import re

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""All of C0 and C1 but tab and line feed, and surrogates."""


def printable(text: str) -> str:
    """Return a text whose control characters are written as JSON would write them."""
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
