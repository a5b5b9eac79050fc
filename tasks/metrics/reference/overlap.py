"""Overlap of texts as the released MoodBench code measures it: ROUGE-1 over Chinese words, recall of English ones."""

import logging
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer


def rouge_1(text: str, reference: str) -> float:
    """F-measure of the distinct words that two texts share, in [0, 1]; 0 if one of them is empty.

    Words are jieba's, punctuation marks included. The released code takes rouge-chinese, which counts a word once however often
    it occurs; ROUGE-1 elsewhere counts every occurrence.
    """
    return float(_rouge().score(reference, text)["rouge1"].fmeasure)


def word_recall(text: str, reference: str) -> float:
    """Share of the reference's words that occur in a text, each as often as it occurs there, in [0, 1].

    Words are what stands between white space: case and punctuation count. The released code scores LongMemEval by it.
    """
    wanted = Counter(reference.split())
    return (wanted & Counter(text.split())).total() / wanted.total() if wanted else 0.0


class _DistinctWords:
    """The tokenizer rouge-score asks for; without repetitions its counts are those of sets."""

    def __init__(self) -> None:
        import jieba  # noqa: PLC0415

        jieba.setLogLevel(logging.WARNING)
        self._cut = jieba.cut

    def tokenize(self, text: str) -> list[str]:
        return list(dict.fromkeys(word for word in self._cut(text) if word.strip()))


@cache
def _rouge() -> "RougeScorer":
    """Imported on first use: with rouge-score come nltk, scipy and scikit-learn, a second of work that few commands need."""
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415

    return RougeScorer(["rouge1"], tokenizer=_DistinctWords())
