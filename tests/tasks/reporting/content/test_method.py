"""Method notes: the blueprint's own weights in words, what the plan decided, and where datasets deviate."""

import pytest

from tasks.reporting.content.method import describe_design, describe_method
from tests.tasks.analysis.test_redaction import notice
from tests.tasks.reporting.example_run import PLAN, example_data, manifest


def test_formulas_name_the_weights_of_this_blueprint() -> None:
    notes = describe_method(example_data()).formulas
    assert notes["Levels"].endswith("which of them are there: low 0.4, medium 0.6; one alone counts fully.")
    assert notes["Total"] == "1 × Emotional Ability, divided by the weights of those that have a score."
    assert notes["Veto"].startswith("Below 60 in Values & Safety the total is 0")
    assert "at least 95\u00a0% of the items" in notes["Missing is never zero"]


def test_only_the_metrics_of_the_benchmark_are_explained() -> None:
    assert list(describe_method(example_data()).metrics) == ["accuracy", "judged_rating"]


def test_decisions_follow_the_plan() -> None:
    decisions = describe_method(example_data()).decisions
    assert "At most 4 items per dataset, drawn by the hash of seed 0 and content: the same everywhere." in decisions
    assert "alpha rated the free-text answers, each 1 time." in decisions
    assert "An item longer than the model's context is missing, not shortened." in decisions
    plan = PLAN | {"judge": None, "permute": 4, "repeat": 2, "bootstrap": 0, "too_long": "cut_start", "rank_incomplete": True}
    other = describe_method(example_data(manifest=manifest(plan=plan))).decisions
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


def test_design_counts() -> None:
    design = describe_design(example_data())
    assert [(row.sub_ability, row.tasks, row.datasets, row.methods) for row in design.rows] == [
        ("Values & Safety", 1, 1, 1),
        ("Emotion Recognition", 2, 3, 3),
    ]
    # 3 tasks on 2 sub-abilities, 4 datasets on 3 tasks, 4 methods on 4 datasets.
    assert [ratio for _, ratio, _ in design.ratios] == pytest.approx([1.5, 4 / 3, 1.0])
    # kind is English, tale Chinese, mood both; lost was not built.
    assert (design.built, design.english, design.chinese, design.bilingual) == (3, 1, 1, 1)
