"""`moodflow serve` in a process of its own, as a user starts it, with a file of deployments for a scripted model."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

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
    plan = {
        "benchmark": "moodbench-mini",
        "models": [{"name": "scripted", "base_url": base_url}],
        "datasets": list(DATASETS),
        "bootstrap": 0,
        "lake": "lake",
        **more,
    }
    return {
        "name": "tried",
        "entrypoint": "flows.refresh.refresh",
        "tags": ["tried"],
        "parameters": {"plan": plan},
        "schedules": [{"slug": "often", "cron": cron, "timezone": "Europe/Berlin"}] if cron else [],
        "concurrency_limit": {"limit": 1, "collision_strategy": "CANCEL_NEW"},
        "work_pool": {"name": "moodflow"},
    }


def write_config(path: Path, *deployments: Mapping[str, Any]) -> Path:
    """A file of deployments."""
    path.write_text(yaml.safe_dump({"deployments": [dict(one) for one in deployments]}), encoding="utf-8")
    return path


def wait_until(happened: Callable[[], Any], within_s: float = LIMIT_S) -> Any:
    """What the function returns, as soon as it is true."""
    deadline = time.monotonic() + within_s
    while not (found := happened()):
        assert time.monotonic() < deadline, f"not after {within_s} s"
        time.sleep(0.1)
    return found


def processes_of(home: Path) -> dict[int, str]:
    """Command lines of the processes with this folder of Prefect, by id."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"PREFECT_HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it ended meanwhile
    return found


def ask(url: str, login: str, body: Any = None, method: str | None = None) -> Any:
    """Ask a server's API, POST if there is a body, until its database is not locked: Prefect's own clients understand a 503.

    Raises:
        urllib.error.HTTPError: it refuses.
    """
    headers = {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, headers, method=method)  # noqa: S310  loopback

    def read() -> str | None:
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:  # noqa: S310  loopback
                return answer.read().decode() or "null"
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return None
            raise

    return json.loads(wait_until(read))


class Served:
    """A running `moodflow serve`; whatever it left is killed at the end of the block.

    Args:
        folder: where it is started.
        home: Prefect's folder.
        arguments: of the command, besides free ports and --json.
        environment: further variables.
    """

    def __init__(self, folder: Path, home: Path, *arguments: str, **environment: str) -> None:
        self.folder = folder
        self.home = home
        self._arguments = ("serve", "--port", "0", "--reports-port", "0", "--json", *arguments)
        self._environment = clean_environment(home, **environment)

    def __enter__(self) -> Self:
        self.error_file = self.folder / f"serve-{time.monotonic_ns()}.err"
        with self.error_file.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", ENTRY_POINT, *self._arguments],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=self._environment,
                cwd=self.folder,
                start_new_session=True,
            )
        try:
            self.document = self._read_document()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _read_document(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line == "}\n":
                document: dict[str, Any] = json.loads("".join(lines))
                return document
        raise AssertionError(f"it printed {self.stderr!r}")

    @property
    def stderr(self) -> str:
        """What it wrote to standard error."""
        return self.error_file.read_text(encoding="utf-8")

    def end(self, number: signal.Signals = signal.SIGINT, *, within_s: float = LIMIT_S) -> int:
        """Send a signal, wait, return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(within_s)

    @property
    def login(self) -> str:
        """`user:password` of the server."""
        return (self.home / "moodflow-serve.password").read_text(encoding="utf-8").strip()

    def beside(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run another command in the same folder, with the same folder of Prefect."""
        command, variables = [sys.executable, "-c", ENTRY_POINT, *arguments], clean_environment(self.home, **environment)
        return subprocess.run(
            command, env=variables, cwd=self.folder, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )

    def api(self, path: str, body: Any = None) -> Any:
        """Ask the server's API; POST if there is a body."""
        return ask(f"{self.document['api']}{path}", self.login, body)

    def start_run(self, number: int = 0, **parameters: Any) -> str:
        """Start a run of a deployment; returns its id."""
        body = {"state": {"type": "SCHEDULED"}, "parameters": parameters}
        return str(self.api(f"/deployments/{self.document['deployments'][number]['id']}/create_flow_run", body)["id"])

    def ended_run(self, **plan: Any) -> dict[str, Any]:
        """Run the first deployment, with these fields of its plan changed, and return the state it ends in."""
        deployed = self.api(f"/deployments/{self.document['deployments'][0]['id']}")["parameters"]["plan"]
        run = self.start_run(plan={**deployed, **plan})
        ended: dict[str, Any] = wait_until(lambda: state if (state := self.state_of(run))["type"] in ENDED else None)
        return ended

    def runs(self, *states: str) -> list[dict[str, Any]]:
        """Runs of deployments in these states, by start; no sub-flows."""
        wanted = {"state": {"type": {"any_": list(states)}}} if states else {}
        found: list[dict[str, Any]] = self.api(
            "/flow_runs/filter", {"flow_runs": {**wanted, "parent_task_run_id": {"is_null_": True}}, "sort": "START_TIME_ASC"}
        )
        return found

    def state_of(self, run: str) -> dict[str, Any]:
        """Type, name and message of a run's state."""
        state: dict[str, Any] = self.api(f"/flow_runs/{run}")["state"]
        return state

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        for pid in processes_of(self.home):
            os.kill(pid, signal.SIGKILL)
