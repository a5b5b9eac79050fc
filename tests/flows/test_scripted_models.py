"""Models whose behaviour is known, through the whole pipeline over a few bundled tasks; over all 41 in the long tests."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import ended
from tests.flows.scripted import NONSENSE, OFF_TOPIC, Behaviour, policy, rating
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


def judge(messages: list[dict[str, str]]) -> str:
    """The best rating, but of what is off topic the worst."""
    prompt = "\n".join(message["content"] for message in messages)
    return NONSENSE if NONSENSE in prompt else rating(prompt, 1 if OFF_TOPIC in prompt else 5)


def run_behaviours(lake: Path, names: tuple[str, ...], *behaviours: Behaviour) -> tuple[int, dict[str, Any]]:
    """Run models that have the names of their behaviours."""
    with ExitStack() as stack:
        servers = {each: stack.enter_context(ModelServer(policy(names, each))) for each in behaviours}
        rating_server = stack.enter_context(ModelServer(judge))
        models = [{"name": name, "base_url": server.base_url} for name, server in servers.items()]
        config = lake.with_suffix(".json")
        config.write_text(json.dumps({"models": models}), encoding="utf-8")
        who = ("--config", config, "--judge", "j", "--judge-base-url", rating_server.base_url)
        what = ("--datasets", ",".join(names), "--concurrency", "16", "--set", "bootstrap=20")
        run = ended("run", "moodbench-mini", *who, *what, "--lake", lake, "--json")
    return run.status, run.document


def test_gold_scores_100_and_wrong_answers_0(tmp_path: Path, names: tuple[str, ...]) -> None:
    status, document = run_behaviours(tmp_path / "lake", names, "gold", "wrong")
    assert (status, document["missing"], len(DATASETS)) == (0, [], TASKS)
    for model, share in (("gold", 1), ("wrong", 0)):
        rows = [row for row in document["raw_scores"] if row["model"] == model]
        assert {row["dataset"] for row in rows} == set(names)
        assert [row for row in rows if row["value"] != share or row["n_unparsed"]] == []
        (system,) = (row for row in document["models"] if row["model"] == model)
        assert_total(system, share, names)


def assert_total(model: dict[str, Any], share: int, names: tuple[str, ...]) -> None:
    # A gate of 0 is below 60; 11 of 41 datasets are no half, and one of the gate's datasets alone decides nothing.
    total, vetoed, rank = (100 * share, not share, share or None) if names == DATASETS else (None, None, None)
    assert (model["total"], model["vetoed"], model["rank"]) == (total, vetoed, rank)
    assert (model["total_before_veto"], model["coverage"]) == (100 * share, len(names) / TASKS)
    assert model["abilities"] == dict.fromkeys(["values_safety", "foundational", "emotional", "companionship"], 100 * share)


def test_nonsense_is_unparsed_and_not_merely_wrong(tmp_path: Path, names: tuple[str, ...]) -> None:
    status, document = run_behaviours(tmp_path / "lake", names, "nonsense")
    assert [row for row in document["raw_scores"] if row["n_unparsed"] != row["n_total"]] == []
    statuses = pl.read_parquet(tmp_path / "lake/item_scores/**/*.parquet", hive_partitioning=False)["status"].unique().to_list()
    assert statuses == ["unparsed"]
    (model,) = document["models"]
    assert (status, model["verdict"], model["total"], model["total_before_veto"]) == (1, "unreadable", None, 0)
