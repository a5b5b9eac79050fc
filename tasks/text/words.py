"""Words of a text, as BM25 counts them."""

import logging
import re
from collections.abc import Callable
from functools import cache

from schemas.vocabulary import Language

_WORD = re.compile(r"\w+")


def words(text: str, language: Language) -> list[str]:
    """Lower-cased words in order: runs of letters and digits, or of Chinese what jieba finds; no punctuation."""
    if language == "en":
        return _WORD.findall(text.lower())
    return [word for word in _jieba()(text.lower()) if _WORD.search(word)]


@cache
def _jieba() -> Callable[[str], list[str]]:
    import jieba  # noqa: PLC0415  loads a dictionary, which only Chinese needs

    jieba.setLogLevel(logging.WARNING)
    cut: Callable[[str], list[str]] = jieba.lcut
    return cut
