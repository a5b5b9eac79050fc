"""The same run here, and on a Dask cluster: the same bits. What a cluster lacks is one message."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import cloudpickle
import pytest
from prefect.client.orchestration import get_client

from flows.runtime.clusters import WorkerMachine, describe_machine, list_differences, look_around, may_travel, split_address
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.dataset import LocalFile, PinnedFile, SourceFile
from schemas.plan import Plan
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.steps import build_partition
from tasks.lake.manifest import read_manifest
from tasks.metrics.steps import score_partition
from tasks.scoring.steps import aggregate, compute_layer
from tasks.steps import ledger
from tests.clusters import dask_cluster
from tests.flows.command import Ended, ask_mini
from tests.flows.scripted import policy
from tests.model_server import ModelServer
from tests.tasks.models.making_calls import closed_port

DATASETS = ("mini_user_safety", "mini_text_matching", "mini_summarization", "mini_eq_test")
OF_ONE_RUN = ("responses", "judgements", "runs")
"""Folders whose files differ from run to run: two have latencies, one the names of runs."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with ModelServer(policy(DATASETS, "gold")) as server:
        yield server.base_url


def on(address: str) -> tuple[str, ...]:
    return ("--set", "runner=dask", "--set", f"runner_address={address}")


def evaluate(stage: str, base_url: str, lake: str | Path, *more: str) -> Ended:
    return ask_mini(stage, base_url, lake, DATASETS, *more, "--json")


def contents(done: Ended, lake: Any) -> dict[str, str]:
    return {ref.path: ref.content_sha256 for ref in read_manifest(lake, done.document["run"]).partitions}


def written(lake: Path) -> dict[str, bytes]:
    files = [path for path in lake.rglob("*.parquet") if path.relative_to(lake).parts[0] not in OF_ONE_RUN]
    return {path.relative_to(lake).as_posix(): path.read_bytes() for path in files}


def refused(folder: Path, model: str, address: str) -> str:
    done = evaluate("build", model, folder / "lake", *on(address))
    assert done.status == 2
    return done.err


@pytest.mark.parametrize("step", [build_partition, score_partition, aggregate, compute_layer], ids=lambda step: step.fn.__name__)
def test_a_step_can_be_sent(step: Any) -> None:
    sent = cloudpickle.loads(cloudpickle.dumps(step))
    assert sent.fn is not step.fn
    assert (sent.name, sent.fn.__module__) == (step.name, step.fn.__module__)


@pytest.mark.long
def test_a_dask_cluster_gives_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    (tmp_path / "dask").mkdir()
    monkeypatch.chdir(tmp_path)  # the workers have another current folder
    here = evaluate("run", model, "here")
    with dask_cluster(tmp_path / "dask") as address:
        there = evaluate("run", model, "there", *on(address))
    assert (here.status, there.status) == (0, 0), there.err
    assert there.scores == here.scores
    assert contents(there, tmp_path / "there") == contents(here, tmp_path / "here")
    assert written(tmp_path / "there") == written(tmp_path / "here") != {}
    assert there.document["calls"] == here.document["calls"]
    # The name of a run tells what was evaluated, not where: all but its start is the same.
    assert there.document["run"].partition("-")[2] == here.document["run"].partition("-")[2]


@pytest.mark.long
@pytest.mark.usefixtures("recording_server")
def test_task_runs_are_recorded_as_in_local_runs(tmp_path: Path, model: str) -> None:
    # Workers that served another test go on telling that one's server what they do.
    with dask_cluster(tmp_path) as address:
        evaluate("build", model, tmp_path, *on(address))
        ledger.flow_runs.clear()
        ledger.task_runs.clear()
        again = evaluate("build", model, tmp_path, *on(address))
    assert [ref["layer"] for ref in again.document["partitions"]] == ["items"] * len(DATASETS)
    assert len(ledger.task_runs) == len(DATASETS)
    found = asyncio.run(recorded(set(ledger.flow_runs), len(DATASETS)))
    assert {(run["name"], run["state_name"]) for run in found} == {(f"items/{name}", "UpToDate") for name in DATASETS}
    assert {run["id"] for run in found} == {str(run) for run in ledger.task_runs}


async def recorded(flow_runs: set[UUID], number: int) -> list[dict[str, Any]]:
    """Task runs that the server says were completed, once they are so many: it records them a moment later."""
    wanted = {
        "flow_runs": {"id": {"any_": [str(run) for run in flow_runs]}},
        "task_runs": {"state": {"type": {"any_": ["COMPLETED"]}}},
    }
    async with get_client() as client, asyncio.timeout(600):
        # The server announces nothing; asking is the only way.
        while len(found := (await client.request("POST", "/task_runs/filter", json=wanted)).json()) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return list(found)


