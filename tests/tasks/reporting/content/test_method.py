"""Method notes: the blueprint's own weights in words, what the plan decided, and where datasets deviate."""

from dataclasses import replace

import polars as pl

from schemas.tables.scores import RawScores
from tasks.reporting.report import describe_method
from tests.tasks.reporting.example_run import PLAN, example_data, manifest
from tests.tasks.reporting.pages import render_html, section
from tests.tasks.runs.test_evidence import notice


def test_only_the_metrics_of_the_benchmark_are_explained() -> None:
    assert list(describe_method(example_data()).metrics) == ["accuracy", "judged_rating"]


def test_decisions_follow_the_plan() -> None:
    plan = PLAN | {"roles": {}, "permute": 4, "repeat": 2, "bootstrap": 0, "too_long": "cut_start", "rank_incomplete": True}
    other = section(render_html(example_data(manifest=manifest(plan=plan))), "method")
    assert "No judge was named, so nothing that needs one was scored." in other
    assert "Each single choice was asked in 4 cyclic orders of its options." in other
    assert "Each item was asked 2 times." in other
    assert "An item longer than the model's context is asked again with the end of its context only." in other
    assert "Models below full coverage are ranked too, as asked for by rank_incomplete." in other


def test_deviations_are_those_the_manifest_records() -> None:
    told = notice("mood").model_copy(update={"differences": ("Shown without tags.",)})
    found = describe_method(example_data(manifest=manifest(datasets=(told, notice("kind"))))).deviations
    assert [(entry.title, entry.differences) for entry in found] == [("Mood", ("Shown without tags.",))]


def test_the_design_effect_of_each_metric_is_listed() -> None:
    data = example_data()
    effect = pl.when(pl.col("metric") == "accuracy").then(1.547)
    raw = RawScores.cast(data.raw_scores.with_columns(design_effect=effect, n_clusters=27))
    shown = section(render_html(replace(data, raw_scores=raw)), "method")
    assert "Items that share a source" in shown
    assert "27 1.55" in shown
    assert "Items that share a source" not in section(render_html(data), "method")
