"""Rank texts by meaning (cosine of embeddings), by words (BM25), or by both.

Scores are rounded to six decimals. The last bits of an embedding depend on the processor and on the texts embedded with it, and
a ranking must not: cosines that differ by no more than TIE are tied (see `tie_neighbours`). Tied texts keep the order they were
given in.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from schemas.context import Ranked
from schemas.vocabulary import Language, Ranking
from tasks.retrieval.embedding import Vectors
from tasks.text.languages import cut_words

Scores = np.ndarray[tuple[int], np.dtype[np.float64]]

RRF_K = 60
"""Constant of reciprocal-rank fusion (Cormack, Clarke and Buettcher 2009)."""

RANKING_VERSION = "1"
"""Bumped when the same texts and vectors would be ranked otherwise."""

DECIMALS = 6
_WORD = re.compile(r"\w+")
TIE = 2e-6
"""Cosines this near to each other are tied: as far as two vectors of one text can move their cosine with a third."""

ROWS_AT_ONCE = 4096


def rank_by_query(
    texts: Sequence[str], query: str, vectors: Vectors | None, ranking: Ranking, language: Language
) -> tuple[Ranked, ...]:
    """Return all texts, the best match of the query first.

    Args:
        texts: what is ranked.
        query: what they are compared with.
        vectors: embeddings, of length 1, of the texts and, last, of the query; not needed for `bm25`.
        ranking: which scores; only those it needs are computed. `fused` fuses the other two.
        language: decides what words are.
    """
    if not texts:
        return ()
    dense = None if ranking == "bm25" or vectors is None else cosines(vectors[:-1], vectors[-1])
    bm25 = None if ranking == "dense" else bm25_scores((words(text, language) for text in texts), words(query, language))
    fused = None
    if dense is not None and bm25 is not None:
        # A text without any word of the query is not in the ranking by words: where it would stand says nothing. The fewer texts
        # it lists, the surer it is of them: a name stands in two or three chunks, the words of a question in most of them.
        listed = bm25 > 0
        weight = len(texts) / max(int(listed.sum()), 1)
        fused = reciprocal_ranks(tie_neighbours(dense)) + np.where(listed, weight * reciprocal_ranks(bm25), 0.0)
    return _ranked(dense, bm25, fused)


def rank_outliers(texts: Sequence[str], vectors: Vectors | None, ranking: Ranking, language: Language) -> tuple[Ranked, ...]:
    """Return all texts, the one least like the others first; `dense` and `bm25` are means over the others, lowest first.

    `fused` adds reciprocal ranks counted from the lowest: highest first. A single text has no others, and no scores.

    Args:
        texts: what is ranked.
        vectors: their embeddings, of length 1; not needed for `bm25`.
        ranking: which scores; only those it needs are computed.
        language: decides what words are.
    """
    if len(texts) <= 1:
        return tuple(map(Ranked, range(len(texts))))
    dense = None if ranking == "bm25" or vectors is None else mean_cosines(vectors)
    bm25 = None if ranking == "dense" else mean_bm25([words(text, language) for text in texts])
    if dense is not None and bm25 is not None:
        return _ranked(dense, bm25, reciprocal_ranks(-tie_neighbours(dense)) + reciprocal_ranks(-bm25))
    return _ranked(dense, bm25, None, lowest_first=True)


def cosines(vectors: Vectors, query: np.ndarray[Any, np.dtype[np.float32]]) -> Scores:
    """Return the cosine of each vector with the query, rounded; vectors have length 1."""
    target = query.astype(np.float64)
    # In blocks: double precision makes the sum the same on every machine, and needs twice the memory.
    starts = range(0, len(vectors), ROWS_AT_ONCE)
    return _rounded(np.concatenate([vectors[start : start + ROWS_AT_ONCE].astype(np.float64) @ target for start in starts]))


def mean_cosines(vectors: Vectors) -> Scores:
    """Return the mean cosine of each vector with all others, rounded: row means of the Gram matrix without its diagonal.

    All rows of that matrix sum to the product with the sum of the vectors; so it need not be held.
    """
    exact = vectors.astype(np.float64)
    own = np.einsum("ij,ij->i", exact, exact)
    return _rounded((exact @ exact.sum(axis=0) - own) / (len(exact) - 1))


def bm25_scores(documents: Iterable[Sequence[str]], query: Sequence[str]) -> Scores:
    """Score by Okapi BM25 each document (its words) for the words of a query, rounded; all zero where either has no words."""
    documents = list(documents)
    return _rounded(_index(documents).get_scores(query) if any(documents) else np.zeros(len(documents)))


def mean_bm25(documents: Sequence[Sequence[str]]) -> Scores:
    """Return the mean similarity of each document to all others, rounded.

    The similarity to another is its BM25 score with the document's words as the query, as a share of the score the document has
    itself: sums over more words are larger, and a long document is not for this reason like the others. One without words is
    like none, 0.
    """
    count = len(documents)
    means = np.zeros(count)
    if not any(documents):
        return means
    index = _index(documents)
    for number, document in enumerate(documents):
        scores = index.get_scores(document)
        if scores[number] > 0:
            means[number] = (scores.sum() - scores[number]) / scores[number] / (count - 1)
    return _rounded(means)


def tie_neighbours(scores: Scores) -> Scores:
    """Return levels that order texts as their cosines do, the lowest 0; cosines no more than TIE apart share a level.

    Rounding alone hides no noise: two cosines, however near, may be rounded apart. Two that differ by TIE or less before rounding
    always share a level, and so do those that a chain of such neighbours connects. Neighbours 3e-6 apart or more never do.
    Between these bounds the level depends on how both were rounded: only there can noise change a ranking.

    `scores`: rounded to DECIMALS; shape [texts], at least one.
    """
    order = np.argsort(scores)
    # Rounded scores are whole millionths apart.
    steps = np.diff(scores[order]) > TIE + 0.5 * 10**-DECIMALS
    levels = np.empty_like(scores)
    levels[order] = np.concatenate([[0], np.cumsum(steps)])
    return levels


def reciprocal_ranks(scores: Scores) -> Scores:
    """Return 1 / (60 + rank), the highest score having rank 1; equal scores share the best rank of theirs."""
    ascending = np.sort(scores)
    ranks = 1 + len(scores) - np.searchsorted(ascending, scores, side="right")
    return np.asarray(1.0 / (RRF_K + ranks), dtype=np.float64)


def _index(documents: Sequence[Sequence[str]]) -> BM25Okapi:
    """Return BM25Okapi (k1 = 1.5, b = 0.75) with the inverse document frequency of Lucene, log(1 + (N - n + 0.5) / (n + 0.5)).

    That of rank_bm25 is zero or negative for words in half of the documents or more. It then takes a quarter of the mean over
    all words instead: with few documents, those that hold the query would come last.

    `documents`: words of each; at least one has a word.
    """
    index = BM25Okapi(documents)
    held = Counter(word for counts in index.doc_freqs for word in counts)
    index.idf = {word: math.log(1 + (len(documents) - count + 0.5) / (count + 0.5)) for word, count in held.items()}
    return index


def _ranked(dense: Scores | None, bm25: Scores | None, fused: Scores | None, *, lowest_first: bool = False) -> tuple[Ranked, ...]:
    levels = None if dense is None else tie_neighbours(dense)
    deciding = next(scores for scores in (fused, levels, bm25) if scores is not None)
    order = np.argsort(deciding if lowest_first else -deciding, kind="stable")
    columns = [[None] * len(order) if scores is None else scores.tolist() for scores in (dense, bm25, fused)]
    rows = list(zip(*columns, strict=True))
    return tuple(Ranked(index, *rows[index]) for index in order.tolist())


def _rounded(scores: Any) -> Scores:
    # Adding 0 turns -0.0 into 0.0, which are equal but not the same bytes.
    return np.asarray(np.round(scores, DECIMALS) + 0.0, dtype=np.float64)


def words(text: str, language: Language) -> list[str]:
    """Return lower-case words in order, without punctuation: runs of letters and digits, or in Chinese the words of jieba."""
    if language == "en":
        return _WORD.findall(text.lower())
    return [word for word in cut_words(text.lower()) if _WORD.search(word)]
