"""Show text from outside as it is: control characters move a terminal's cursor, others hide or turn round what stands beside."""

import re
from unicodedata import category, normalize

EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
    f"|[\U000e0000-\U000e007f]|\r(?!\n)|(?<![{EMOJI}])\u200d|\u200d(?![{EMOJI}])"
)
"""Control and format characters, and surrogates, which no file can hold; not tab, the end of a line, nor what joins emoji."""


def printable(text: str) -> str:
    """Return a text whose characters that cannot be seen are written as JSON would escape them."""
    return UNSEEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return re.sub("(....)", r"\\u\1", units)


def appearance(text: str) -> str:
    """Return what can be seen of a text: composed characters, without format characters and superfluous space."""
    return " ".join("".join(sign for sign in normalize("NFC", text) if category(sign) != "Cf").split())
