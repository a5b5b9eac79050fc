"""Models whose behaviour is known, through the whole pipeline over a few bundled tasks; over all 41 in the long tests."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import Ended, ended
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

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture(scope="module", params=[FEW, pytest.param(DATASETS, marks=pytest.mark.long)], ids=["few", "all"])
def names(request: pytest.FixtureRequest) -> tuple[str, ...]:
    asked: tuple[str, ...] = request.param
    return asked


def run_mini(server: ModelServer, lake: Path, names: tuple[str, ...]) -> Ended:
    judge = ("--judge", "scripted", "--judge-base-url", server.base_url)
    model = ("--model", "scripted", "--base-url", server.base_url, "--concurrency", "16")
    few = ("--datasets", ",".join(names)) if names != DATASETS else ()
    return ended("run", "moodbench-mini", *few, *model, *judge, "--lake", lake, "--set", "bootstrap=20", "--json")


def run_behaviour(behaviour: Behaviour, lake: Path, names: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    with ModelServer(policy(names, behaviour)) as server:
        run = run_mini(server, lake, names)
    return run.status, run.document


def test_a_model_that_answers_gold_scores_100_everywhere(tmp_path: Path, names: tuple[str, ...]) -> None:
    status, document = run_behaviour("gold", tmp_path, names)
    assert status == 0
    assert {row["dataset"] for row in document["raw_scores"]} == set(names)
    assert len(DATASETS) == TASKS
    whole = names == DATASETS
    assert [row for row in document["raw_scores"] if row["value"] != 1 or row["n_unparsed"]] == []
    (model,) = document["models"]
    assert (model["total"], model["total_before_veto"], model["vetoed"], model["rank"], model["coverage"]) == (
        100 if whole else None,  # 11 of 41 datasets are no half
        100,
        False if whole else None,  # one of the gate's datasets alone decides nothing
        1 if whole else None,
        len(names) / TASKS,
    )
    assert model["abilities"] == dict.fromkeys(["values_safety", "foundational", "emotional", "companionship"], 100)
    assert document["missing"] == []


def test_a_model_that_answers_wrong_scores_0_everywhere(tmp_path: Path, names: tuple[str, ...]) -> None:
    status, document = run_behaviour("wrong", tmp_path, names)
    assert status == 0
    assert {row["dataset"] for row in document["raw_scores"]} == set(names)
    assert [row for row in document["raw_scores"] if row["value"] != 0 or row["n_unparsed"]] == []
    (model,) = document["models"]
    # A gate of 0 is below 60: vetoed if all of it was asked; the total before the veto is a true 0 and not missing.
    total, vetoed = (0, True) if names == DATASETS else (None, None)
    assert (model["total"], model["total_before_veto"], model["vetoed"], model["rank"]) == (total, 0, vetoed, None)
    assert model["coverage"] == len(names) / TASKS


def test_nonsense_is_unparsed_and_not_merely_wrong(tmp_path: Path, names: tuple[str, ...]) -> None:
    status, document = run_behaviour("nonsense", tmp_path, names)
    assert [row for row in document["raw_scores"] if row["n_unparsed"] != row["n_total"]] == []
    statuses = pl.read_parquet(tmp_path / "item_scores/**/*.parquet", hive_partitioning=False)["status"].unique().to_list()
    assert statuses == ["unparsed"]
    (model,) = document["models"]
    assert (status, model["verdict"], model["total"], model["total_before_veto"]) == (1, "instrument failed", None, 0)
