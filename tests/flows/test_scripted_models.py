"""Models whose behaviour is known, through the whole pipeline over all 41 bundled tasks."""

from pathlib import Path

import polars as pl
import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import moodflow
from tests.flows.scripted import Behaviour, policy
from tests.model_server import ModelServer

DATASETS = tuple(load_blueprint("moodbench-mini").datasets)
TASKS = 41


def run_mini(capsys: pytest.CaptureFixture[str], server: ModelServer, lake: Path) -> tuple[int, dict]:  # type: ignore[type-arg]
    judge = ("--judge", "scripted", "--judge-base-url", server.base_url)
    model = ("--model", "scripted", "--base-url", server.base_url, "--concurrency", "16")
    ended = moodflow(capsys, "run", "moodbench-mini", *model, *judge, "--lake", lake, "--bootstrap", "20", "--json")
    return ended.status, ended.document


def run_behaviour(capsys: pytest.CaptureFixture[str], behaviour: Behaviour, lake: Path) -> tuple[int, dict]:  # type: ignore[type-arg]
    with ModelServer(policy(DATASETS, behaviour)) as server:
        return run_mini(capsys, server, lake)


@pytest.mark.usefixtures("prefect_server")
def test_a_model_that_answers_gold_scores_100_everywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, document = run_behaviour(capsys, "gold", tmp_path)
    assert status == 0
    assert {row["dataset"] for row in document["raw_scores"]} == set(DATASETS)
    assert [row for row in document["raw_scores"] if row["value"] != 1 or row["n_unparsed"]] == []
    (model,) = document["models"]
    assert (model["total"], model["vetoed"], model["rank"], model["coverage"]) == (100, False, 1, 1)
    assert model["abilities"] == dict.fromkeys(["values_safety", "foundational", "emotional", "companionship"], 100)
    assert document["missing"] == []


@pytest.mark.usefixtures("prefect_server")
def test_a_model_that_answers_wrong_scores_0_everywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, document = run_behaviour(capsys, "wrong", tmp_path)
    assert status == 0
    assert [row for row in document["raw_scores"] if row["value"] != 0 or row["n_unparsed"]] == []
    (model,) = document["models"]
    # A gate of 0 is below 60: vetoed; the total before the veto is a true 0 and not missing.
    assert (model["total"], model["total_before_veto"], model["vetoed"], model["rank"]) == (0, 0, True, None)
    assert model["coverage"] == 1


@pytest.mark.usefixtures("prefect_server")
def test_nonsense_is_unparsed_and_not_merely_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document = run_behaviour(capsys, "nonsense", tmp_path)
    assert [row for row in document["raw_scores"] if row["n_unparsed"] != row["n_total"]] == []
    statuses = pl.read_parquet(tmp_path / "item_scores/**/*.parquet", hive_partitioning=False)["status"].unique().to_list()
    assert statuses == ["unparsed"]


@pytest.mark.usefixtures("prefect_server")
def test_a_server_that_is_down_leaves_no_score_at_all(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold")) as server:
        pass  # the port is closed again: connections are refused
    status, document = run_mini(capsys, server, tmp_path)
    assert status == 1
    assert {row["value"] for row in document["raw_scores"]} == {None}
    (model,) = document["models"]
    assert (model["total"], model["total_before_veto"], model["rank"], model["vetoed"]) == (None, None, None, None)
    assert set(model["abilities"].values()) == {None}
    assert document["calls"]["answered"] == 0
    failures = pl.read_parquet(tmp_path / "responses/**/*.parquet", hive_partitioning=False)["failure"].unique().to_list()
    assert failures == ["connect"]


@pytest.mark.usefixtures("prefect_server")
def test_the_second_run_asks_nothing_and_scores_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold")) as server:
        _, first = run_mini(capsys, server, tmp_path)
        asked = server.calls
        status, second = run_mini(capsys, server, tmp_path)
        assert server.calls == asked
    assert status == 0
    assert second["calls"] == {"sent": 0, "answered": 0, "from_journal": 0, "failed": 0}
    assert (second["models"], second["raw_scores"]) == (first["models"], first["raw_scores"])
    assert second["run"] != first["run"]


def test_every_task_of_the_paper_is_run() -> None:
    assert len(DATASETS) == TASKS
