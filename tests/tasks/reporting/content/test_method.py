"""Method notes: the blueprint's own weights in words, what the plan decided, and where datasets deviate."""

from dataclasses import replace

import polars as pl

from schemas.tables.scores import RawScores
from tasks.reporting.report import describe_method
from tests.tasks.reporting.example_run import PLAN, example_data, manifest
from tests.tasks.reporting.pages import render_html, section
from tests.tasks.runs.test_redaction import notice


def test_formulas_name_the_weights_of_this_blueprint(example_html: str) -> None:
    notes = section(example_html, "method")
    assert "which of them are there: low 0.4, medium 0.6; one alone counts fully." in notes
    assert "Total 1 × Emotional Ability, divided by the weights of those that have a score." in notes
    assert "Veto Below 60 in Values & Safety the total is 0" in notes
    assert "at least 95 % of the items" in notes


def test_the_design_of_the_benchmark_stands_beside_the_papers(example_html: str) -> None:
    notes = section(example_html, "method")
    # 2 abilities with tasks, 3 tasks of 4 datasets with a method each.
    assert "3 tasks, 4 datasets, 4 methods. Ability : task 1 : 1.50, task : dataset 1 : 1.33, dataset : method 1 : 1.00;" in notes
    assert "the MoodBench paper aims at 1 : 3, 1 : 2, 1 : 1." in notes
    assert "Emotion Recognition 2 3 3" in notes


def test_only_the_metrics_of_the_benchmark_are_explained() -> None:
    assert list(describe_method(example_data()).metrics) == ["accuracy", "judged_rating"]


def test_decisions_follow_the_plan(example_html: str) -> None:
    decisions = section(example_html, "method")
    assert "At most 4 items per dataset, drawn by the hash of seed 0 and content: the same everywhere." in decisions
    assert "Each source (tweet, passage, dialogue) gives one before any gives a second." in decisions
    assert "alpha rated the free-text answers, each 1 time." in decisions
    assert "An item longer than the model's context is missing, not shortened." in decisions
    assert "Longest reply in tokens: alpha 64, beta 64 and gamma 64." in decisions
    plan = PLAN | {"roles": {}, "permute": 4, "repeat": 2, "bootstrap": 0, "too_long": "cut_start", "rank_incomplete": True}
    other = section(render_html(example_data(manifest=manifest(plan=plan))), "method")
    assert "No judge was named, so nothing that needs one was scored." in other
    assert "Each single choice was asked in 4 cyclic orders of its options." in other
    assert "Each item was asked 2 times." in other
    assert "No interval was computed: bootstrap=0." in other
    assert "An item longer than the model's context is asked again with the end of its context only." in other
    assert "Models below full coverage are ranked too, as asked for by rank_incomplete." in other


def test_deviations_are_those_the_manifest_records() -> None:
    told = notice("mood").model_copy(update={"differences": ("Shown without tags.",)})
    found = describe_method(example_data(manifest=manifest(datasets=(told, notice("kind"))))).deviations
    assert [(entry.title, entry.differences) for entry in found] == [("Mood", ("Shown without tags.",))]


def test_the_design_effect_of_each_metric_is_listed() -> None:
    data = example_data()
    effect = pl.when(pl.col("metric") == "accuracy").then(1.547)
    raw = RawScores.cast(data.raw.with_columns(design_effect=effect, n_clusters=27))
    shown = section(render_html(replace(data, raw=raw)), "method")
    assert "Items that share a source" in shown
    assert "27 1.55" in shown
    assert "Items that share a source" not in section(render_html(data), "method")