@pytest.mark.long
def test_an_error_on_a_worker_is_reported(tmp_path: Path, model: str) -> None:
    assert evaluate("build", model, tmp_path).status == 0
    assert evaluate("infer", model, tmp_path).status == 0
    damaged = next((tmp_path / "answers").rglob("*mini_eq_test*/**/*.parquet"))
    rows = damaged.read_bytes()
    damaged.write_bytes(rows[:100] + b"x" * 100 + rows[200:])
    with dask_cluster(tmp_path, workers=1) as address:
        done = evaluate("score", model, tmp_path, *on(address))
    assert done.status == 2
    assert "Error: a partition of the lake is damaged" in done.err
    assert str(damaged) in done.err


@pytest.mark.long
def test_a_cluster_without_workers_is_refused(tmp_path: Path, model: str) -> None:
    with dask_cluster(tmp_path, workers=0) as address:
        told = refused(tmp_path, model, address)
    assert told.endswith(
        f"Error: the dask cluster cannot do this run\n  where: --set runner_address={address}\n  expected: at least one worker\n"
        "  got: none\n  next step: start workers, then run the same command again\n"
    )


@pytest.mark.long
@pytest.mark.parametrize("program", ["dask_worker", "dask_scheduler"])
def test_a_machine_without_our_code_is_refused(tmp_path: Path, model: str, program: str) -> None:
    with dask_cluster(tmp_path, workers=1, without_code=program) as address:
        told = refused(tmp_path, model, address)
    assert "expected: MoodFlow on every machine of the cluster" in told
    assert "schemas" in told
    assert "install this version of MoodFlow" in told


def test_an_address_where_nothing_listens_is_refused(tmp_path: Path, model: str) -> None:
    address = f"127.0.0.1:{closed_port()}"
    assert f"Error: the dask cluster cannot be reached\n  where: --set runner_address={address}\n" in refused(
        tmp_path, model, address
    )


def test_a_package_that_is_not_installed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setitem(sys.modules, "prefect_dask", None)
    message = refused(tmp_path, model, "127.0.0.1:1")
    assert "the runner dask needs the package prefect-dask, which is not installed\n" in message
    assert "where: --set runner, here and on every worker\n" in message


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("10.0.0.5:8786", ("10.0.0.5", 8786)),
        ("tcp://dask.internal:8786", ("dask.internal", 8786)),
        ("tcp://[::1]:8786", ("::1", 8786)),
    ],
)
def test_addresses_are_read(address: str, expected: tuple[str, int]) -> None:
    plan = Plan(benchmark="moodbench-mini", models=(ModelEntry(name=EMBEDDED_MODEL),), runner="dask", runner_address=address)
    assert split_address(plan) == expected


def test_other_code_and_other_packages_are_refused() -> None:
    ours = describe_machine()
    assert list_differences(ours) == ""
    other = WorkerMachine({**ours.versions, "polars": "0.1", "code": "0" * 12})
    versions = f"polars 0.1 and not {ours.versions['polars']}, code 000000000000 and not {ours.versions['code']}"
    assert list_differences(other) == versions


def test_a_machine_says_what_it_does_not_see(tmp_path: Path, prefect_server: str) -> None:
    (tmp_path / "token").write_bytes(b"")
    server = f"http://127.0.0.1:{closed_port()}/api"
    for seen in (None, prefect_server):
        assert look_around(tmp_path / "token", seen) == describe_machine()
    assert look_around(tmp_path / "elsewhere" / "token", server).problems == (
        f"it has no {tmp_path / 'elsewhere'}, or another folder of that name",
        f"it does not reach the Prefect server at {server}",
    )


def test_only_pinned_and_bundled_files_travel() -> None:
    spec = find_dataset("mini_eq_test")
    pinned = PinnedFile(repository="github.com/o/r", revision="v1.0.0-rc", path="a.json", sha256="0" * 64)
    unpinned = pinned.model_copy(update={"sha256": None})
    own = LocalFile(path=Path("mine.csv"))
    made_of: list[tuple[SourceFile, ...]] = [(pinned,), (pinned, unpinned), (own,)]
    assert [may_travel(spec), *(may_travel(replace(spec, files=files)) for files in made_of)] == [True, True, False, False]
