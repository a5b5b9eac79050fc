"""The shared server of compose.yaml without containers: PostgreSQL, server, deployments and worker as processes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from schemas.lineage import RunManifest
from tests.clusters import free_port
from tests.flows.scripted import policy
from tests.flows.served import DATASETS, LIMIT_S, ROOT, ask, clean_environment, deployment, processes_of, wait_until, write_config
from tests.model_server import ModelServer
from tests.postgres import postgres

PASSWORD = """p@ss/w:r#d?%25 +&='"$\\{é}|;`"""  # noqa: S105  of a server that lives as long as a test
AUTH = """someone:p@ss/w:r#d?%25 +&='"$\\{}|;`"""
"""Prefect compares logins as ASCII."""

VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<text>[^}]*))?\}")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]


class Shared:
    """Services of compose.yaml as processes, each with its own folder of Prefect; killed at the end of the block."""

    def __init__(self, folder: Path, database: int, **variables: str) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        self._variables = {"POSTGRES_PASSWORD": PASSWORD, "MOODFLOW_AUTH": AUTH, **variables}
        self._port = free_port()
        self._api = f"http://127.0.0.1:{self._port}/api"
        self._places = {
            "PREFECT_SERVER_DATABASE_HOST": "127.0.0.1",
            "PREFECT_SERVER_DATABASE_PORT": str(database),
            "PREFECT_API_URL": self._api,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    def __enter__(self) -> "Shared":
        self.start("server")
        wait_until(self._answers)
        return self

    def __exit__(self, *_: object) -> None:
        for service in COMPOSE:
            self.kill(service)
        for process in self._started:
            process.wait()

    def start(self, service: str) -> "subprocess.Popen[bytes]":
        """Start a service as compose.yaml says; what it prints goes to a file."""
        found = COMPOSE[service]
        environment = {name: VARIABLE.sub(self._value, value) for name, value in found["environment"].items()}
        # Only what compose.yaml gives a service; of the addresses, where each is here.
        environment |= {name: place for name, place in self._places.items() if name in {*environment, "PATH"}}
        command = [*found["entrypoint"], *found["command"]]
        if service == "server":
            command = [str(self._port) if word == "4200" else word.replace("0.0.0.0", "127.0.0.1") for word in command]
        with self.log_of(service).open("ab") as log:
            home = clean_environment(self._home(service), **environment)
            self._started.append(
                subprocess.Popen(command, env=home, cwd=self.folder, stdout=log, stderr=log, start_new_session=True)
            )
        return self._started[-1]

    def kill(self, service: str) -> None:
        """Kill a service and all that it started, its runs too."""
        while found := processes_of(self._home(service)):
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def log_of(self, service: str) -> Path:
        return self.folder / f"{service}.log"

    def api(self, path: str, body: Any = None, method: str | None = None) -> Any:
        return ask(f"{self._api}{path}", AUTH, body, method)

    def runs(self) -> list[dict[str, Any]]:
        """Runs of deployments whose time has come, in the order in which they were due; no sub-flows."""
        wanted = {"parent_task_run_id": {"is_null_": True}, "expected_start_time": {"before_": datetime.now(UTC).isoformat()}}
        found: list[dict[str, Any]] = self.api("/flow_runs/filter", {"flow_runs": wanted, "sort": "EXPECTED_START_TIME_ASC"})
        return found

    def logs(self) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        while page := self.api("/logs/filter", {"limit": 200, "offset": len(lines), "sort": "TIMESTAMP_ASC"}):
            lines += page
        return lines

    def _home(self, service: str) -> Path:
        return self.folder / "homes" / service

    def _value(self, found: re.Match[str]) -> str:
        return self._variables.get(found["name"]) or (found["text"] if found["kind"] == "-" else "")

    def _answers(self) -> bool:
        try:
            return bool(self.api("/health"))
        except httpx.HTTPError:
            return False


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(policy(DATASETS, "gold"), latency_s=0.5) as server:
        yield server


@pytest.fixture
def shared(tmp_path: Path, model: ModelServer) -> Iterator[Shared]:
    """One call at a time, which takes a while; the nightly run comes every minute."""
    slow = {"name": "scripted", "base_url": model.base_url, "concurrency": 1}
    write_config(tmp_path / "prefect.yaml", deployment(model.base_url, cron="* * * * *", models=[slow]))
    with postgres(PASSWORD) as port, Shared(tmp_path, port, MOODFLOW_WEBHOOK="http://127.0.0.1:9/hook") as started:
        assert started.start("deploy").wait(LIMIT_S) == 0, started.log_of("deploy").read_text(encoding="utf-8")
        yield started


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_nightly_runs_go_on_after_a_kill(shared: Shared, model: ModelServer, tmp_path: Path) -> None:
    shared.start("worker")
    wait_until(lambda: model.calls >= 4)
    killed = next(run["id"] for run in shared.runs() if run["state"]["type"] == "RUNNING")
    shared.kill("worker")
    told = dict[str, str]()
    shared.start("worker")

    def completed() -> bool:
        told.update({run["id"]: run["state"]["name"] for run in shared.runs()})
        return "Completed" in told.values()

    wait_until(completed)
    shared.kill("worker")  # the next run would ask its own canary
    state = shared.api(f"/flow_runs/{killed}")["state"]
    assert (state["type"], state["name"]) == ("CRASHED", "Crashed")
    assert "no sign of life" in state["message"]
    # While the killed run had its place, what became due was cancelled; it did not fail.
    assert "Failed" not in told.values()
    (written,) = (tmp_path / "lake" / "runs").glob("*/manifest.json")
    (canary,) = RunManifest.model_validate_json(written.read_text(encoding="utf-8")).canaries
    assert len({json.dumps(body, sort_keys=True) for body in model.bodies}) == 20
    assert model.repeated <= 1 + canary.asked
    lines = [line["message"] for line in shared.logs()]
    assert any(line.startswith("canary of scripted") for line in lines)
    assert [line for line in lines if "hook" in line.lower()] == []
    assert PASSWORD not in "".join(shared.log_of(name).read_text(encoding="utf-8") for name in ("server", "deploy"))
