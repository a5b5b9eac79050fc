"""`moodflow view`: pages about runs until Ctrl-C, without Prefect."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.flows.command import assert_one_message, ended
from tests.flows.commands.test_leaderboard import store
from tests.tasks.reporting.example_scores import totals_row

FIRST, SECOND = (f"20260101T000000000000Z.{number}-m" for number in (1, 2))
PROGRAM = """import atexit, os, sys
from flows.commands.app import app, guarded
status = guarded(app)
print("prefect" in sys.modules, status)"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view") / "lake"
    for run in (FIRST, SECOND):
        store(folder, run, totals_row(model="m"))
    return folder


def test_view_serves_until_ctrl_c(lake: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "view", "#1", "latest", "--lake", str(lake), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        document = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        with httpx.Client(follow_redirects=True, trust_env=False) as browser:
            page = browser.get(document["address"])
            assert (page.status_code, browser.get(page.url.join("/")).status_code) == (200, 200)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (out, err) == ("False 0\n", "")
    assert (document["runs"], document["lake"]) == ([FIRST, SECOND], str(lake))
    assert page.text.count('/run">#') == 2


def test_a_run_that_is_not_there_is_refused(lake: Path) -> None:
    assert_one_message(ended("view", "#7", "--lake", lake), "there is no run #7")
