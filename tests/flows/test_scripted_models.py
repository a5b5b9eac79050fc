"""Models whose behaviour is known, through the whole pipeline over a few bundled tasks; over all 41 in the long tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import Ended, assert_one_message, ended
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


class Played(NamedTuple):
    """A perfect model with its lake, and its first run."""

    server: ModelServer
    lake: Path
    run: Ended


@pytest.fixture(scope="module", params=[FEW, pytest.param(DATASETS, marks=pytest.mark.long)], ids=["few", "all"])
def names(request: pytest.FixtureRequest) -> tuple[str, ...]:
    asked: tuple[str, ...] = request.param
    return asked


@pytest.fixture(scope="module")
def perfect(
    prefect_server: str,  # noqa: ARG001  the server runs
    tmp_path_factory: pytest.TempPathFactory,
    names: tuple[str, ...],
) -> Iterator[Played]:
    lake = tmp_path_factory.mktemp("perfect")
    with ModelServer(policy(names, "gold")) as server:
        yield Played(server, lake, run_mini(server, lake, names))


def run_mini(server: ModelServer, lake: Path, names: tuple[str, ...]) -> Ended:
    judge = ("--judge", "scripted", "--judge-base-url", server.base_url)
    model = ("--model", "scripted", "--base-url", server.base_url, "--concurrency", "16")
    few = ("--datasets", ",".join(names)) if names != DATASETS else ()
    return ended("run", "moodbench-mini", *few, *model, *judge, "--lake", lake, "--set", "bootstrap=20", "--json")


def run_behaviour(behaviour: Behaviour, lake: Path, names: tuple[str, ...]) -> tuple[int, dict[str, Any]]:
    with ModelServer(policy(names, behaviour)) as server:
        run = run_mini(server, lake, names)
    return run.status, run.document


def test_a_model_that_answers_gold_scores_100_everywhere(perfect: Played, names: tuple[str, ...]) -> None:
    document = perfect.run.document
    assert perfect.run.status == 0, perfect.run.err
    assert {row["dataset"] for row in document["raw_scores"]} == set(names)
    assert len(DATASETS) == TASKS
    whole = names == DATASETS
    assert [row for row in document["raw_scores"] if row["value"] != 1 or row["n_unparsed"]] == []
    (model,) = document["models"]
    assert (model["total"], model["vetoed"], model["rank"], model["coverage"]) == (
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
    vetoed = True if names == DATASETS else None
    assert (model["total"], model["total_before_veto"], model["vetoed"], model["rank"]) == (0, 0, vetoed, None)
    assert model["coverage"] == len(names) / TASKS


def test_nonsense_is_unparsed_and_not_merely_wrong(tmp_path: Path, names: tuple[str, ...]) -> None:
    _, document = run_behaviour("nonsense", tmp_path, names)
    assert [row for row in document["raw_scores"] if row["n_unparsed"] != row["n_total"]] == []
    statuses = pl.read_parquet(tmp_path / "item_scores/**/*.parquet", hive_partitioning=False)["status"].unique().to_list()
    assert statuses == ["unparsed"]


def test_a_server_that_is_down_ends_the_run_without_a_score(tmp_path: Path, names: tuple[str, ...]) -> None:
    with ModelServer(policy(names, "gold")) as server:
        pass  # the port is closed again: connections are refused
    run = run_mini(server, tmp_path, names)
    assert_one_message(run, "no call was answered", "no connection to")
    assert list(tmp_path.glob("raw_scores/**/*.parquet")) == list(tmp_path.glob("runs/*")) == []
    failures = pl.read_parquet(tmp_path / "responses/**/*.parquet", hive_partitioning=False)["failure"].unique().to_list()
    assert failures == ["connect"]


def test_the_second_run_asks_nothing_and_scores_the_same(perfect: Played, names: tuple[str, ...]) -> None:
    asked, first = perfect.server.calls, perfect.run.document
    again = run_mini(perfect.server, perfect.lake, names)
    second = again.document
    assert perfect.server.calls == asked > 0
    assert again.status == 0
    assert second["calls"] == {"sent": 0, "answered": 0, "from_journal": 0, "failed": 0}
    assert second["raw_scores"] == first["raw_scores"]
    assert second["models"] == first["models"]
    assert second["run"] != first["run"]
