import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from schemas.vocabulary import Ranking
from tasks.retrieval.ranking import (
    TIE,
    bm25_scores,
    cosines,
    mean_bm25,
    mean_cosines,
    rank_by_query,
    rank_outliers,
    reciprocal_ranks,
    tie_neighbours,
    words,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")

EAST, NORTH, BETWEEN = [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]
DOCUMENTS = [["grief", "stays"], ["grief", "goes"], ["rain"]]


def unit(rows: int, columns: int = 8, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    drawn = np.random.default_rng(seed).normal(size=(rows, columns))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


def test_bm25_worked_out_by_hand() -> None:
    # "stays": in 1 of 3 documents, ln(1 + 2.5 / 1.5) = 0.980829. Mean length 5/3, this document 2 words:
    # 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / (5 / 3))) = 2.5 / 2.725 = 0.917431. Product 0.899843.
    assert bm25_scores(DOCUMENTS, ["stays"]).tolist() == [0.899843, 0.0, 0.0]
    # "grief": in 2 of 3, ln(1 + 1.5 / 2.5) = 0.470004; product 0.431196. Asked twice it counts twice.
    assert bm25_scores(DOCUMENTS, ["grief"]).tolist() == [0.431196, 0.431196, 0.0]
    assert bm25_scores(DOCUMENTS, ["grief", "grief"]).tolist() == [0.862392, 0.862392, 0.0]
    # "rain" twice among 3 words of 1 in 3 documents: weight 0.980829, mean length 7/3,
    # 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / (7 / 3))) = 5 / 3.821429 = 1.308411. Product 1.283328.
    assert bm25_scores([*DOCUMENTS[:2], ["rain", "rain", "again"]], ["rain"]).tolist() == [0.0, 0.0, 1.283328]


@pytest.mark.parametrize(
    ("documents", "query"),
    [(DOCUMENTS, []), (DOCUMENTS, ["unheard"]), ([[], []], ["grief"]), ([[]], []), ([[], ["rain"]], ["grief"])],
)
def test_scores_without_shared_words_are_zero(documents: list[list[str]], query: list[str]) -> None:
    assert bm25_scores(documents, query).tolist() == [0.0] * len(documents)


def test_reciprocal_ranks_worked_out_by_hand() -> None:
    # Ranks 2, 1, 2, 4: equal scores share the better rank.
    assert reciprocal_ranks(np.array([0.5, 0.9, 0.5, 0.1])).tolist() == [1 / 62, 1 / 61, 1 / 62, 1 / 64]


def test_fused_worked_out_by_hand() -> None:
    # By meaning: ranks 3, 1, 2. By words only the third matches: rank 1.
    vectors = np.array([NORTH, EAST, BETWEEN, EAST], dtype=np.float32)
    ranked = rank_by_query(["a storm", "a calm", "her grief"], "grief", vectors, "fused", "en")
    assert [row.place for row in ranked] == [2, 1, 0]
    # The ranking by words lists one text of three, so it weighs three times as much as that by meaning.
    assert [row.fused for row in ranked] == pytest.approx([1 / 62 + 3 / 61, 1 / 61, 1 / 63], abs=1e-6)
    assert [row.dense for row in ranked] == [0.6, 1.0, 0.0]
    assert [row.bm25 for row in ranked][1:] == [0.0, 0.0]


def test_other_scores_than_rankings_are_null() -> None:
    vectors = np.array([NORTH, EAST, EAST], dtype=np.float32)
    dense = rank_by_query(["a", "b"], "b", vectors, "dense", "en")
    assert [(row.place, row.dense, row.bm25, row.fused) for row in dense] == [(1, 1.0, None, None), (0, 0.0, None, None)]
    by_words = rank_by_query(["a", "b"], "b", None, "bm25", "en")
    assert [(row.place, row.dense, row.fused) for row in by_words] == [(1, None, None), (0, None, None)]
    assert by_words[0].bm25 == pytest.approx(math.log(2), abs=1e-6)  # ln(1 + 1.5 / 1.5), a document of mean length


@pytest.mark.parametrize("rows", [1, 5, 5000])
def test_cosines_are_those_of_sklearn(rows: int) -> None:
    vectors = unit(rows + 1)
    expected = cosine_similarity(vectors[:-1], vectors[-1:])[:, 0]
    assert cosines(vectors[:-1], vectors[-1]) == pytest.approx(expected, abs=2e-6)


def test_mean_cosines_are_those_of_sklearn() -> None:
    vectors = unit(30)
    gram = cosine_similarity(vectors)
    np.fill_diagonal(gram, np.nan)
    assert mean_cosines(vectors) == pytest.approx(np.nanmean(gram, axis=1), abs=2e-6)


def test_outliers_by_meaning_worked_out_by_hand() -> None:
    # East to north 0 and between 0.6: 0.3. North: 0 and 0.8: 0.4. Between: 0.6 and 0.8: 0.7.
    ranked = rank_outliers(["e", "between", "n"], np.array([EAST, BETWEEN, NORTH], dtype=np.float32), "dense", "en")
    assert [(row.place, row.dense) for row in ranked] == [(0, 0.3), (2, 0.4), (1, 0.7)]


def test_outliers_by_words_worked_out_by_hand() -> None:
    # Lengths are equal, so a shared word scores its weight: "grief" (in 2 of 3) ln(1.6) = 0.470004, a word in one ln(8/3) =
    # 0.980829. The first shares "grief" with the second: 0.470004 of 1.450833 is 0.323955; with the third nothing: mean 0.161978.
    documents = [["grief", "stays"], ["grief", "goes"], ["rain", "falls"]]
    assert mean_bm25(documents) == pytest.approx([0.161978, 0.161978, 0.0], abs=2e-6)
    ranked = rank_outliers([" ".join(document) for document in documents], None, "bm25", "en")
    assert [row.place for row in ranked] == [2, 0, 1]


def test_fused_outliers() -> None:
    texts = ["grief stays", "grief goes", "grief grows", "rain falls"]
    vectors = np.array([EAST, EAST, NORTH, NORTH], dtype=np.float32)
    ranked = rank_outliers(texts, vectors, "fused", "en")
    # All mean cosines are 1/3, and share rank 1; by words the last is like none, the others alike.
    assert [row.place for row in ranked] == [3, 0, 1, 2]
    assert [row.fused for row in ranked] == [2 / 61, *[1 / 61 + 1 / 62] * 3]
    assert [row.dense for row in ranked] == [0.333333] * 4


def test_single_text_has_no_others_and_no_scores() -> None:
    assert [tuple(row) for row in rank_outliers(["alone"], unit(1), "fused", "en")] == [(0, None, None, None)]
    assert rank_outliers([], None, "dense", "en") == ()
    assert rank_by_query([], "grief", None, "bm25", "en") == ()


@given(st.lists(st.sampled_from(["grief", "rain", "", "，", "grief rain"]), max_size=12), st.sampled_from(["", "grief", "—"]))
def test_equal_scores_keep_their_order(texts: list[str], query: str) -> None:
    ranked = rank_by_query(texts, query, None, "bm25", "en")
    assert sorted(row.place for row in ranked) == list(range(len(texts)))
    assert [(-(row.bm25 or 0), row.place) for row in ranked] == sorted((-(row.bm25 or 0), row.place) for row in ranked)
    by_likeness = rank_outliers(texts, None, "bm25", "en")
    assert [((row.bm25 or 0), row.place) for row in by_likeness] == sorted(((row.bm25 or 0), row.place) for row in by_likeness)


def test_cosines_rounded_apart_are_tied() -> None:
    # The cosine with the query is the first component: 0.50000048 is rounded to 0.5, 0.50000054 to 0.500001.
    vectors = np.array([[0.50000048, 0.8660251], [0.50000054, 0.866025], [0.9, 0.43588989], [1, 0]], dtype=np.float32)
    ranked = rank_by_query(["a", "b", "c"], "q", vectors, "dense", "en")
    assert [(row.place, row.dense) for row in ranked] == [(2, 0.9), (0, 0.5), (1, 0.500001)]


def test_near_scores_tie_in_chains() -> None:
    scores = np.array([0.3, 0.500004, 0.5, 0.300003, 0.500002, -0.1])
    assert tie_neighbours(scores).tolist() == [1.0, 3.0, 3.0, 2.0, 3.0, 0.0]
    assert tie_neighbours(np.array([0.7])).tolist() == [0.0]


@pytest.mark.parametrize("ranking", ["dense", "fused"])
def test_noise_below_the_tie_moves_no_text(ranking: Ranking) -> None:
    # Every text stands there twice, as texts do that differ in their capitals alone: the model gives both the same vector.
    exact = np.repeat(unit(21), 2, axis=0)[:-1]
    texts = [f"word{place // 4}" for place in range(40)]
    for scores in (cosines(exact[:-1], exact[-1]), mean_cosines(exact[:-1])):
        gaps = np.diff(np.unique(scores))
        assert gaps.min() > 10 * TIE  # far beyond the noise
    by_query = [row.place for row in rank_by_query(texts, "word3", exact, ranking, "en")]
    outliers = [row.place for row in rank_outliers(texts, exact[:-1], ranking, "en")]
    for seed in range(1, 40):
        noisy = exact + np.float32(1e-6) * unit(len(exact), seed=seed)
        assert [row.place for row in rank_by_query(texts, "word3", noisy, ranking, "en")] == by_query
        assert [row.place for row in rank_outliers(texts, noisy[:-1], ranking, "en")] == outliers


def test_words() -> None:
    assert words("Sarah's FEAR—and 3 naïve, snake_case!", "en") == ["sarah", "s", "fear", "and", "3", "naïve", "snake_case"]
    assert words("我今天很难过，因为 iPhone 丢了。", "zh") == ["我", "今天", "很", "难过", "因为", "iphone", "丢", "了"]
    assert words("…！？", "zh") == []
