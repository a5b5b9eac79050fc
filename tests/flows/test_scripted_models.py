"""Models whose behaviour is known, through the whole pipeline over a few bundled tasks; over all 41 in the long tests."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import ask_mini
from tests.flows.scripted import Behaviour, policy
from tests.model_server import ModelServer

DATASETS = tuple(load_blueprint("moodbench-mini").datasets)
TASKS = 41
FEW = (
    *("mini_bias_detection", "mini_extractive_reading_comprehension", "mini_reading_comprehension"),
    *("mini_first_order_logic_reasoning", "mini_summarization", "mini_truthfulness_qa", "mini_irony_detection"),
    *("mini_fine_grained_emotion_recognition", "mini_eq_test", "mini_sequence_order_recall"),
    *("mini_long_term_conversation_recall",),
)
"""One dataset of each question type and metric, some of each main ability."""


@pytest.fixture(scope="module", params=[FEW, pytest.param(DATASETS, marks=pytest.mark.long)], ids=["few", "all"])
def names(request: pytest.FixtureRequest) -> tuple[str, ...]:
    asked: tuple[str, ...] = request.param
    return asked


def run_behaviour(behaviour: Behaviour, lake: Path, names: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    with ModelServer(policy(names, behaviour)) as server:
        run = ask_mini("run", server.base_url, lake, names, "--concurrency", "16", "--set", "bootstrap=20", "--json")
    return run.status, run.document


@pytest.mark.parametrize(("behaviour", "share"), [("gold", 1), ("wrong", 0)])
def test_gold_scores_100_and_wrong_answers_0(tmp_path: Path, names: tuple[str, ...], behaviour: Behaviour, share: int) -> None:
    status, document = run_behaviour(behaviour, tmp_path, names)
    assert (status, document["missing"], len(DATASETS)) == (0, [], TASKS)
    assert {row["dataset"] for row in document["raw_scores"]} == set(names)
    assert [row for row in document["raw_scores"] if row["value"] != share or row["n_unparsed"]] == []
    (model,) = document["models"]
    # A gate of 0 is below 60; 11 of 41 datasets are no half, and one of the gate's datasets alone decides nothing.
    total, vetoed, rank = (100 * share, not share, share or None) if names == DATASETS else (None, None, None)
    assert (model["total"], model["vetoed"], model["rank"]) == (total, vetoed, rank)
    assert (model["total_before_veto"], model["coverage"]) == (100 * share, len(names) / TASKS)
    assert model["abilities"] == dict.fromkeys(["values_safety", "foundational", "emotional", "companionship"], 100 * share)


def test_nonsense_is_unparsed_and_not_merely_wrong(tmp_path: Path, names: tuple[str, ...]) -> None:
    status, document = run_behaviour("nonsense", tmp_path, names)
    assert [row for row in document["raw_scores"] if row["n_unparsed"] != row["n_total"]] == []
    statuses = pl.read_parquet(tmp_path / "item_scores/**/*.parquet", hive_partitioning=False)["status"].unique().to_list()
    assert statuses == ["unparsed"]
    (model,) = document["models"]
    assert (status, model["verdict"], model["total"], model["total_before_veto"]) == (1, "instrument failed", None, 0)
