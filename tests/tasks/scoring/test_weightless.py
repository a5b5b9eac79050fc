"""A dataset of weight 0 beside one that counts, as three stages of LongEmotion's conversations are."""

import polars as pl
import pytest

from tasks.scoring.benchmark import ScoreSettings, ScoreTables, score_benchmark
from tests.tasks.scoring.samples import ability, blueprint, items, share, task

TREE = blueprint(
    ability("talk", task("stages", datasets=["early", "late"], early=0.0)),
    ability("find", task("find")),
)
LATE, FIND = items("late", share(6, 10)), items("find", share(3, 10))
EARLY = items("early", share(1, 10))


def scored(*parts: pl.DataFrame) -> ScoreTables:
    return score_benchmark(pl.concat(parts).lazy(), TREE, ScoreSettings(bootstrap=300))


def test_it_moves_neither_total_nor_interval() -> None:
    # 60 and 30, with equal weights
    with_it, without = scored(LATE, FIND, EARLY).totals, scored(LATE, FIND).totals
    columns = ["total", "ci_low", "ci_high"]
    assert with_it["total"].to_list() == [pytest.approx(45)]
    assert with_it.select(columns).equals(without.select(columns))
