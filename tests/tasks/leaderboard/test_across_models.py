"""Models of a leaderboard side by side, and their ranks with another helper, by hand."""

from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from schemas.blueprint import Blueprint, MetricSpec
from schemas.documents.leaderboard import AcrossModels
from tasks.leaderboard.across_models import compare_helpers, compare_models, correlate_ranks
from tasks.leaderboard.ranking import LeaderboardData, published_leaderboard
from tasks.runs.comparable_runs import group_runs
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tests.tasks.runs.runs import keep_run
from tests.tasks.runs.test_comparable_runs import manifest
from tests.tasks.scoring.samples import ability, blueprint, gated, items, one_dataset, share, task

DESIGN = blueprint(ability("foundational", task("d"), weight=0.3), ability("emotional", task("e"), weight=0.7))


def across(tmp_path: Path, *runs: pl.DataFrame, design: Blueprint = DESIGN, **plan: Any) -> tuple[AcrossModels, ...]:
    """The models of runs with these item scores, side by side."""
    manifests, totals = [], []
    for number, item_scores in enumerate(runs):
        scored = score_benchmark(item_scores.lazy(), design, ScoreSettings())
        layers = {name: scored.layer(name) for name in ("task_scores", "normalized_scores")} | {"item_scores": item_scores}
        fields = {"plan": {"seed": 0, **plan}, "blueprint": design.model_dump(mode="json")}
        manifests.append(keep_run(tmp_path, f"r{number}", layers, {"benchmark": "tiny"}, **fields))
        totals.append(scored.totals.with_columns(run=pl.lit(f"r{number}"), group=pl.lit(1, pl.Int64)))
    ranked = pl.concat(totals).with_columns(rank=pl.col("total").rank("min", descending=True).cast(pl.Int64))
    return compare_models(LeaderboardData(design, ranked, ranked.clear(), ranked.clear(), tuple(manifests)), tmp_path)


def model(name: str, d: int, e: int, n: int = 100) -> pl.DataFrame:
    """A model with so many of `n` items right in each dataset."""
    return pl.concat([items("d", share(d, n), name), items("e", share(e, n), name)])


def test_differences_are_weighed_and_told_apart(tmp_path: Path) -> None:
    (found,) = across(tmp_path, model("best", 90, 80), model("near", 90, 79), model("low", 40, 20))
    # 0.3 x 90 + 0.7 x 80 = 83; 0.3 x 90 + 0.7 x 79 = 82.3; 0.3 x 40 + 0.7 x 20 = 26.
    assert found.models == ("best", "near", "low")
    differences = {(pair.first, pair.second): round(pair.difference, 6) for pair in found.pairs}
    assert differences == {("best", "near"): 0.7, ("best", "low"): 57, ("near", "low"): 56.3}
    # Best and near differ in one item of 200.
    assert [pair.differs for pair in found.pairs] == [False, True, True]
    assert found.told_apart == pytest.approx(2 / 3)
    assert {pair.n_items for pair in found.pairs} == {200}


def test_best_two_of_a_task_are_marked(tmp_path: Path) -> None:
    runs = (model("a", 90, 80), model("b", 90, 79), model("c", 60, 20), items("e", share(10, 100), "d"))
    (found,) = across(tmp_path, *runs)
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


def test_ties_are_weighed_by_metric(tmp_path: Path) -> None:
    design = one_dataset(MetricSpec(metric="accuracy"), MetricSpec(metric="strict_accuracy", weight=3.0))

    def both(name: str, accuracy: list[float], strict: list[float]) -> pl.DataFrame:
        return pl.concat([items("d", accuracy, name), items("d", strict, name, metric="strict_accuracy")])

    # 1/4 x 75 is lost by b and 3/4 x 22.5 won, which varies: 1.9 may be 0. Weighed otherwise it would be far from it.
    runs = both("a", [1.0] * 20, [0.0] * 20), both("b", [0.25] * 20, [0.5] * 9 + [0.0] * 11)
    (found,) = across(tmp_path, *runs, design=design)
    assert [(cell.score, cell.tied) for cell in found.tasks[0].scores] == [(25, True), (pytest.approx(23.125), True)]


def test_too_few_items_tie_and_tell_apart_nothing(tmp_path: Path) -> None:
    models = (items("d", share(right, 4), name) for name, right in (("a", 4), ("b", 3)))
    (found,) = across(tmp_path, *models, design=blueprint(ability("a", task("d"))))
    assert (found.told_apart, found.pairs[0].ci_low, found.tasks[0].scores[1].tied) == (None, None, None)
    assert found.pairs[0].difference == 25


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


def test_a_model_without_a_dataset_is_not_set_beside_the_published_one(tmp_path: Path) -> None:
    whole = (model(name, hits, hits) for name, hits in {"gpt-4o": 70, "gpt-5-mini-2025-08-07": 60, "mine": 50}.items())
    (found,) = across(tmp_path, *whole, items("e", share(80, 100), "doubao-pro-32k-241215"))
    assert (found.published_models, len(found.models)) == (("gpt-4o", "gpt-5-mini-2025-08-07"), 4)


