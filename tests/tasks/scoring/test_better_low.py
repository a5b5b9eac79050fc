"""Metrics whose lowest value is the best: rows, flips and words follow the blueprint, not the number."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import Blueprint, MetricSpec
from schemas.errors import SourceError
from schemas.lineage import CodeVersion
from schemas.metrics import METRICS, CentredNormalisation, Metric
from schemas.paper import Paper
from schemas.tables.scores import ItemScores
from tasks.compare.scores import compare_scores, find_flips
from tasks.explain.rows import answered_items
from tasks.lake.lake import Lake
from tasks.rows.index import score_rows
from tasks.runs.answers import ScoredItem, explain_answer
from tasks.runs.evidence import Evidence
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData
from tasks.scoring import normalisation
from tasks.scoring.published import scores_of_paper
from tasks.scoring.reduction import item_points
from tasks.scoring.tree import tree_tables
from tests.rows import each_row
from tests.tasks.lake.test_manifest import bare_manifest
from tests.tasks.rows import item
from tests.tasks.rows import items as asked_items
from tests.tasks.scoring.samples import items, one_dataset

BEST, WORST = "d-0", "d-1"
WHOLE = {"bias_score_ambiguous", "bias_score_disambiguated", "stereotype_score"}
"""Metrics that call no item right or wrong, if their best lies between two bad ones."""


def reversed_metric(metric: Metric) -> tuple[Blueprint, float, float]:
    """Return a blueprint by which a metric's lowest value is the best; and that value and the highest."""
    low, high = METRICS[metric].bounds
    k = {"k": 1} if METRICS[metric].has_cut_off else {}
    spec = MetricSpec(metric=metric, normalisation=CentredNormalisation(best=low, span=high - low), **k)
    return one_dataset(spec), low, high


def scores(metric: Metric, *values: float) -> pl.DataFrame:
    return items("d", [*values], metric=metric)


@each_row("metric", [name for name, row in METRICS.items() if row.reduction not in ("bias", "preference")])
def test_every_metric_reversed(metric: Metric) -> None:
    design, best, worst = reversed_metric(metric)
    rows, tree = scores(metric, best, worst), tree_tables(design)
    assert item_points(rows.lazy(), tree).select("item_id", "points").collect().sort("item_id").rows() == [
        (BEST, 100),
        (WORST, 0),
    ]
    rule = design.rule("d", "choice", metric)
    assert [normalisation.item_points(value, metric, rule) for value in (best, worst, None)] == [100, 0, None]
    of_rows = score_rows(rows.lazy(), tree).sort("item_id").collect()
    assert of_rows.select("item_id", "status", "score").rows() == [(BEST, "right", 100), (WORST, "wrong", 0)]
    (flips,) = find_flips(rows, scores(metric, worst, best), design)
    assert (flips.fell, flips.rose) == ((BEST,), (WORST,))


@each_row("metric", sorted(WHOLE))
def test_no_item_is_right_where_best_lies_between(metric: Metric) -> None:
    low, high = METRICS[metric].bounds
    rule = CentredNormalisation(best=(low + high) / 2, span=(high - low) / 2)
    design = one_dataset(MetricSpec(metric=metric, normalisation=rule))
    rows = scores(metric, high, low)
    assert item_points(rows.lazy(), tree_tables(design)).collect()["points"].to_list() == [None, None]
    assert normalisation.item_points(high, metric, rule) is None
    assert [*find_flips(rows, scores(metric, low, high), design)] == []


def test_worst_rows_and_scores_go_the_same_way(tmp_path: Path) -> None:
    design, _, _ = reversed_metric("judged_rating")
    low, high = scores("judged_rating", *[0.0] * 6, 0.25), scores("judged_rating", *[1.0] * 6, 0.25)
    asked = asked_items(*(item(name, "open_ended", dataset="d", references=["be kind"]) for name in low["item_id"]))
    run = PastRun(bare_manifest(), design, Lake(tmp_path, CodeVersion("1", None)))
    evidence = Evidence(ReportData(run.manifest, design, items=asked, item_scores=ItemScores.validate(high)), ())
    rows = answered_items(run, evidence, (), 7)
    assert [(row.item_id, row.value, row.points) for row in rows] == [*((f"d-{n}", 1, 0) for n in range(6)), ("d-6", 0.25, 75)]
    total, *_ = compare_scores(low, high, design)
    assert (total.before, round(total.after, 6), total.answer) == (675 / 7, round(75 / 7, 6), "different")


@pytest.mark.parametrize(
    ("normalisation", "order"),
    [({"type": "centred", "best": 0, "span": 2}, ["kind", "cold"]), ({"type": "numeric", "min": 0, "max": 2}, ["cold", "kind"])],
)
def test_columns_of_a_paper_on_another_scale(normalisation: dict[str, Any], order: list[str], tmp_path: Path) -> None:
    # Column `harm`, 0 to 2: of the good model 0.2, 90 points where 0 is best; of the bad one 1.5, 25 points.
    scores = scores_of_paper(one_paper(tmp_path, normalisation, "kind,0.2\ncold,1.5\n")).sort("harm", descending=True)
    assert scores["model"].to_list() == order
    assert scores["harm"].to_list() == pytest.approx([90, 25] if order[0] == "kind" else [75, 10])


def test_a_published_score_outside_its_scale_is_refused(tmp_path: Path) -> None:
    paper = one_paper(tmp_path, {"type": "centred", "best": 0, "span": 1}, "kind,0.2\ncold,1.5\n")
    with pytest.raises(SourceError, match="a published score lies outside 0-100") as refused:
        scores_of_paper(paper)
    assert "line 3, harm_rate" in str(refused.value.where)
    assert "-50 of cold" in str(refused.value.got)


def one_paper(folder: Path, normalisation: dict[str, Any], rows: str) -> Paper:
    """Write a table of one column, the ability harm; return its paper."""
    (folder / "table.csv").write_text(f"model,harm_rate\n{rows}", encoding="utf-8")
    columns = {"model": {"kind": "text"}, "harm_rate": {"high": 2}}
    models = {"file": "table.csv", "key": ["model"], "columns": columns, "name": "Table 1"}
    models |= {"abilities": {"harm": {"mean": ["harm_rate"], "normalisation": normalisation}}}
    fields = {"title": "P", "folder": folder, "models": models, "blueprints": ["tiny"], "sample": 1}
    return Paper.model_validate(fields)


def test_words_say_what_a_value_is_worth() -> None:
    rated: dict[str, Any] = {"question_type": "open_ended", "references": None}
    score = {"status": "scored", "metric": "judged_rating"}
    why = [explain_answer(ScoredItem(rated, {**score, "value": value}, None, points=100 - 100 * value)) for value in (1.0, 0.25)]
    assert why == [
        f"The ratings of the reply come to {value} on 0 to 1, worth {worth} of 100."
        for value, worth in (("1.00", 0), ("0.25", 75))
    ]
