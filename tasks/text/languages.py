"""Find the language of a text: Chinese, English, or neither that can be told."""

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
    known = sum(COMMON.fullmatch(word) is not None for word in words)
    return "en" if english >= CLEAR * whole and known and known >= LEAST_COMMON * len(words) else None
