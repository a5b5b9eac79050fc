"""Overlap of a text with its references, per item, in [0, 1]; of several references the best one counts, also for BLEU.

Texts are compared as words: Chinese character by character, everything else lower-cased and split at white space and punctuation.
Exact match and token F1 leave out English articles, as SQuAD does. Differs from SQuAD's script: "well-known" is two words, not
one, and decimal points and minus signs of numbers and LaTeX formulas are kept: 3.5 is not 35, and -3 is not 3. BLEU alone has
words of its own.

Sources: ROUGE, Lin 2004, by rouge-score; BLEU, Papineni et al. 2002, by sacrebleu (Post 2018).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from schemas.errors import ScoringError

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU

_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SIGN = r"(?<![\w)\]}])-"
_WORD = re.compile(rf"[{_CHINESE}]|{_SIGN}\d+(?:\.\d+)*|{_SIGN}(?=\\)|\d+(?:\.\d+)+|[^\W_{_CHINESE}]+")
CHINESE_CHARACTER = re.compile(f"[{_CHINESE}]")
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
    return best_of(text, references, lambda said, true: float(content_words(said) == content_words(true)))


def token_f1(text: str, references: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of words, each counted as often as it occurs."""
    return best_of(text, references, _word_f1)


def word_recall(text: str, references: Sequence[str]) -> float:
    """Share of a reference's words that occur in the text, each counted as often as it occurs."""
    return best_of(text, references, _word_recall)


def rouge_1(text: str, references: Sequence[str]) -> float:
    """F-measure of single words, each counted as often as it occurs (rouge-score with this module's words)."""
    return best_of(text, references, lambda said, true: float(_rouge("rouge1").score(true, said)["rouge1"].fmeasure))


def rouge_l(text: str, references: Sequence[str]) -> float:
    """F-measure of the longest common subsequence of words (rouge-score with this module's words)."""
    return best_of(text, references, lambda said, true: float(_rouge("rougeL").score(true, said)["rougeL"].fmeasure))


def bleu(text: str, references: Sequence[str]) -> float:
    """Sentence BLEU with up to four words in a row, fewer for shorter texts (effective order), exponential smoothing, case kept.

    Words are those of sacrebleu: `zh` where a Chinese character stands in either text, otherwise `13a`. The text is compared with
    one reference after the other and the best one counts, as in TruthfulQA; multi-reference BLEU, which pools the references'
    words, would reward an answer that mixes them.
    """
    return best_of(text, references, _sentence_bleu)


def _word_f1(said: str, true: str) -> float:
    mine, theirs = Counter(content_words(said)), Counter(content_words(true))
    shared = (mine & theirs).total()
    return 2 * shared / (mine.total() + theirs.total()) if shared else 0.0


def _word_recall(said: str, true: str) -> float:
    mine, theirs = Counter(content_words(said)), Counter(content_words(true))
    return (mine & theirs).total() / theirs.total()


def _sentence_bleu(said: str, true: str) -> float:
    scorer = _bleu("zh" if CHINESE_CHARACTER.search(said + true) else "13a")
    # The geometric mean's rounding may lift a perfect match above 100 by its last bits.
    return min(scorer.sentence_score(said, [true]).score / 100, 1.0)


def best_of(text: str, references: Sequence[str], compare: Callable[[str, str], float]) -> float:
    """Highest value of `compare(text, reference)` over the references that hold a word.

    Raises:
        ScoringError: if none does.
    """
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


# Imported on first use: rouge-score and sacrebleu bring nltk, scipy and scikit-learn, 1.2 s of work that few commands need.


@cache
def _rouge(kind: Literal["rouge1", "rougeL"]) -> "RougeScorer":
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415

    return RougeScorer([kind], tokenizer=_Words())


@cache
def _bleu(tokens: Literal["13a", "zh"]) -> "BLEU":
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415

    return BLEU(tokenize=tokens, effective_order=True)
