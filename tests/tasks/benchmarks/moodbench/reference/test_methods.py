from pathlib import Path

import pytest

from schemas.blueprint import BlueprintDataset
from schemas.dataset import DatasetSpec, LocalFile
from tasks.benchmarks.moodbench.reference.methods import (
    NOT_COMPARABLE,
    REFERENCE_METRICS,
    is_asked,
    reference_blueprint,
    reference_gap,
    reference_method,
)
from tasks.datasets.catalogue import CATALOGUE
from tasks.scoring.blueprints import load_blueprint
from tests.rows import each_row

MOODBENCH = load_blueprint("moodbench")


def test_each_of_sixty_datasets_has_method_or_reason() -> None:
    assert not set(REFERENCE_METRICS) & set(NOT_COMPARABLE)
    assert set(REFERENCE_METRICS) | set(NOT_COMPARABLE) == {*MOODBENCH.datasets, "cped_empathy", "cped_personalization"}
    assert (len(REFERENCE_METRICS), len(NOT_COMPARABLE)) == (49, 13)


@each_row("dataset", sorted(NOT_COMPARABLE))
def test_incomparable_dataset_has_reason_instead_of_method(dataset: str) -> None:
    assert reference_method(dataset) is None
    gap = reference_gap(dataset, MOODBENCH.datasets[dataset])
    assert gap is not None
    assert gap.startswith("has no reference score: the released code ")


@pytest.mark.parametrize(
    ("dataset", "subset", "row", "asked"),
    [
        ("moodbench1", None, 0, False),
        ("moodbench1", None, 1, True),
        ("goemotions", None, 0, False),
        ("semeval2018_task1", "anger", 0, False),
        ("ag_news", None, 0, True),  # no header either, but the released code knows
        ("agieval", "sat-math", 7, False),
        ("agieval", "sat-en", 0, True),
    ],
)
def test_what_the_released_code_leaves_out(dataset: str, subset: str | None, row: int, asked: bool) -> None:
    assert is_asked({"dataset": dataset, "subset": subset, "source_row": row}) is asked


def test_released_code_lacks_bundled_and_own_sets() -> None:
    mini = load_blueprint("moodbench-mini")
    gaps = {reference_gap(name, entry) for name, entry in mini.datasets.items()}
    assert gaps == {"has no reference score: it is none of the sixty datasets that the released code scores"}
    own = BlueprintDataset(
        title="COPA", methods=mini.datasets["mini_text_matching"].methods, source=LocalFile(path=Path("copa.csv"))
    )
    assert reference_gap("copa", own) == "has no reference score: it is a file of your own, unknown to the released code"


def test_reference_blueprint_differs_in_name_and_methods_only() -> None:
    changed = reference_blueprint(MOODBENCH)
    assert changed.name == "moodbench-reference"
    assert changed.abilities == MOODBENCH.abilities
    assert (changed.gate, changed.level_rules) == (MOODBENCH.gate, MOODBENCH.level_rules)
    for name, entry in changed.datasets.items():
        assert entry.title == MOODBENCH.datasets[name].title
        expected = MOODBENCH.datasets[name].methods if name in NOT_COMPARABLE else (reference_method(name),)
        assert entry.methods == expected
    type(changed).model_validate(changed.model_dump())


@each_row("spec", [spec for spec in CATALOGUE.values() if spec.id in REFERENCE_METRICS])
def test_the_method_suits_the_items_of_the_catalogue(spec: DatasetSpec) -> None:
    suited = {
        "accuracy": {"single_choice", "multiple_answer", "ranking", "extractive"},
        "micro_f1": {"multiple_answer"},
        "rouge_1": {"extractive", "judged_summary"},
        "questionnaire_points": {"questionnaire"},
        "word_recall": {"open_ended"},
    }
    assert set(spec.question_types) <= suited[REFERENCE_METRICS[spec.id]]
    # Only AGIEval mixes in questions that the released code leaves out.
    assert "extractive" not in spec.question_types or spec.id in {"agieval", "cmrc2018"}
