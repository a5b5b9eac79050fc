"""`moodflow serve` as a user runs it: runs, schedules, alerts, and that it leaves nothing."""

import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from flows.runtime.artifacts import MODEL_RESOURCE, SCORE_REGRESSION
from flows.runtime.local_server import PROGRAM
from flows.service.registration import REGRESSION, SILENT_RUN
from tests.flows.scripted import policy
from tests.flows.served import DATASETS, ENDED, LIMIT_S, Served, deployment, processes_of, wait_until, write_config
from tests.loopback import Endpoint
from tests.model_server import ModelServer
from tests.prefect_server import PrefectServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
URL = "http://127.0.0.1:9/v1"
ONE_AT_A_TIME = {"name": "scripted", "concurrency": 1}
REFUSALS = {
    "api_key_env": "the key of model scripted may not be sent to this base URL",
    "identity": "is another server's address",
}
"""By what is left in a form whose base URL is changed."""


@pytest.fixture
def home(started_prefect: PrefectServer, tmp_path: Path) -> Path:
    return started_prefect.new_home(tmp_path / "prefect")


@pytest.mark.long
def test_serve_needs_a_password_and_leaves_no_process(home: Path, tmp_path: Path) -> None:
    write_config(tmp_path / "prefect.yaml", deployment(URL))
    with Served(tmp_path, home) as served:
        assert [one["name"] for one in served.api("/deployments/filter", {})] == ["tried"]
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{served.document['api']}/flows/count", b"{}")  # noqa: S310  loopback
        assert served.end() == 0
        assert processes_of(home) == {}
        for url in (served.document["api"], served.document["reports"]):
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", int(url.split(":")[2].split("/")[0])), timeout=5)


def reports(served: Served) -> httpx.Client:
    """A browser that has opened the printed address of the reports."""
    address = served.document["reports"]
    browser = httpx.Client(base_url=address.partition("/?")[0], follow_redirects=True, trust_env=False)
    browser.get(address)
    return browser


@pytest.mark.long
def test_automations_are_made_once_and_mended(home: Path, tmp_path: Path) -> None:
    write_config(tmp_path / "prefect.yaml", deployment(URL))
    with Served(tmp_path, home) as served:

        def automations(*arguments: str, login: str = served.login) -> str:
            done = served.beside("automations", *arguments, PREFECT_API_URL=served.document["api"], PREFECT_API_AUTH_STRING=login)
            return done.stdout + done.stderr

        def there() -> dict[str, str]:
            return {one["name"]: one["id"] for one in served.api("/automations/filter", {})}

        first = there()
        assert automations() == f"{SILENT_RUN}: as it was\n{REGRESSION}: not asked for\n"
        assert automations("--webhook", URL) == f"{SILENT_RUN}: as it was\n{REGRESSION}: made\n"
        second = there()
        assert second == {SILENT_RUN: first[SILENT_RUN], REGRESSION: second[REGRESSION]}
        assert automations("--webhook", f"{URL}/other") == f"{SILENT_RUN}: as it was\n{REGRESSION}: as it was\n"
        assert there() == second
        assert automations() == f"{SILENT_RUN}: as it was\n{REGRESSION}: removed\n"
        assert there() == first
        refused = automations(login="moodflow:guessed")
        assert "Error: the Prefect server refused the request\n" in refused
        assert "401 Unauthorized" in refused


