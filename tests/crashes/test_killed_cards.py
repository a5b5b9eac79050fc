"""`moodflow cards build` that is killed goes on where it stopped and pays at most for what was in flight."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_AUTH_STRING

from tests.crashes.commands import ROOT, kept_replies, kill, wait_until
from tests.flows.command import ended
from tests.flows.commands.test_cards import CALLS, FUNNEL, answer, posts, written
from tests.model_server import ModelServer

CONCURRENCY = 2


@pytest.mark.long
def test_cards_that_are_killed_go_on(tmp_path: Path, prefect_server: str) -> None:
    source, lake = written(tmp_path, posts("zh")), tmp_path / "lake"
    with ModelServer(answer, latency_s=0.5) as server:
        where = ["--lake", str(lake), "--out", str(tmp_path / "cards"), "--concurrency", str(CONCURRENCY), "--json"]
        command = ["cards", "build", str(source), "--model", "m", "--base-url", server.base_url, *where]
        prefect = {"PREFECT_API_URL": prefect_server, "PREFECT_API_AUTH_STRING": PREFECT_API_AUTH_STRING.value()}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crashes.limited", "--", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **prefect, "PREFECT_LOGGING_TO_API_ENABLED": "false"},
            cwd=ROOT,
        )
        # Two at a time, half a second each: 41 calls take 10 s. At the fourteenth the cards are being filtered.
        wait_until(lambda: server.calls >= 14, process)
        kill(process)
        kept = kept_replies(lake, tmp_path / "copy")
        assert 0 < server.calls - kept <= CONCURRENCY
        received, server.latency_s = server.calls, 0.0
        last = ended(*command)
        assert (last.status, last.document["funnel"]) == (0, FUNNEL), last.err
        assert server.calls == received + CALLS - kept
        # The partition of the first step was whole: its calls are not even looked up.
        assert last.document["usage"][0]["calls"] == 10
