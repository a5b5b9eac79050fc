"""A run against the one before it, through a real Prefect server: its state, the check that fails, and events."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client

from flows.runtime.artifacts import MODEL_RESOURCE, RUN_SCORED, SCORE_REGRESSION
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.flows.served import wait_until
from tests.model_server import ModelServer

DATASETS = ("mini_commonsense_qa", "mini_coarse_emotion_recognition")


def model(behaviour: Any) -> ModelServer:
    return ModelServer(policy(DATASETS, behaviour))


def run(server: ModelServer, lake: Path, *more: str, name: str = "core") -> Ended:
    return ended("run", "moodbench-mini", *given(server, lake, name), "--json", *more)


def given(server: ModelServer, lake: Path, name: str = "core") -> tuple[str | Path, ...]:
    datasets = ("--datasets", ",".join(DATASETS), "--set", "bootstrap=100")
    return ("--model", name, "--base-url", server.base_url, "--lake", lake, *datasets)


def request(method: str, path: str, **body: Any) -> Any:
    async def ask() -> Any:
        async with get_client() as client:
            return (await client.request(method, path, **body)).json()  # type: ignore[arg-type]

    return asyncio.run(ask())


def newest(name: str) -> dict[str, Any]:
    body = {"flows": {"name": {"any_": [name]}}, "sort": "START_TIME_DESC", "limit": 1}
    found: list[dict[str, Any]] = request("POST", "/flow_runs/filter", json=body)
    return found[0]


def events(name: str, run_name: str) -> list[dict[str, Any]]:
    found = request("POST", "/events/filter", json={"filter": {"event": {"name": [name]}}})["events"]
    return [event for event in found if event["payload"]["run"] == run_name]


def ended_checks(flow_run: str) -> list[dict[str, Any]]:
    """The check of a flow run, once the server has recorded its end, which is later than the run's own."""
    wanted = {"name": {"any_": ["regression check"]}, "state": {"type": {"any_": ["COMPLETED", "FAILED"]}}}
    found: list[dict[str, Any]] = request("POST", "/task_runs/filter", json={"task_runs": wanted})
    return [task for task in found if task["flow_run_id"] == flow_run]


def test_a_model_that_fell_is_told(tmp_path: Path) -> None:
    play(tmp_path)


@pytest.mark.long
@pytest.mark.usefixtures("recording_server")
def test_states_events_and_the_check(tmp_path: Path) -> None:
    assert_recorded(play(tmp_path))


def play(lake: Path) -> list[dict[str, Any]]:
    """Three runs, of which the last is worse; their documents."""
    with model("gold") as good, model("wrong") as bad:
        first = run(good, lake)
        # Nothing is asked: what is stored is scored and told again, without the flows before it.
        again = ended("report", "moodbench-mini", *given(good, lake), "--json")
        # The same model under another address: it is asked anew, and compared.
        worse = run(bad, lake)
    documents = [done.document for done in (first, again, worse)]
    assert [done.status for done in (first, again, worse)] == [0, 0, 0]  # only --fail-on-regression makes it 1
    assert [one["state"] for one in documents] == ["Completed", "UpToDate", "Regressed"]
    assert [one["previous"] for one in documents] == [None, documents[0]["run"], documents[1]["run"]]
    assert documents[0]["regressions"] == documents[1]["regressions"] == []
    assert_regressed(worse, documents[1]["run"])
    shown = ended("runs", "show", documents[2]["run"], "--lake", lake, "--json").document
    assert (shown["state"], shown["regressions"]) == ("Regressed", documents[2]["regressions"])
    assert_marked(lake, documents)
    (lake / "runs" / documents[2]["run"] / "manifest.json").unlink()
    reported = ended("report", "moodbench-mini", *given(bad, lake), "--fail-on-regression", "--json")
    assert (reported.status, reported.document["state"]) == (1, "Regressed")
    return documents


def assert_regressed(worse: Ended, previous: str) -> None:
    document = worse.document
    fallen = {one["what"]: (one["before"], one["after"], one["allowed"]) for one in document["regressions"]}
    # All right, then all wrong. No gate is scored: nothing can be vetoed.
    assert {what: (before, after) for what, (before, after, _) in fallen.items()} == dict.fromkeys(
        ("total", "foundational", "emotional"), (100, 0)
    )
    assert {(one["model"], one["setting"], one["previous"]) for one in document["regressions"]} == {("core", "base", previous)}
    assert f"core regressed against {previous}:" in worse.err
    assert "Total fell from 100.0 to 0.0: -100.0 [-100.0, -74.6] on the 16 items both runs scored" in worse.err


def assert_marked(lake: Path, documents: list[dict[str, Any]]) -> None:
    """Report, leaderboard, history and list of runs show what regressed."""
    page, markdown = (Path(documents[2]["report"]).with_suffix(suffix).read_text(encoding="utf-8") for suffix in (".html", ".md"))
    assert page.index("Since the previous run</h2>") < page.index('<section id="m1">')
    assert "Total fell from 100.0 to 0.0" in page
    assert "| core | Total | 100.00 | 0.00 | −100.00 | −100.00 to −74.56 |" in markdown
    printed = ended("leaderboard", "moodbench-mini", "--lake", lake, "--html", lake / "board.html").out
    board = (lake / "board.html").read_text(encoding="utf-8")
    # In the ranking and in the history, where the two runs before have no mark.
    assert [part.count("▼ regressed") for part in board.split('<section id="history">')] == [1, 1]
    assert re.search(r"core .* regressed", printed)
    states = re.findall(r"(Regressed|UpToDate|Completed) *$", ended("runs", "list", "--lake", lake).out, re.MULTILINE)
    assert states == ["Regressed", "UpToDate", "Completed"]


def assert_recorded(documents: list[dict[str, Any]]) -> None:
    """What the server knows of the runs."""
    refreshed = newest("refresh")
    assert (refreshed["state"]["type"], refreshed["state"]["name"]) == ("FAILED", "Regressed")  # not shown in green
    assert refreshed["state"]["message"] == "core (total 100.0 -> 0.0)"
    assert refreshed["name"] == "refresh moodbench-mini: core (base)"
    assert set(refreshed["tags"]) == {"moodbench-mini", "core", "base", "corrected"}
    (check,) = wait_until(lambda: ended_checks(refreshed["id"]))
    assert (check["state"]["type"], check["tags"]) == ("FAILED", [])
    assert "core: Total fell from 100.0 to 0.0" in check["state"]["message"]
    name = documents[2]["run"]
    (regression,) = wait_until(lambda: events(SCORE_REGRESSION, name))
    assert regression["resource"]["prefect.resource.id"] == f"{MODEL_RESOURCE}core"
    payload = regression["payload"]
    assert {payload[key] for key in ("run", "previous", "benchmark", "model", "setting")} == {
        *(documents[index]["run"] for index in (1, 2)),
        *("moodbench-mini", "core", "base"),
    }
    assert payload["findings"] == [
        {key: one[key] for key in ("what", "before", "after", "allowed", "message")} for one in documents[2]["regressions"]
    ]
    text = payload["text"].splitlines()
    assert text[:2] == ["Regressed on moodbench-mini: core (total 100.0 -> 0.0)", f"Report: {documents[2]['report']}"]
    assert payload["message"].startswith(f"core regressed against {documents[1]['run']}: Total fell from 100.0 to 0.0")
    states = [wait_until(lambda name=one["run"]: events(RUN_SCORED, name))[0]["payload"]["state"] for one in documents]  # type: ignore[misc]
    assert states == ["Completed", "UpToDate", "Regressed"]
