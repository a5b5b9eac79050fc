"""Failed calls: retried, recorded, asked again by the next run, and never a wrong answer."""

import json
import re
from pathlib import Path

import pytest

from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.commands.test_bad_input import ITEM, blueprint
from tests.flows.scripted import policy
from tests.flows.test_judged_dimensions import BLUEPRINT, TASK, write_files
from tests.model_server import Fault, ModelServer
from tests.tasks.models.making_calls import closed_port

DATASETS = ("mini_user_safety", "mini_text_matching")


def ask(stage: str, server: ModelServer, lake: Path, *datasets: str) -> Ended:
    model = ("--model", "scripted", "--base-url", server.base_url)
    return ended(stage, "moodbench-mini", *model, "--lake", lake, "--datasets", ",".join(datasets), "--json")


def test_the_next_run_asks_only_what_failed(tmp_path: Path) -> None:
    refused = "every second"

    def fault(number: int) -> Fault | None:
        return "401" if refused == "all" or (refused == "every second" and number % 2) else None

    with ModelServer(policy(DATASETS, "gold"), fault=fault) as server:
        broken_run = ask("run", server, tmp_path, *DATASETS)
        refused = "none"
        mended = ask("infer", server, tmp_path, *DATASETS)
        # 16 items: 8 refused in the first run, and only these asked again.
        assert server.calls == 16 + 8
        refused = "all"
        more_run = ask("run", server, tmp_path, *DATASETS, "mini_commonsense_qa")
    assert (broken_run.status, mended.status) == (1, 0)
    first, second = broken_run.document, mended.document
    assert first["calls"] == {"sent": 16, "answered": 8, "from_journal": 0, "failed": 8, "unsent": 0}
    assert second["calls"] == {"sent": 8, "answered": 8, "from_journal": 8, "failed": 0, "unsent": 0}
    # What was answered was right, so no score is below 1; missing items are not wrong.
    assert sum(row["n_scored"] for row in first["raw_scores"]) == 8
    assert {row["value"] for row in first["raw_scores"]} == {1}
    # Where the lake has replies, a server that answers nothing does not keep them from being scored.
    assert (more_run.status, more_run.document["state"], more_run.document["calls"]["answered"]) == (1, "Completed", 0)
    assert [(row["value"], row["n_scored"]) for row in more_run.document["raw_scores"] if row["n_scored"]] == [(1, 8), (1, 8)]
    # The first run can still be reopened as it was.
    shown = ended("runs", "show", first["run"], "--lake", tmp_path, "--json")
    assert shown.document["raw_scores"] == first["raw_scores"]


@pytest.mark.parametrize(
    ("fault", "path", "got", "next_step"),
    [
        (None, "v1", "connect: no connection to ", "start the server, or check base_url"),
        ("401", "v1", "auth: HTTP 401: unknown key", "set the variable that api_key_env names"),
        ("402", "v1", "quota: HTTP 402: Insufficient Balance", "top up the account"),
        ("404", "v1", "http_4xx: HTTP 404: no such model", "check base_url, which mostly ends in /v1"),
    ],
)
def test_a_run_that_no_question_can_help_stops(tmp_path: Path, fault: Fault | None, path: str, got: str, next_step: str) -> None:
    with ModelServer(policy(DATASETS, "gold"), fault=lambda _: fault) as server:
        address = f"http://127.0.0.1:{closed_port()}/v1" if got.startswith("connect") else f"{server.url}/{path}"
        few = ("--datasets", ",".join(DATASETS), "--set", "repeat=3")
        done = ended("run", "moodbench-mini", "--model", "m", "--base-url", address, "--lake", tmp_path, *few)
        # Of 48 calls the first 16 are sent, and what is in flight when these have ended.
        assert server.calls <= 16 + 16
    assert_one_message(done, "no call was answered", f"where: model m, base URL {address}", f"got: {got}", next_step)
    assert list((tmp_path / "runs").glob("*")) == []


def test_a_run_without_answers_fails_with_reasons(tmp_path: Path) -> None:
    # A refusal of the question itself: other questions might be answered, so all are asked.
    with ModelServer(lambda _: "B", fault=lambda _: "content_filter") as server:
        done = ended(
            "run", "moodbench-mini", "--model", "m", "--base-url", server.base_url, "--datasets", DATASETS[0], "--lake", tmp_path
        )
        assert server.calls == 8
    assert done.status == 1
    assert "Failed: no call was answered" in done.out
    assert re.search(
        r"Failed: 8 calls of m, content_filter: the provider's filter stopped .* What to do: none; use another provider",
        " ".join(done.out.split()),
    )


def test_a_judged_dataset_is_missing_without_judge(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "chosen.jsonl").write_text(json.dumps(ITEM), encoding="utf-8")
    methods = [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]
    datasets = {**BLUEPRINT["datasets"], "chosen": {"title": "Chosen", "source": {"path": "chosen.jsonl"}, "methods": methods}}
    able = {"id": "able", "title": "Able", "tasks": [{**TASK, "datasets": [*datasets]}]}
    own = blueprint(tmp_path, **{**BLUEPRINT, "datasets": datasets, "abilities": [able]})
    model = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    forecast = ended("run", own, *model, "--lake", tmp_path / "lake", "--dry-run", "--json").document
    assert [(gap["dataset"], gap["next_step"]) for gap in forecast["missing"]] == [("days", "add --judge NAME")]
