"""Find the language of a text, Chinese, English, or neither that can be told, and cut Chinese into words."""

import logging
import re

from schemas.vocabulary import Language

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
OTHER_LETTERS = re.compile(r"[^\W\d_]")
LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
HAN_PER_WORD = 1.5
"""Chinese characters that say about as much as one English word."""

CLEAR = 2 / 3
"""Share of a text that one language has at least; with less of each it is mixed."""

COMMON = re.compile(
    r"the|and|of|to|that|it|for|you|with|be|this|have|from|they|we|your|what|there|would|about|which|when|can|if|will|how|their|just"
    r"|like|know|think|feel|tell|more|i'm|it's|don't|you're|i've|that's|can't|my|i|she|his|are|been|not|but|really|things|thanks?"
    r"|yes|hello|hi|hey|sorry|okay|ok"
)
"""Words of ordinary English, hardly any of them a word of another language; apostrophes straight."""

LEAST_COMMON = 1 / 8
"""Share of the words of English text that are among these, at least: usually it is a third."""

LONGEST_RUN = 500
"""Signs without punctuation that jieba is given at once: its time grows with their square."""

_SIGN = r"\u4e00-\u9fd5a-zA-Z0-9+#&._%-"
_RUNS = re.compile(rf"[{_SIGN}]{{1,{LONGEST_RUN}}}|[^{_SIGN}]+")


def find_language(text: str) -> Language | None:
    """Find the language of a text by its characters, and that of Latin letters by common words.

    Null where it cannot be told: no words, a mixture without two thirds of either, another language, or a few uncommon words.
    """
    words = [word.casefold().replace("’", "'") for word in LATIN_WORD.findall(text)]
    han = len(HAN.findall(text))
    # Letters of other scripts, and Latin ones with marks, which English has next to none of.
    foreign = len(OTHER_LETTERS.findall(text)) - han - len("".join(LATIN_WORD.findall(text)).replace("'", "").replace("’", ""))
    chinese, english = han / HAN_PER_WORD, len(words)
    whole = chinese + english + foreign / HAN_PER_WORD
    if chinese and chinese >= CLEAR * whole:
        return "zh"
    common = sum(COMMON.fullmatch(word) is not None for word in words)
    return "en" if english >= CLEAR * whole and common and common >= LEAST_COMMON * len(words) else None


def cut_words(text: str) -> list[str]:
    """Return all words of a Chinese text in order, as jieba cuts them, punctuation and white space among them."""
    import jieba  # noqa: PLC0415  loads a dictionary, which only Chinese needs

    jieba.setLogLevel(logging.WARNING)
    return [word for run in _RUNS.findall(text) for word in jieba.lcut(run)]
