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


def test_it_has_a_score_of_its_own() -> None:
    found = scored(LATE, FIND, EARLY)
    assert found.dataset.filter(dataset="early")["score_0_100"].to_list() == [10]
    assert found.task.filter(task="task_stages")["score_0_100"].to_list() == [60]
    assert found.raw.filter(dataset="early")["ci_low"].null_count() == 0


def test_it_counts_in_coverage_as_any_other() -> None:
    whole, part = (scored(*parts).totals.row(0, named=True) for parts in ((LATE, FIND, EARLY), (LATE, FIND)))
    assert (whole["datasets_scored"], whole["datasets_total"], whole["n_scored"], whole["rank"]) == (3, 3, 30, 1)
    assert (part["datasets_scored"], part["datasets_total"], part["n_scored"], part["rank"]) == (2, 3, 20, None)
