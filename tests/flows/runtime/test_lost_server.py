"""The user's Prefect server is lost in the middle of a run, never answered, or is no Prefect server."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

from flows.runtime import prefect_server as lost_server
from flows.runtime.local_server import AUTH
from schemas.errors import EndpointError
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.scripted import policy
from tests.flows.served import ENTRY_POINT, LIMIT_S, clean_environment, processes_of
from tests.loopback import Handler, LoopbackServer
from tests.model_server import ModelServer
from tests.prefect_server import PrefectServer, started_server

DATASET, CALLS = "mini_text_classification", 8
IMPATIENT = """
from flows.runtime import prefect_server
prefect_server.ASK_PERIOD_S = prefect_server.ASK_LIMIT_S = 0.5
prefect_server.LOST_AFTER_S = 2.0
from flows.cli import main
main()
"""


LATER = {"/later/health": b"true", "/later/admin/version": b'"4.0.0"'}
"""Answers of a Prefect server of a version that is not out yet."""


class Page(Handler):
    def do_GET(self) -> None:  # noqa: N802  the name http.server calls
        self.send_body(200, LATER.get(self.path, b"<html>welcome</html>"), {"Content-Type": "text/html"})


class Pages(LoopbackServer):
    handler = Page


def run_on(server: PrefectServer, base_url: str, lake: Path, home: Path, program: str) -> subprocess.Popen[str]:
    plan = ("run", "moodbench-mini", "--datasets", DATASET, "--model", "m", "--base-url", base_url, "--lake", str(lake))
    environment = clean_environment(home, PREFECT_API_URL=server.url, **{AUTH: server.auth})
    options = ("--concurrency", "1", "--set", "bootstrap=0", "--json")
    command = [sys.executable, "-c", program, *plan, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.fixture
def own_server(started_prefect: PrefectServer, tmp_path: Path) -> Iterator[PrefectServer]:
    home = started_prefect.new_home(tmp_path / "own")
    with started_server(home) as server:
        server.wait()
        yield server


@pytest.mark.long
@pytest.mark.parametrize("loss", [signal.SIGKILL, signal.SIGSTOP])
def test_lost_server_ends_run_with_one_message(
    own_server: PrefectServer, started_prefect: PrefectServer, tmp_path: Path, loss: signal.Signals
) -> None:
    (server_process,) = processes_of(own_server.home)
    answer, lost = policy((DATASET,), "gold"), list[int]()

    def lose(messages: list[dict[str, str]]) -> str:
        if model.calls == 3 and not lost:
            lost.append(server_process)
            os.kill(server_process, loss)
        return answer(messages)

    with ModelServer(lose, latency_s=0.5) as model:
        first = run_on(own_server, model.base_url, tmp_path / "lake", tmp_path / "home", IMPATIENT)
        out, err = first.communicate(timeout=LIMIT_S)
        assert (first.returncode, out) == (2, ""), err
        assert err.count("Error: ") == 1
        assert "Traceback" not in err
        for words in (
            "Error: the Prefect server stopped answering",
            f"where: PREFECT_API_URL={own_server.url}",
            "expected: an answer within 2 s",
            "next step: start it, then run the same command; finished partitions and answered calls are kept",
        ):
            assert words in err
        second = run_on(started_prefect, model.base_url, tmp_path / "lake", tmp_path / "home", ENTRY_POINT)
        done = Ended(second.wait(LIMIT_S), *second.communicate())
        assert done.status == 0, done.err
        # The one call that was under way when the run ended is sent again, as after an interruption.
        assert model.calls <= CALLS + 1
        assert [row["n_scored"] for row in done.document["raw_scores"]] == [CALLS]
    if loss is signal.SIGSTOP:
        os.kill(server_process, signal.SIGCONT)


def asked(lake: Path, url: str) -> Ended:
    with temporary_settings({PREFECT_API_URL: url}):
        return ended("build", "moodbench-mini", "--datasets", DATASET, "--lake", lake)


@pytest.mark.parametrize("path", ["/api", ""])
def test_a_server_of_others_is_refused(tmp_path: Path, path: str) -> None:
    with ModelServer(lambda _: "B") as other, Pages() as pages:
        missing, page = (asked(tmp_path, f"{server.url}{path}") for server in (other, pages))
    for refused in (missing, page):
        assert refused.status == 2
        assert refused.err.count("Error: the Prefect server cannot be reached") == 1
        assert "expected: the API of a Prefect server, whose address usually ends with /api" in refused.err
    assert "404 Not Found" in missing.err
    assert "got: another answer to /health: '<html>welcome</html>'" in page.err


def test_a_server_of_another_major_version_is_refused(tmp_path: Path) -> None:
    with Pages() as server:
        refused = asked(tmp_path, f"{server.url}/later")
    assert_one_message(
        refused,
        "Error: the Prefect server refused the request\n",
        "got: Found incompatible versions: client: 3.",
        "server: 4.0.0",
    )


def test_a_server_whose_login_is_missing_is_refused(started_prefect: PrefectServer, tmp_path: Path) -> None:
    with temporary_settings({PREFECT_API_AUTH_STRING: None}):
        refused = asked(tmp_path, started_prefect.url)
    assert_one_message(
        refused, "Error: the Prefect server refused the request\n", "401 Unauthorized", "set PREFECT_API_AUTH_STRING to its login"
    )


def test_a_server_that_stands_still_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_server, "ANSWER_LIMIT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        refused = asked(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/api")
    assert refused.status == 2
    assert "got: no answer within 0.5 s" in refused.err


def test_request_that_is_given_up_is_same_message(prefect_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        raise httpx.ConnectError("All connection attempts failed")

    said: list[tuple[str, int]] = []
    monkeypatch.setattr(lost_server, "leave_soon", lambda text, status: said.append((text, status)))
    with pytest.raises(EndpointError, match="the Prefect server stopped answering") as error:
        asyncio.run(lost_server.on_server(work))
    assert (error.value.where, error.value.got) == (f"PREFECT_API_URL={prefect_server}", "All connection attempts failed")
    assert said == [(f"Error: {error.value}\n", 2)]
