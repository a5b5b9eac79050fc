"""Models of a leaderboard side by side, by hand."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import Blueprint
from schemas.lineage import CodeVersion, RunManifest
from schemas.tables.layers import LAYERS
from tasks.lake.fingerprint import partition_key
from tasks.lake.lake import Lake
from tasks.leaderboard.across_models import AcrossModels, compare_models
from tasks.leaderboard.ranking import LeaderboardData, published_leaderboard
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.scoring.samples import ability, blueprint, items, share, task

DESIGN = blueprint(ability("foundational", task("d"), weight=0.3), ability("emotional", task("e"), weight=0.7))


def stored(lake: Lake, run: str, item_scores: pl.DataFrame, design: Blueprint, **plan: Any) -> tuple[RunManifest, pl.DataFrame]:
    """A run of these item scores, and its rows of `totals`."""
    scored = score_benchmark(item_scores.lazy(), design, ScoreSettings(bootstrap=0))
    layers = {name: scored.layer(name) for name in ("task_scores", "normalized_scores")} | {"item_scores": item_scores}
    keys = {name: partition_key(name, {"benchmark": "tiny"}, {"run": run}, [], "1") for name in layers}
    refs = tuple(lake.write(keys[name], frame, LAYERS[name]) for name, frame in layers.items())
    blueprinted = bare_manifest(run, partitions=refs, plan={"seed": 0, **plan}, blueprint=design.model_dump(mode="json"))
    return blueprinted, scored.totals.with_columns(run=pl.lit(run), group=pl.lit(1, pl.Int64))


def across(tmp_path: Path, *runs: pl.DataFrame, design: Blueprint = DESIGN, **plan: Any) -> tuple[AcrossModels, ...]:
    lake = Lake(tmp_path, CodeVersion("1", None))
    made = [stored(lake, f"r{number}", rows, design, **plan) for number, rows in enumerate(runs)]
    totals = pl.concat([rows for _, rows in made])
    ranked = totals.with_columns(rank=pl.col("total").rank("min", descending=True).cast(pl.Int64))
    data = LeaderboardData(design, ranked, ranked.clear(), ranked.clear(), tuple(manifest for manifest, _ in made))
    return compare_models(data, tmp_path)


def model(name: str, d: int, e: int, n: int = 100) -> pl.DataFrame:
    """A model with so many of `n` items right in each dataset."""
    return pl.concat([items("d", share(d, n), name), items("e", share(e, n), name)])


def test_differences_are_weighed_and_told_apart(tmp_path: Path) -> None:
    (found,) = across(tmp_path, model("best", 90, 80), model("near", 90, 79), model("low", 40, 20), bootstrap=400)
    # 0.3 x 90 + 0.7 x 80 = 83; 0.3 x 90 + 0.7 x 79 = 82.3; 0.3 x 40 + 0.7 x 20 = 26.
    assert found.models == ("best", "near", "low")
    pairs = {(pair.first, pair.second): pair for pair in found.pairs}
    assert {names: round(pair.difference, 6) for names, pair in pairs.items()} == {
        ("best", "near"): 0.7,
        ("best", "low"): 57,
        ("near", "low"): 56.3,
    }
    # Best and near differ in one item of 200: a third of the resamples does not have it.
    assert [pair.is_clear for pair in found.pairs] == [False, True, True]
    assert found.told_apart == pytest.approx(2 / 3)
    assert {pair.n_items for pair in found.pairs} == {200}


def test_the_best_two_of_a_task_are_marked_and_what_ties_with_the_best(tmp_path: Path) -> None:
    runs = (model("a", 90, 80), model("b", 90, 79), model("c", 60, 20), items("e", share(10, 100), "d"))
    (found,) = across(tmp_path, *runs, bootstrap=400)
    first, second = found.tasks
    assert [(cell.model, cell.score, cell.mark, cell.tied) for cell in first.scores] == [
        ("a", 90, "best", True),
        ("b", 90, "best", True),
        ("c", 60, "second", False),
        ("d", None, None, None),
    ]
    marks = [(cell.mark, cell.tied) for cell in second.scores]
    assert marks == [("best", True), ("second", True), (None, False), (None, False)]
    # Scores 10, 20, 79 and 80: quartiles at 0.75, 1.5 and 2.25 of the way between them.
    assert second.quartiles == pytest.approx((10, 17.5, 49.5, 79.25, 80))
    # The model d has no score on the first task.
    assert ((first.weakest_of, second.weakest_of), found.weakest) == ((3, 4), (second.title,))


def test_without_resamples_nothing_is_tied_or_told_apart(tmp_path: Path) -> None:
    (found,) = across(tmp_path, model("a", 9, 8, 10), model("b", 8, 8, 10), bootstrap=0)
    assert (found.told_apart, found.pairs[0].ci_low, found.tasks[0].scores[1].tied) == (None, None, None)
    assert found.pairs[0].difference == pytest.approx(3)


def test_a_model_alone_is_compared_with_nothing(tmp_path: Path) -> None:
    assert across(tmp_path, model("a", 9, 8, 10)) == ()
    other = model("b", 9, 8, 10).with_columns(setting=pl.lit("rag"))
    assert across(tmp_path, model("a", 9, 8, 10), other) == ()


def test_the_order_beside_the_published_one(tmp_path: Path) -> None:
    named = {"gpt-4o": 50, "x/GPT-5-mini-2025-08-07": 70, "doubao-pro-32k-241215": 60, "mine": 90}
    (found,) = across(tmp_path, *(model(name, hits, hits) for name, hits in named.items()))
    assert found.published_models == ("x/GPT-5-mini-2025-08-07", "doubao-pro-32k-241215", "gpt-4o")
    # Published, 0.3 x foundational + 0.7 x emotional: 72.8, 71.7 and 73.3. Ranks 1, 2, 3 here and 2, 3, 1 there:
    # 1 - 6 x (1 + 1 + 4) / (3 x 8).
    assert found.published_correlation == pytest.approx(-0.5)
    other = {"gpt-4o": 70, "gpt-5-mini-2025-08-07": 60, "doubao-pro-32k-241215": 50}
    (found,) = across(tmp_path / "other", *(model(name, hits, hits) for name, hits in other.items()))
    assert found.published_correlation == pytest.approx(1)


def test_ranks_by_other_level_weights(tmp_path: Path) -> None:
    design = blueprint(ability("a", task("d"), task("e", "high")))
    (found,) = across(tmp_path, model("low", 100, 0), model("high", 0, 90), model("none", 0, 0), design=design)
    # Low 0.6, high 0.4: 60, 36 and 0. Equal: 50, 45 and 0. Swapped: 40, 54 and 0.
    assert [(one.ranks, one.moved, one.rank_correlation) for one in found.variations] == [
        ((1, 2, 3), 0, 1.0),
        ((2, 1, 3), 2, pytest.approx(0.5)),
    ]


def test_a_papers_models_are_vetoed_otherwise(tmp_path: Path) -> None:
    (found,) = compare_models(published_leaderboard("moodbench"), tmp_path)
    assert (len(found.models), found.tasks, found.pairs) == (30, (), ())
    # With a gate of 51.93 abab6.5t-chat is ranked below 50: it comes last, and no other moves.
    assert [(one.title, one.moved) for one in found.variations] == [
        ("Veto below 50", 1),
        ("Veto below 55", 0),
        ("Veto below 65", 0),
        ("Veto below 70", 0),
    ]
    assert compare_models(published_leaderboard("longemotion"), tmp_path) == ()


def test_a_paper_without_totals_over_its_languages_is_not_correlated(tmp_path: Path) -> None:
    design = blueprint(ability("english", task("d")), ability("chinese", task("e")))
    (found,) = across(tmp_path, model("GPT-4", 90, 80), model("ChatGPT", 40, 20), design=design)
    assert (found.models, found.published_models, found.published_correlation) == (("GPT-4", "ChatGPT"), (), None)
