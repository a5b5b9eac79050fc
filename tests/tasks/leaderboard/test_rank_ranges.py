"""Which ranks the data do not rule out, by hand."""

from dataclasses import replace

import polars as pl
import pytest
from scipy import stats

from tasks.leaderboard.rank_ranges import add_rank_ranges, ties_said
from tasks.leaderboard.ranking import LeaderboardData
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.gains import pair_datasets, weigh_scores
from tasks.scoring.tree import tree_tables
from tests.tasks.scoring.samples import ability, blueprint, items, share, task

ONE = blueprint(ability("a", task("d")))


def ranges(*models: pl.DataFrame) -> dict[str, tuple[int | None, int | None]]:
    scores = pl.concat(models)
    totals = score_benchmark(scores.lazy(), ONE, ScoreSettings()).totals
    ranged = add_rank_ranges(totals, scores, ONE)
    return {model: (low, high) for model, low, high in ranged.select("model", "rank_low", "rank_high").iter_rows()}


def test_near_systems_share_their_ranks() -> None:
    # 90 and 88 of 100 right, on all but two items the same; 20 of 100 is far below both.
    found = ranges(items("d", share(90, 100), "best"), items("d", share(88, 100), "near"), items("d", share(20, 100), "low"))
    assert found == {"best": (1, 2), "near": (1, 2), "low": (3, 3)}


def test_tied_sets_are_said() -> None:
    models = [items("d", share(right, 100), name) for right, name in ((90, "best"), (88, "near"), (20, "low"))]
    scores = pl.concat(models)
    totals = score_benchmark(scores.lazy(), ONE, ScoreSettings()).totals
    ranged = add_rank_ranges(totals, scores, ONE)
    board = LeaderboardData(ONE, ranged, pl.DataFrame(), pl.DataFrame())
    (said,) = ties_said(board)
    assert said.endswith("equivalent: best, near")
    assert [*ties_said(replace(board, totals=totals))] == []


def test_without_a_test_there_is_no_range() -> None:
    alone = {"best": (None, None), "low": (None, None)}
    # Four clusters are too few.
    assert ranges(items("d", [1.0] * 4, "best"), items("d", [0.0] * 4, "low")) == alone


def test_unranked_systems_are_not_counted() -> None:
    # Half of the items of "half" have no score: it has no rank, and the two others are all there are.
    half = items("d", [1.0] * 50 + [None] * 50, "half")
    found = ranges(items("d", share(90, 100), "best"), items("d", share(20, 100), "low"), half)
    assert found == {"best": (1, 1), "low": (2, 2), "half": (None, None)}


def test_the_test_is_the_paired_t_test() -> None:
    before, after = [0.0] * 12 + [1.0] * 28, [1.0] * 12 + [1.0] * 20 + [0.0] * 8
    both = pl.concat([items("d", before), items("d", after, setting="rag")])
    pairs = pair_datasets(both.lazy(), ["d"], tree_tables(ONE))
    test, by_scipy = weigh_scores(pairs, dict.fromkeys(pairs, 1.0)).difference, stats.ttest_rel(after, before)
    assert (test.n, test.mean) == pytest.approx((40, 10))
    assert test.standard_error == pytest.approx(10 / by_scipy.statistic)
    assert test.p_value == pytest.approx(by_scipy.pvalue)
