"""A run in batch mode that is killed before or after any step sends no call twice."""

import signal
import subprocess
import threading
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.batch_server import BatchServer
from tests.crashes.commands import end_of, start
from tests.flows.command import ended
from tests.flows.scripted import policy
from tests.flows.test_batches import rows

DATASET = "mini_eq_test"
CALLS = 12

STEPS = ("upload", "create", "poll", "results")
PAID = ("after", "create")
"""The provider has the batch, and the lake does not know its name yet: what is lost now is paid for twice."""

MOMENTS = [
    moment if moment == PAID else pytest.param(*moment, marks=pytest.mark.long) for moment in product(("before", "after"), STEPS)
]


class Killer:
    """Kills the process at hand at one moment, once."""

    def __init__(self, moment: str, step: str) -> None:
        self._at = (moment, step)
        self._lock = threading.Lock()
        self.process: subprocess.Popen[str] | None = None
        self.kills = 0

    def __call__(self, moment: str, step: str) -> bool:
        with self._lock:
            if (moment, step) != self._at or self.kills:
                return False
            assert self.process is not None
            self.kills += 1
            self.process.kill()
            self.process.wait()
            return True


def arguments(stage: str, server: BatchServer, lake: Path) -> list[str]:
    return [
        stage,
        "moodbench-mini",
        "--model",
        "scripted",
        "--base-url",
        server.base_url,
        "--datasets",
        DATASET,
        "--lake",
        str(lake),
    ]


def replies(lake: Path) -> list[tuple[Any, ...]]:
    """What was asked and answered, without the address of the server, which is another in each test."""
    return sorted(row[2:] for row in rows(lake).values())


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, prefect_server: str) -> list[tuple[Any, ...]]:  # noqa: ARG001
    """The replies to calls that are made live."""
    lake = tmp_path_factory.mktemp("live")
    with BatchServer(policy((DATASET,), "gold")) as server:
        assert [ended(*arguments(stage, server, lake)).status for stage in ("build", "infer")] == [0, 0]
    return replies(lake)


@pytest.mark.parametrize(("moment", "step"), MOMENTS)
def test_killed_batch_executes_each_call_once(
    tmp_path: Path, prefect_server: str, live: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, moment: str, step: str
) -> None:
    monkeypatch.setenv("MOODFLOW_BATCH_POLL_S", "0.05")
    killer = Killer(moment, step)
    with BatchServer(policy((DATASET,), "gold"), around=killer) as server:
        command = [*arguments("infer", server, tmp_path), "--batch", "--wait", "--batch-below", "5"]
        assert ended(*arguments("build", server, tmp_path)).status == 0
        killer.process = start(command, prefect_server)
        assert end_of(killer.process).status == -signal.SIGKILL
        # What the process was at work on is claimed and not lost.
        last = ended(*command)
        assert last.status == 0, last.err
        assert (server.executed.total(), set(server.executed.values()), server.live) == (CALLS, {1}, [])
        assert len(server.jobs) == 1
    assert replies(tmp_path) == live
