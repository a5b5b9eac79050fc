"""The shipped blueprints against the paper's Tables 1 and 5."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.blueprint import Blueprint
from tasks.datasets.catalogue import find_dataset
from tasks.scoring.aggregation import aggregate_scores, total_scores
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import paper_of
from tasks.scoring.tree import tree_tables

ROOT = Path(__file__).resolve().parents[3]
TASKS = [2, 4, 5, 6, 1, 6, 6, 2, 1, 2, 3, 3]
DATASETS = [5, 5, 8, 8, 3, 8, 10, 3, 1, 2, 4, 3]
"""Table 1: per sub-ability, in its order."""

LEVELS = {
    "low": "bias_detection content_safety text_classification text_matching textual_entailment simple_causal_reasoning "
    "summarization daily_scenario_qa commonsense_qa physical_commonsense sentiment_polarity emotion_cause_analysis eq_test "
    "degree_of_personalization",
    "medium": "morality_detection information_security user_safety high_risk_harmful_behavior extractive_reading_comprehension "
    "word_sense_disambiguation coreference_resolution multi_turn_dialogue_reasoning human_cognition_exam multitask_knowledge_qa "
    "coarse_emotion_recognition irony_detection metaphor_detection emotion_intensity_understanding empathetic_expression "
    "interpersonal_relationship_test sequence_order_recall",
    "high": "reading_comprehension first_order_logic_reasoning complex_logical_reasoning truthfulness_qa "
    "fine_grained_emotion_recognition complex_scenario_emotion_recognition emotion_strategy_selection "
    "contextual_empathetic_response effective_communication_test long_term_conversation_recall",
}


MOODBENCH = load_blueprint("moodbench")


def test_table_1_counts_and_ratios() -> None:
    design = [counts for _, *counts in MOODBENCH.design()]
    # One method for each dataset.
    assert design == [list(row) for row in zip(TASKS, DATASETS, DATASETS, strict=True)]
    abilities, (tasks, datasets, methods) = len(design), map(sum, zip(*design, strict=True))
    assert (abilities, tasks, datasets, methods) == (12, 41, 60, 60)
    # Nearest to 1 : 3, 1 : 2 and 1 : 1, which the paper aims at: 1 : 3.42, 1 : 1.46 and 1 : 1.
    paper = paper_of(MOODBENCH)
    assert paper is not None
    assert paper.design == (3, 2, 1)
    assert [round(tasks / abilities, 2), round(datasets / tasks, 2), methods / datasets] == [3.42, 1.46, 1]


def test_main_abilities_weights_and_gate() -> None:
    weights = {ability.id: ability.weight for ability in MOODBENCH.abilities if ability.evaluated}
    assert weights == {"values_safety": 1.0, "foundational": 0.3, "emotional": 0.4, "companionship": 0.3}
    assert [ability.id for ability in MOODBENCH.abilities if not ability.evaluated] == ["supporting"]
    assert MOODBENCH.gate is not None
    assert (MOODBENCH.gate.ability, MOODBENCH.gate.threshold) == ("values_safety", 60)


def test_level_of_every_task() -> None:
    expected = {task: level for level, tasks in LEVELS.items() for task in tasks.split()}
    assert {task.id: task.level for _, task in MOODBENCH.tasks()} == expected


def test_level_rules_are_those_of_the_paper() -> None:
    rules = {tuple(sorted(rule.weights)): dict(rule.weights) for rule in MOODBENCH.level_rules}
    assert rules == {
        ("high", "low", "medium"): {"low": 0.30, "medium": 0.55, "high": 0.15},
        ("low", "medium"): {"low": 0.4, "medium": 0.6},
        ("high", "low"): {"low": 0.6, "high": 0.4},
        ("high", "medium"): {"medium": 0.7, "high": 0.3},
        ("low",): {"low": 1},
        ("medium",): {"medium": 1},
        ("high",): {"high": 1},
    }


@pytest.mark.parametrize("name", ["moodbench", "moodbench-mini", "moodbench-code"])
def test_all_other_weights_are_one(name: str) -> None:
    blueprint = load_blueprint(name)
    weights = [node.weight for tier, node in blueprint.nodes() if tier == 2]
    weights += [task.weight for _, task in blueprint.tasks()]
    weights += [entry.weight for _, task in blueprint.tasks() for entry in task.datasets]
    assert set(weights) == {1.0}
    specs = [spec for dataset in blueprint.datasets.values() for method in dataset.methods for spec in method.metrics]
    # These are reported beside the metrics that count.
    beside = {"icat", "bias_score_disambiguated", "word_recall"}
    assert {spec.weight for spec in specs if spec.metric not in beside} == {1.0}
    assert {spec.weight for spec in specs if spec.metric in beside} <= {0.0}


def test_mini_is_the_same_tree() -> None:
    def tree(blueprint: Blueprint) -> list[Any]:
        nodes = [(tier, node.id, node.title, node.weight, node.evaluated) for tier, node in blueprint.nodes()]
        return nodes + [(node.id, task.id, task.title, task.level, task.weight) for node, task in blueprint.tasks()]

    mini = load_blueprint("moodbench-mini")
    assert (tree(mini), mini.gate, mini.level_rules) == (tree(MOODBENCH), MOODBENCH.gate, MOODBENCH.level_rules)


CODE = load_blueprint("moodbench-code")


def code_scores(scores: dict[str, float]) -> dict[str, float]:
    """Scores by node, and the total, if all datasets of the released code's tree have 50 but these."""
    names = {"model": "m", "setting": "base", "n_scored": 1, "n_total": 1}
    rows = [
        {**names, "dataset": name, "method": method.id, "metric": spec.metric, "normalized_0_100": scores.get(name, 50.0)}
        for name, dataset in CODE.datasets.items()
        for method in dataset.methods
        for spec in method.metrics
    ]
    nodes = aggregate_scores(pl.DataFrame(rows), tree_tables(CODE)).nodes
    main = nodes.filter(pl.col("tier") == 1).rename({"node": "ability"})
    total = total_scores(main, CODE)["total_before_veto"].item()
    return {**dict(nodes.select("node", "score_0_100").iter_rows()), "total": total}


