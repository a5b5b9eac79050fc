"""Overlap of a text with its references, per item, in [0, 1]; of several references the best one counts.

Texts are compared as words: Chinese character by character, everything else lower-cased and split at white space and punctuation.
Exact match and token F1 leave out English articles, as SQuAD does. Differs from SQuAD's script: "well-known" is two words, not
one, and decimal points and minus signs of numbers are kept, so that 3.5 is not 35.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from rouge_score.rouge_scorer import RougeScorer

from schemas.errors import ScoringError

_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CHINESE}]|(?<!\S)-\d+(?:\.\d+)*|\d+(?:\.\d+)+|[^\W_{_CHINESE}]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_APOSTROPHES = str.maketrans("", "", "'’‘")
_ARTICLES = frozenset({"a", "an", "the"})


def words(text: str) -> list[str]:
    """Words of a text in order: Chinese characters one by one, other words lower-cased, no punctuation."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
    return _WORD.findall(_THOUSANDS.sub("", plain))


def content_words(text: str) -> list[str]:
    """Words without English articles; a text of nothing but articles keeps them."""
    kept = [word for word in words(text) if word not in _ARTICLES]
    return kept or words(text)


def exact_match(text: str, references: Sequence[str]) -> float:
    """1 if the text has the same words as a reference, else 0."""
    return _best(text, references, lambda said, true: float(content_words(said) == content_words(true)))


def token_f1(text: str, references: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of words, each counted as often as it occurs."""
    return _best(text, references, _word_f1)


def rouge_l(text: str, references: Sequence[str]) -> float:
    """F-measure of the longest common subsequence of words (rouge-score with this module's words)."""
    return _best(text, references, lambda said, true: float(_ROUGE.score(true, said)["rougeL"].fmeasure))


def _word_f1(said: str, true: str) -> float:
    mine, theirs = Counter(content_words(said)), Counter(content_words(true))
    shared = (mine & theirs).total()
    return 2 * shared / (mine.total() + theirs.total()) if shared else 0.0


def _best(text: str, references: Sequence[str], compare: Callable[[str, str], float]) -> float:
    usable = [reference for reference in references if words(reference)]
    if not usable:
        raise ScoringError(
            "An item has no reference to compare with.",
            expected="a reference with at least one word",
            got=f"references {list(references)}",
            next_step="correct the item's references",
        )
    return max(compare(text, reference) for reference in usable)


class _Words:
    """The tokenizer rouge-score asks for."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


_ROUGE = RougeScorer(["rougeL"], tokenizer=_Words())
