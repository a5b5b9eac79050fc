"""Which ranks the data do not rule out, by hand."""

from dataclasses import replace

import polars as pl
import pytest
from scipy import stats

from tasks.leaderboard.rank_ranges import add_rank_ranges, ties_said
from tasks.leaderboard.ranking import LeaderboardData
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.gains import pair_datasets, weigh_test
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import Resampling
from tests.tasks.scoring.samples import ability, blueprint, items, share, task

ONE = blueprint(ability("a", task("d")))
TWO = blueprint(ability("a", task("d")), ability("b", task("e"), weight=3.0))


def ranges(*models: pl.DataFrame, resamples: int = 500) -> dict[str, tuple[int | None, int | None]]:
    scores = pl.concat(models)
    totals = score_benchmark(scores.lazy(), ONE, ScoreSettings(bootstrap=0)).totals
    ranged = add_rank_ranges(totals, scores, ONE, Resampling(resamples, 0))
    return {model: (low, high) for model, low, high in ranged.select("model", "rank_low", "rank_high").iter_rows()}


def test_near_systems_share_their_ranks() -> None:
    # 90 and 88 of 100 right, on all but two items the same; 20 of 100 is far below both.
    found = ranges(items("d", share(90, 100), "best"), items("d", share(88, 100), "near"), items("d", share(20, 100), "low"))
    assert found == {"best": (1, 2), "near": (1, 2), "low": (3, 3)}


def test_tied_sets_are_said() -> None:
    models = [items("d", share(right, 100), name) for right, name in ((90, "best"), (88, "near"), (20, "low"))]
    scores = pl.concat(models)
    totals = score_benchmark(scores.lazy(), ONE, ScoreSettings(bootstrap=0)).totals
    ranged = add_rank_ranges(totals, scores, ONE, Resampling(500, 0))
    board = LeaderboardData(ONE, ranged, pl.DataFrame(), pl.DataFrame())
    (said,) = ties_said(board)
    assert said.endswith("equivalent: best, near")
    assert [*ties_said(replace(board, totals=totals))] == []


def test_without_a_test_there_is_no_range() -> None:
    alone = {"best": (None, None), "low": (None, None)}
    scores = items("d", share(90, 100), "best"), items("d", share(20, 100), "low")
    assert ranges(*scores, resamples=0) == alone
    # One item has one cluster: no standard error.
    assert ranges(items("d", [1.0], "best"), items("d", [0.0], "low")) == alone


def test_unranked_systems_are_not_counted() -> None:
    # Half of the items of "half" have no score: it has no rank, and the two others are all there are.
    half = items("d", [1.0] * 50 + [None] * 50, "half")
    found = ranges(items("d", share(90, 100), "best"), items("d", share(20, 100), "low"), half)
    assert found == {"best": (1, 1), "low": (2, 2), "half": (None, None)}


def test_the_test_is_the_paired_t_test() -> None:
    before, after = [0.0] * 12 + [1.0] * 28, [1.0] * 12 + [1.0] * 20 + [0.0] * 8
    both = pl.concat([items("d", before), items("d", after, setting="rag")])
    pairs = pair_datasets(both.lazy(), ["d"], tree_tables(ONE), Resampling(20_000, 0))
    test = weigh_test(pairs, dict.fromkeys(pairs, 1.0))
    by_scipy = stats.ttest_rel(after, before)
    assert test.n == 40
    assert test.mean == pytest.approx(10)
    # 20,000 draws leave the standard error uncertain by 0.5 %.
    assert test.standard_error == pytest.approx(10 / by_scipy.statistic, rel=0.02)
    assert test.p_value == pytest.approx(by_scipy.pvalue, rel=0.05)


def test_variances_of_datasets_add() -> None:
    # d: 4 clusters, two of which rise by 100: variance / n = 3333.3 / 4 = 833.3. e: 8, of which four do: 2857.1 / 8 = 357.1.
    base = pl.concat([items("d", [0.0] * 4), items("e", [0.0] * 8)])
    other = pl.concat([items("d", [1, 1, 0, 0], setting="rag"), items("e", [1, 1, 1, 1, 0, 0, 0, 0], setting="rag")])
    pairs = pair_datasets(pl.concat([base, other]).lazy(), ["d", "e"], tree_tables(TWO), Resampling(20_000, 0))
    test = weigh_test(pairs, {spec: {"d": 1.0, "e": 3.0}[spec[0]] for spec in pairs})
    # A quarter and three quarters: 833.3 / 16 + 357.1 x 9 / 16 = 252.98, of which the root is 15.91; 4 - 1 degrees of freedom.
    assert (test.n, test.mean) == (4, 50)
    assert test.standard_error == pytest.approx(252.976**0.5, rel=0.02)