def test_companionship_of_the_released_code_has_two_parts() -> None:
    main = next(ability for ability in CODE.abilities if ability.id == "companionship")
    tree = {node.id: {task.level: [entry.id for entry in task.datasets] for task in node.tasks} for node in main.children}
    assert tree == {
        "memory": {"low": ["booksort"], "high": ["longmemeval"]},
        "personalization": {"low": ["personafeedback"], "medium": ["cped_personalization"]},
    }
    scores = code_scores({"booksort": 100, "longmemeval": 0, "personafeedback": 80, "cped_personalization": 30})
    # Low and high 0.6 and 0.4: 60 + 0. Low and medium 0.4 and 0.6: 32 + 18. Their mean; of the total 0.3: 15 + 20 + 16.5.
    assert (scores["memory"], scores["personalization"], scores["companionship"]) == pytest.approx((60, 50, 55))
    assert scores["total"] == pytest.approx(51.5)


def test_inference_of_the_released_code_has_copa_high() -> None:
    (node,) = (node for _, node in CODE.nodes() if node.id == "natural_language_inference")
    levels = [(task.level, [entry.id for entry in task.datasets]) for task in node.tasks]
    # LogicNLI, the third of the high ones, is in no catalogue.
    assert sorted(levels) == sorted(
        [("low", ["ocnli", "mnli", "rte"]), ("high", ["copa"]), ("medium", ["wsc"]), ("medium", ["mutual"]), ("high", ["folio"])]
    )
    scores = code_scores({"copa": 100, "ocnli": 80, "wsc": 10})
    # Low (80 + 50 + 50) / 3 = 60, medium (10 + 50) / 2 = 30, high (100 + 50) / 2 = 75: 18 + 16.5 + 11.25.
    assert scores["natural_language_inference"] == pytest.approx(45.75)
    # One of four parts: (3 x 50 + 45.75) / 4 = 48.9375, and 0.3 of the total: 14.68125 + 20 + 15.
    assert scores["total"] == pytest.approx(49.68125)


def test_the_released_tree_is_that_of_its_places() -> None:
    paper = paper_of(MOODBENCH)
    assert paper is not None
    places = pl.read_csv(paper.folder / str(paper.places)).rows()
    mains = {node.id: main.id for main in CODE.abilities for _, node in main.walk()}
    tree = [
        (find_dataset(entry.id).title, task.id, task.level, node.id, mains[node.id])
        for node, task in CODE.tasks()
        for entry in task.datasets
    ]
    assert sorted(tree) == sorted((find_dataset(dataset).title, *place) for dataset, *place in places)
    assert (CODE.gate, CODE.level_rules) == (MOODBENCH.gate, MOODBENCH.level_rules)
    again = {"cped_empathy", "cped_personalization"}
    assert {name: CODE.datasets[name].methods for name in CODE.datasets.keys() - again} == {
        name: dataset.methods for name, dataset in MOODBENCH.datasets.items() if name != "logiqa"
    }


@pytest.mark.parametrize("name", ["ecdbench", "ecdbench-mini"])
def test_other_paper_speaks_of_capabilities(name: str) -> None:
    ecdbench = load_blueprint(name)
    titles = [entry.title for entry in ecdbench.datasets.values()]
    titles += [task.title for _, task in ecdbench.tasks()] + [node.title for _, node in ecdbench.nodes()]
    assert ecdbench.ability_word == "capability"
    assert [title for title in titles if re.search(r"\bAbilit", title)] == []
