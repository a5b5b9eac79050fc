"""`moodflow serve` in a process of its own, as a user starts it, with a file of deployments for a scripted model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import httpx
import yaml

ENTRY_POINT = "from flows.cli import main; main()"
ROOT = Path(__file__).parents[2]
LIMIT_S = 600.0
ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
DATASETS = ("mini_eq_test", "mini_text_matching")


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """The environment without anything that configures Prefect, but its folder."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(("PREFECT_", "MOODFLOW_"))}
    return {**kept, "PREFECT_HOME": str(home), "PYTHONPATH": str(ROOT), **more}


def deployment(base_url: str, *, cron: str | None = None, **more: Any) -> dict[str, Any]:
    """A deployment of two small datasets on a scripted model, as `prefect.yaml` has it; `more` are fields of its plan."""
    plan = {"benchmark": "moodbench-mini", "datasets": list(DATASETS), "bootstrap": 0, "lake": "lake"}
    return {
        "name": "tried",
        "entrypoint": "flows.refresh.refresh",
        "tags": ["tried"],
        "parameters": {"plan": {**plan, "models": [{"name": "scripted", "base_url": base_url}], **more}},
        "schedules": [{"slug": "often", "cron": cron, "timezone": "Europe/Berlin"}] if cron else [],
        "concurrency_limit": {"limit": 1, "collision_strategy": "CANCEL_NEW"},
        "work_pool": {"name": "moodflow"},
    }


def write_config(path: Path, *deployments: Mapping[str, Any]) -> Path:
    path.write_text(yaml.safe_dump({"deployments": [dict(one) for one in deployments]}), encoding="utf-8")
    return path


def wait_until(happened: Callable[[], Any], process: "subprocess.Popen[Any] | None" = None) -> Any:
    """What the function returns, as soon as it is true; `process` is to bring that about."""
    deadline = time.monotonic() + LIMIT_S
    while not (found := happened()):
        assert process is None or process.poll() is None, f"ended before that: {process.communicate()}"
        assert time.monotonic() < deadline, f"not after {LIMIT_S} s"
        time.sleep(0.1)
    return found


def processes_of(folder: Path, variable: str = "PREFECT_HOME") -> dict[int, str]:
    """Command lines of the processes with this folder of Prefect, or of what a variable names, by id."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{variable}={folder}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it ended meanwhile
    return found


def ask(url: str, login: str, body: Any = None, method: str | None = None) -> Any:
    """Ask a server's API, POST if there is a body, until its database is not locked: Prefect's own clients understand a 503."""
    auth, kind = httpx.BasicAuth(*login.split(":", 1)), method or ("GET" if body is None else "POST")

    def answer() -> httpx.Response | None:
        got = httpx.request(kind, url, json=body, auth=auth, timeout=LIMIT_S, trust_env=False)
        return None if got.status_code == 503 else got

    found: httpx.Response = wait_until(answer).raise_for_status()
    return found.json() if found.content else None


class Served:
    """A running `moodflow serve`, started in `folder`; whatever it left is killed at the end of the block."""

    def __init__(self, folder: Path, home: Path, *arguments: str, **environment: str) -> None:
        self.folder, self.home = folder, home
        self._command = [sys.executable, "-c", ENTRY_POINT, "serve", "--port", "0", "--reports-port", "0", "--json", *arguments]
        self._environment = clean_environment(home, **environment)

    def __enter__(self) -> Self:
        self.error_file = self.folder / f"serve-{time.monotonic_ns()}.err"
        environment, out = self._environment, self.error_file.with_suffix(".json")
        with self.error_file.open("wb") as errors, out.open("wb") as printed:
            self.process = subprocess.Popen(
                self._command, stdout=printed, stderr=errors, env=environment, cwd=self.folder, start_new_session=True
            )
        try:
            wait_until(lambda: out.read_bytes().endswith(b"\n}\n") or self.process.poll() is not None)
            assert self.process.poll() is None, self.stderr
        except BaseException:
            self.__exit__()
            raise
        self.document: dict[str, Any] = json.loads(out.read_bytes())
        return self

    @property
    def stderr(self) -> str:
        return self.error_file.read_text(encoding="utf-8")

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(LIMIT_S)

    @property
    def login(self) -> str:
        return (self.home / "moodflow-serve.password").read_text(encoding="utf-8").strip()

    def beside(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run another command in the same folder, with the same folder of Prefect."""
        command, variables = [sys.executable, "-c", ENTRY_POINT, *arguments], clean_environment(self.home, **environment)
        return subprocess.run(
            command, env=variables, cwd=self.folder, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )

    def api(self, path: str, body: Any = None) -> Any:
        return ask(f"{self.document['api']}{path}", self.login, body)

    def start_run(self, number: int = 0, **parameters: Any) -> str:
        body = {"state": {"type": "SCHEDULED"}, "parameters": parameters}
        return str(self.api(f"/deployments/{self.document['deployments'][number]['id']}/create_flow_run", body)["id"])

    def ended_run(self, **plan: Any) -> dict[str, Any]:
        """Run the first deployment, with these fields of its plan changed, and return the state it ends in."""
        deployed = self.api(f"/deployments/{self.document['deployments'][0]['id']}")["parameters"]["plan"]
        run = self.start_run(plan={**deployed, **plan})
        ended: dict[str, Any] = wait_until(lambda: state if (state := self.state_of(run))["type"] in ENDED else None)
        return ended

    def runs(self, *states: str) -> list[dict[str, Any]]:
        wanted = {"state": {"type": {"any_": list(states)}}} if states else {}
        found: list[dict[str, Any]] = self.api(
            "/flow_runs/filter", {"flow_runs": {**wanted, "parent_task_run_id": {"is_null_": True}}, "sort": "START_TIME_ASC"}
        )
        return found

    def state_of(self, run: str) -> dict[str, Any]:
        state: dict[str, Any] = self.api(f"/flow_runs/{run}")["state"]
        return state

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pid in processes_of(self.home):
            os.kill(pid, signal.SIGKILL)
