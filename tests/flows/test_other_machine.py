"""Calls of a run answered on another machine: written to a file, answered there, taken in, scored."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.batch_server import BatchServer
from tests.flows.command import ask_all, assert_one_message, ended
from tests.flows.scripted import policy

DATASETS = ("mini_user_safety", "mini_summarization")
ANSWERS, RATINGS = 16, 8
"""8 items of each dataset, and a rating of each summary."""


@pytest.fixture(scope="module")
def answer() -> Callable[[list[dict[str, str]]], str]:
    return policy(DATASETS, "gold")


@pytest.fixture
def server(answer: Callable[[list[dict[str, str]]], str]) -> Iterator[BatchServer]:
    with BatchServer(answer) as running:
        yield running


def options(base_url: str, lake: Path, *more: str | Path) -> tuple[str | Path, ...]:
    models = ("--model", "scripted", "--base-url", base_url, "--judge", "scripted", "--judge-base-url", base_url)
    return ("moodbench-mini", *models, "--datasets", ",".join(DATASETS), "--lake", lake, "--set", "bootstrap=0", *more, "--json")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def vllm_run_batch(asked: Path, out: Path, answer: Callable[[list[dict[str, str]]], str], fails: int | None = None) -> None:
    """Answer request lines as `vllm run-batch` does; one fails at the server."""
    rows = []
    for number, line in enumerate(lines(asked)):
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": answer(line["body"]["messages"])},
            "finish_reason": "stop",
        }
        body = {"object": "chat.completion", "model": line["body"]["model"], "choices": [choice]}
        response = {"status_code": 200, "request_id": "vllm-batch-1", "body": body}
        row = {"id": f"vllm-{number}", "custom_id": line["custom_id"], "response": response, "error": None}
        if number == fails:
            row |= {"response": {"status_code": 500, "request_id": "vllm-batch-1", "body": None}, "error": "out of memory"}
        rows.append(json.dumps(row))
    out.write_text("\n".join(reversed(rows)), encoding="utf-8")


def test_calls_answered_elsewhere_are_all_scored(
    server: BatchServer, tmp_path: Path, answer: Callable[[list[dict[str, str]]], str]
) -> None:
    lake, out = tmp_path / "lake", tmp_path / "out.jsonl"
    first = ask_all(*options(server.base_url, lake, "--requests-to", tmp_path / "one.jsonl"))
    assert (first.status, first.document["calls"]["waiting"]) == (3, ANSWERS), first.err
    assert (first.document["files"], first.document["jobs"]) == ([str(tmp_path / "one.jsonl")], [])
    assert f"{ANSWERS} calls of scripted written to" in first.err
    about = json.loads((tmp_path / "one.jsonl.about.json").read_text(encoding="utf-8"))
    assert (about["identity"], about["model"], about["calls"]) == (server.base_url, "scripted", ANSWERS)
    vllm_run_batch(tmp_path / "one.jsonl", out, answer, fails=3)
    taken = ended("journal", "import", out, "--requests", tmp_path / "one.jsonl", "--lake", lake, "--json")
    assert (taken.status, taken.document["added"], taken.document["to_ask"]) == (1, ANSWERS - 1, 1), taken.err
    assert taken.document["rules"] == {"still_to_be_asked": 1}
    # The call that the server failed at, and the ratings of the summaries that are there.
    again = ended("infer", *options(server.base_url, lake, "--requests-to", tmp_path / "two.jsonl"))
    left = again.document["calls"]["waiting"]
    assert (again.status, left) in {(3, 1 + RATINGS), (3, RATINGS)}, again.err
    vllm_run_batch(tmp_path / "two.jsonl", out, answer)
    assert ended("journal", "import", out, "--requests", tmp_path / "two.jsonl", "--lake", lake).status == 0
    done = ended("run", *options(server.base_url, lake, "--requests-to", tmp_path / "three.jsonl"))
    if done.status == 3:  # the call that failed was that of a summary, whose rating comes after it
        vllm_run_batch(tmp_path / "three.jsonl", out, answer)
        assert ended("journal", "import", out, "--requests", tmp_path / "three.jsonl", "--lake", lake).status == 0
        done = ended("run", *options(server.base_url, lake, "--requests-to", tmp_path / "four.jsonl"))
    # The server itself was asked nothing.
    assert (done.status, server.live, done.document["missing"]) == (0, [], []), done.err
    # Every reply was right, that of the call that failed at first among them, and every rating is the best.
    scores = {(row["dataset"], row["value"], row["n_scored"], row["n_total"]) for row in done.document["raw_scores"]}
    assert scores == {(name, 1, 8, 8) for name in DATASETS}


def test_each_model_has_a_file(server: BatchServer, tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    first = ask_all(*options(server.base_url, tmp_path / "lake", "--model", "other", "--requests-to", file))
    assert first.status == 3, first.err
    assert first.document["files"] == [str(file), str(tmp_path / "asked-2.jsonl")]
    assert {line["body"]["model"] for line in lines(tmp_path / "asked-2.jsonl")} == {"other"}
    refused = ended("infer", *options(server.base_url, tmp_path / "lake", "--requests-to", file))
    assert_one_message(refused, "already exists")


def test_calls_go_one_way(tmp_path: Path) -> None:
    nowhere = "http://localhost:9/v1"
    done = ended("run", *options(nowhere, tmp_path, "--batch", "--requests-to", tmp_path / "a.jsonl"))
    assert_one_message(done, "requests_to sends no call")
    assert_one_message(ended("run", *options(nowhere, tmp_path, "--batch-below", "5")), "batch_below needs batch")