def test_ranks_by_other_level_weights(tmp_path: Path) -> None:
    design = blueprint(ability("a", task("d"), task("e", "high")))
    (found,) = across(tmp_path, model("low", 100, 0), model("high", 0, 90), model("none", 0, 0), design=design)
    # Low 0.6, high 0.4: 60, 36 and 0. Equal: 50, 45 and 0. Swapped: 40, 54 and 0.
    assert [(varied.ranks, varied.moved, varied.rank_correlation) for varied in found.variations] == [
        ((1, 2, 3), 0, 1.0),
        ((2, 1, 3), 2, pytest.approx(0.5)),
    ]


def test_a_papers_models_are_vetoed_otherwise(tmp_path: Path) -> None:
    (found,) = compare_models(published_leaderboard("moodbench"), tmp_path)
    assert (len(found.models), found.tasks, found.pairs) == (30, (), ())
    # With a gate of 51.93 abab6.5t-chat is ranked below 50: it comes last, and no other moves.
    moved = {varied.title: varied.moved for varied in found.variations}
    assert moved == {"Veto below 50": 1, "Veto below 55": 0, "Veto below 65": 0, "Veto below 70": 0}
    assert compare_models(published_leaderboard("longemotion"), tmp_path) == ()


def test_a_paper_without_totals_is_not_correlated(tmp_path: Path) -> None:
    design = blueprint(ability("english", task("d")), ability("chinese", task("e")))
    (found,) = across(tmp_path, model("GPT-4", 90, 80), model("ChatGPT", 40, 20), design=design)
    assert (found.models, found.published_models, found.published_correlation) == (("GPT-4", "ChatGPT"), (), None)


SAGE = {"name": "s", "base_url": "http://s/v1"}
ORDERS = {"one": [10.0, 20, 30, 40], "two": [10.0, 30, 20, 40]}


def board(*plans: dict[str, Any], models: int = 4) -> LeaderboardData:
    """Runs with these plans, whose totals are those of ORDERS."""
    manifests = tuple(manifest(f"2026010{9 - number}-x", plan=plan) for number, plan in enumerate(plans))
    groups = group_runs(manifests, {})
    rows = [
        {"model": f"m{number}", "setting": "coem", "total": total, "run": each.run, "group": group.number}
        for group, each, totals in zip(groups, manifests, cycle(ORDERS.values()), strict=False)
        for number, total in enumerate(totals[:models])
    ]
    totals = pl.DataFrame(rows)
    return LeaderboardData(gated(), totals, totals.clear(), totals.clear(), manifests, groups=groups)


def test_coefficients_and_intervals_by_hand() -> None:
    totals = np.array(list(ORDERS.values()))
    # Ranks 1 2 3 4 and 1 3 2 4: rho 1 - 6 x (1 + 1) / (4 x 15); of six pairs five agree: tau (5 - 1) / 6.
    values = {"spearman": pytest.approx(0.8), "kendall_tau_b": pytest.approx(2 / 3)}
    assert correlate_ranks(totals, 0, 0) == values | {f"{name}_{end}": None for name in values for end in ("low", "high")}
    found = correlate_ranks(totals, 400, 0)
    # Resamples of the two that changed places alone have -1, those without one of the two 1.
    assert (found["spearman_low"], found["spearman_high"]) == (-1, 1)
    assert correlate_ranks(totals, 400, 0) == found
    # With ties: ranks 1 2 3 and 1.5 1.5 3. Tau-b = 2 / sqrt(3 x 2); rho = Pearson of the ranks = 1.5 / sqrt(2 x 1.5).
    tied = correlate_ranks(np.array([[1.0, 2, 3], [5.0, 5, 6]]), 0, 0)
    assert [tied["kendall_tau_b"], tied["spearman"]] == pytest.approx([2 / 6**0.5, 1.5 / 3**0.5])
    assert set(correlate_ranks(np.array([[1.0, 2, 3], [5.0, 5, 5]]), 10, 0).values()) == {None}


def test_groups_that_differ_in_one_helper_are_correlated() -> None:
    other = {"roles": {"sage": {**SAGE, "name": "t"}}, "bootstrap": 0}
    data = board({"roles": {"sage": SAGE}, "bootstrap": 0}, other)
    (found,) = compare_helpers(data)
    models = ["m0", "m1", "m2", "m3"]
    assert (found.role, found.groups, found.setting, [*found.models]) == ("sage", (1, 2), "coem", models)
    assert found.spearman == pytest.approx(0.8)
    # The model under test is its own sage in the second run.
    assert [row.role for row in compare_helpers(board({"roles": {"sage": SAGE}}, {}))] == ["sage"]
    # Groups that differ otherwise hide none behind them.
    third = board({"roles": {"sage": SAGE}}, {"seed": 1}, {})
    assert [row.groups for row in compare_helpers(third)] == [(1, 3)]


def test_groups_that_differ_otherwise_are_not_correlated() -> None:
    sage: dict[str, Any] = {"roles": {"sage": SAGE}}
    for data in (board(sage, {"seed": 1}), board({}, {"seed": 1}), board({}, {}), board(sage, {}, models=2)):
        assert list(compare_helpers(data)) == []
