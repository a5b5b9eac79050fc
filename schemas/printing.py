"""Show what is hidden in text from outside: characters that move the cursor, or hide or reverse what stands beside them."""

import re
import sys
from contextvars import ContextVar
from unicodedata import normalize

EMOJI = "\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff"
UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|\r(?!\n)|(?<![{EMOJI}])\u200d|\u200d(?![{EMOJI}])"
)
"""What leaves no mark of its own, and surrogates, which no file can hold; not tab, the end of a line, nor what joins emoji."""


def printable(text: str) -> str:
    """Return a text whose characters that cannot be seen are written as JSON would escape them."""
    return UNSEEN.sub(_escape, text)


shows_progress: ContextVar[bool] = ContextVar("whether lines on standard error tell how far a run is", default=True)


def tell(text: str) -> None:
    """Write a line of ours to standard error."""
    sys.stderr.write(f"moodflow: {printable(text)}\n")


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return re.sub("(....)", r"\\u\1", units)


def appearance(text: str) -> str:
    """Return what can be seen of a text: composed characters, without those that leave no mark and without superfluous space."""
    return " ".join(UNSEEN.sub("", normalize("NFC", text)).split())
