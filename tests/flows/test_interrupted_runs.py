"""A run that is killed goes on where it stopped and pays for nothing twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL

from tests.flows.scripted import policy
from tests.model_server import ModelServer

DATASETS = ("mini_user_safety", "mini_text_matching", "mini_summarization", "mini_eq_test", "mini_sequence_order_recall")
CONCURRENCY = 4
START_LIMIT_S = 90.0


def start(server: ModelServer, lake: Path) -> subprocess.Popen[str]:
    """The command in a process of its own, with the test's Prefect server."""
    arguments = ["run", "moodbench-mini", "--datasets", ",".join(DATASETS), "--lake", str(lake), "--json"]
    arguments += [
        "--model",
        "scripted",
        "--base-url",
        server.base_url,
        "--judge",
        "scripted",
        "--judge-base-url",
        server.base_url,
    ]
    arguments += ["--concurrency", str(CONCURRENCY)]
    program = "from flows.cli import main; main()"
    environment = {**os.environ, "PREFECT_API_URL": str(PREFECT_API_URL.value())}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )


def wait_for_calls(server: ModelServer, calls: int) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while server.calls < calls:
        assert time.monotonic() < deadline, f"only {server.calls} calls after {START_LIMIT_S} s"
        time.sleep(0.01)


@pytest.mark.usefixtures("prefect_server")
def test_sigkill_costs_at_most_the_calls_in_flight(tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold"), latency_s=0.1) as server:
        for stop_at in (8, 20):
            killed = start(server, tmp_path)
            wait_for_calls(server, stop_at)
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        last = start(server, tmp_path)
        out, _ = last.communicate(timeout=START_LIMIT_S)
        repeated = server.repeated
    assert last.returncode == 0
    assert repeated <= 2 * CONCURRENCY
    document = json.loads(out)
    # 8 + 8 + 8 + 12 + 8 items and a rating of each of the 8 summaries, all gold.
    assert {row["value"] for row in document["raw_scores"]} == {1}
    assert sum(row["n_total"] for row in document["raw_scores"]) == 44
    assert document["calls"]["from_journal"] > 0
    assert [path for path in tmp_path.rglob("*.parquet") if ".incomplete." in path.name] == []


@pytest.mark.usefixtures("prefect_server")
def test_ctrl_c_ends_soon_with_status_130(tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold"), latency_s=0.3) as server:
        process = start(server, tmp_path)
        wait_for_calls(server, 6)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - started < 15