@pytest.mark.long
def test_a_triggered_run_has_a_served_report(home: Path, tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold")) as model, ModelServer(policy(DATASETS, "gold")) as other:
        entry = {"name": "scripted", "base_url": model.base_url, "api_key_env": "A_KEY"}
        write_config(tmp_path / "prefect.yaml", deployment(model.base_url, models=[entry]))
        with Served(tmp_path, home, A_KEY="sk-1") as served:
            ended = served.ended_run()
            assert ended["name"] == "Completed"
            assert (model.calls, model.repeated) == (20, 0)
            for left, refusal in REFUSALS.items():
                kept = entry["api_key_env"] if left == "api_key_env" else entry["base_url"]
                ended = served.ended_run(models=[{"name": "scripted", "base_url": other.base_url, left: kept}])
                assert (ended["type"], refusal in ended["message"]) == ("FAILED", True)
            assert (other.calls, other.headers) == (0, [])
            # The address alone is changed, as in a form: the other server's replies are asked for and scored.
            ended = served.ended_run(models=[{"name": "scripted", "base_url": other.base_url}])
            assert (ended["name"], model.calls, other.calls) == ("Completed", 20, 20)
            manifest, _ = sorted((tmp_path / "lake" / "runs").glob("*/manifest.json"))
            report = f"/{manifest.parent.name}/report.html"
            assert reports(served).get(report).content == (manifest.parent / "report.html").read_bytes()


@pytest.mark.long
def test_a_short_form_evaluates_one_model(home: Path, tmp_path: Path) -> None:
    given = {"benchmark": "moodbench-mini", "lake": "lake"}
    short = {"name": "evaluate-a-model", "entrypoint": "flows.evaluate.evaluate", "parameters": {"evaluation": given}}
    with ModelServer(lambda _messages: "A") as model:
        write_config(tmp_path / "prefect.yaml", short)
        with Served(tmp_path, home) as served:
            form = given | {"lake": str(tmp_path / "lake"), "model": "scripted", "base_url": model.base_url, "sample": 1}
            run = served.start_run(evaluation=form)
            ended = wait_until(lambda: state if (state := served.state_of(run))["type"] in ENDED else None)
            assert (ended["type"], ended["message"]) == ("COMPLETED", "no earlier run of moodbench-mini")
            (listed,) = served.runs()
            assert listed["name"] == "evaluate scripted on moodbench-mini"
            assert {"moodbench-mini", "scripted", "base"} <= set(listed["tags"])
            assert "/report.html" in reports(served).get("/").text
            with pytest.raises(httpx.HTTPStatusError, match="409"):
                served.start_run(evaluation=form | {"benchmark": "nope"})
            run = served.start_run(evaluation=form | {"base_url": ""})
            ended = wait_until(lambda: state if (state := served.state_of(run))["type"] in ENDED else None)
            assert "model scripted needs a base_url; only smollm2 comes with the install" in ended["message"]
            logs = [line["message"] for line in wait_until(lambda: served.api("/logs/filter", {}))]
            assert not [line for line in logs if "\\n" in line or "NoneType" in line or "Traceback" in line or "hook" in line]


@pytest.mark.long
def test_a_scheduled_run_without_change_asks_nothing(home: Path, tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold")) as model:
        write_config(tmp_path / "prefect.yaml", deployment(model.base_url))
        with Served(tmp_path, home, "--schedule", "tried=* * * * *") as served:
            assert served.document["deployments"][0]["next_run"] is not None
            first, second = wait_until(lambda: done[:2] if len(done := served.runs("COMPLETED")) >= 2 else None)
            assert first["auto_scheduled"]
            assert first["name"] == "refresh moodbench-mini: scripted (base)"
            assert "tried" in first["tags"]
            assert second["state"]["name"] == "UpToDate"
            assert second["state"]["message"].endswith("no model call was sent, but for the canary")
            # A run of a deployment asks eight of the calls anew, twice each.
            assert (model.calls, model.repeated) == (20 + 16, 16)
            keys = {one["key"] for one in served.api("/artifacts/filter", {}) if one["key"]}
            assert {"leaderboard", "summary"} <= keys
            assert served.end(signal.SIGTERM) == 0
        assert processes_of(home) == {}
        # What it had scheduled for the minutes in which it was down is not made up for, and counted.
        wait_until(lambda: time.time() % 60 > 50)
        wait_until(lambda: time.time() % 60 < 5)
        with Served(tmp_path, home, "--schedule", "tried=off") as served:
            assert served.document["deployments"][0]["next_run"] is None
            messages = [run["state"]["message"] for run in served.runs("CANCELLED")]
            missed = served.document["deployments"][0]["missed"]
            assert 1 <= missed <= messages.count("moodflow serve was not running when it was due")
            automations = [one["name"] for one in served.api("/automations/filter", {})]
            assert automations == ["moodflow: a run that fell silent is Crashed"]
            assert (model.calls, model.repeated) == (20 + 16, 16)


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_resumed_by_the_next(home: Path, tmp_path: Path, number: signal.Signals) -> None:
    with ModelServer(policy(DATASETS, "gold"), latency_s=0.5) as model:
        slow = {**ONE_AT_A_TIME, "base_url": model.base_url}
        # A canary would ask what the journal has once more.
        write_config(tmp_path / "prefect.yaml", deployment(model.base_url, models=[slow], canary=0))
        with Served(tmp_path, home) as served:
            broken = served.start_run()
            wait_until(lambda: model.calls >= 4)
            assert served.end(number) == 0
            assert processes_of(home) == {}
            assert "Traceback" not in served.stderr
        with Served(tmp_path, home) as served:
            assert served.state_of(broken)["type"] in {"CANCELLED", "CRASHED"}
            whole = served.start_run()
            wait_until(lambda: served.state_of(whole)["type"] == "COMPLETED")
            assert served.end() == 0
        # The call in flight when it ended may be sent again, no other.
        assert model.calls - model.repeated == 20
        assert model.repeated <= 1


@pytest.mark.long
def test_a_killed_serve_frees_its_place(home: Path, tmp_path: Path) -> None:
    with ModelServer(policy(DATASETS, "gold"), latency_s=0.5) as model, Endpoint() as webhook:
        slow = {**ONE_AT_A_TIME, "base_url": model.base_url}
        write_config(tmp_path / "prefect.yaml", deployment(model.base_url, models=[slow]))
        with Served(tmp_path, home, MOODFLOW_WEBHOOK=webhook.base_url) as served:
            killed = served.start_run()
            wait_until(lambda: model.calls >= 4)
        with Served(tmp_path, home, MOODFLOW_WEBHOOK=webhook.base_url) as served:
            assert served.state_of(killed)["type"] == "CRASHED"
            assert "moodflow serve ended while it ran" in served.state_of(killed)["message"]
            names = sorted(one["name"] for one in served.api("/automations/filter", {}))
            assert names == [REGRESSION, SILENT_RUN]  # once each, at the second start too
            event = {"run": "r2", "text": "Regressed: m\nReport: r", "message": "ability fell", "findings": [{"what": "total"}]}
            served.api("/events", [regression_event(event)])
            ((_, _, body),) = wait_until(lambda: webhook.received)
            assert body["text"] == "Regressed: m\nReport: r"
            assert body["regression"] == event
            assert webhook.base_url not in served.stderr
            again = served.start_run()
            wait_until(lambda: served.state_of(again)["type"] == "COMPLETED")


@pytest.mark.long
def test_a_dead_server_ends_serve(home: Path, tmp_path: Path) -> None:
    write_config(tmp_path / "prefect.yaml", deployment(URL))
    with Served(tmp_path, home) as served:
        (server,) = (pid for pid, program in processes_of(home).items() if str(PROGRAM) in program)
        second = served.beside("serve", "--port", "0", "--reports-port", "0")
        assert second.returncode == 2
        assert second.stderr.startswith("Error: moodflow serve is already running\n")
        os.kill(server, signal.SIGKILL)
        assert served.process.wait(LIMIT_S) == 1
        assert "the Prefect server ended by itself, with status -9" in served.stderr
        assert processes_of(home) == {}


def regression_event(payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": str(uuid4()),
        "occurred": datetime.now(UTC).isoformat(),
        "event": SCORE_REGRESSION,
        "resource": {"prefect.resource.id": f"{MODEL_RESOURCE}scripted"},
        "payload": payload,
    }
