"""LongEmotion's overall score from item scores, by the ordinary aggregation: (EC + ED + QA + 20 ES + 20 MC-4 + EE) / 6."""

import polars as pl
import pytest

from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import papers, read_table
from tests.tasks.scoring.samples import items

BLUEPRINT = load_blueprint("longemotion")
ABILITY = {entry.id: node.id for _, node in BLUEPRINT.nodes() for task in node.tasks for entry in task.datasets}
PAPER = next(paper for paper in papers() if paper.title == "LongEmotion")
RATED_TO = {"ES": 5, "MC4": 5}


def as_items(row: dict[str, float | str]) -> pl.DataFrame:
    """One item per dataset and metric with the printed score: shares of 100, of the highest rating for ES and MC-4."""
    parts = []
    for dataset, spec in BLUEPRINT.datasets.items():
        (name,) = PAPER.models.abilities[ABILITY[dataset]].mean
        value = float(row[name]) / RATED_TO.get(name, 100)
        weightless = dataset in {"longemotion_mc1", "longemotion_mc2", "longemotion_mc3"}
        for method in spec.methods:
            for metric in method.metrics:
                counted = not weightless and metric.weight > 0
                shown = {"method": method.id, "metric": metric.metric, "setting": str(row["method"])}
                parts.append(items(dataset, [value if counted else 0.0], str(row["model"]), **shown))
    return pl.concat(parts)


def test_all_printed_averages_come_out_of_item_scores() -> None:
    table = read_table(PAPER, PAPER.models)
    scores = pl.concat([as_items(row) for row in table.iter_rows(named=True)])
    totals = score_benchmark(scores.lazy(), BLUEPRINT, ScoreSettings(bootstrap=0)).totals
    found = totals.join(table, left_on=["model", "setting"], right_on=["model", "method"])
    assert found.height == 18
    assert (found["total"] - found["avg"]).abs().max() == pytest.approx(0.005, abs=1e-6)
    assert found["coverage"].unique().to_list() == [1.0]
