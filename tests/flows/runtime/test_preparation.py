"""Warnings before calls are paid for."""

import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flows.commands.plan_options import PlanOptions, read_plan
from flows.planning import checks
from flows.planning.resolve import resolve
from flows.runtime.preparation import cut_short, made_at_once, unread_chinese
from tasks.models.capabilities.probe import QUESTION
from tests.flows.command import assert_one_message, ended
from tests.flows.scripted_roles import LONG_MINI
from tests.model_server import ModelServer
from tests.probed_server import Answer, ProbedServer, completed

EE = "long_mini_ee"
CUT_SHORT = f"replies of core end at 2048 tokens, and prompts of {EE} demand more than 3000 each"


@pytest.mark.parametrize("command", ["run", "infer"])
def test_a_warning_is_said_once(tmp_path: Path, command: str) -> None:
    with ModelServer(lambda _messages: "I felt it and told nobody.") as server:
        asked = ("--model", "core", "--base-url", server.base_url, "--datasets", EE, "--sample", "1", "--max-tokens", "2048")
        judged = ("--judge", "core", "--judge-base-url", server.base_url)
        run = ended(command, LONG_MINI, *asked, *judged, "--set", "bootstrap=0", "--lake", tmp_path / "lake", "--json")
    assert run.err.count(CUT_SHORT) == 1, run.err


def test_limits_below_what_is_asked_for_are_told(tmp_path: Path) -> None:
    at, datasets = "http://127.0.0.1:9/v1", "long_mini_mc1,long_mini_qa"
    asked = PlanOptions(model=["m"], base_url=at, judge=["j"], judge_base_url=at, datasets=datasets, lake=tmp_path)
    resolved = resolve(read_plan(LONG_MINI, asked))
    assert list(cut_short(resolved)) == []
    limits: dict[str, Any] = {"max_tokens": 100, "set": ["judge.sampling.max_tokens=50"]}
    # A reply takes 160 tokens, an answer 64. Names of 37, 45 and 21 letters: 16 + (8 + 12) + (8 + 15) + (8 + 7).
    assert list(cut_short(resolve(read_plan(LONG_MINI, replace(asked, **limits))))) == [
        "replies of m are limited to 100 tokens, but more are needed for long_mini_mc1 (160); raise --max-tokens",
        "replies of j are limited to 50 tokens, but more are needed for long_mini_mc1 (74); raise judge.sampling.max_tokens",
    ]


@pytest.mark.parametrize("limit", [512, 2048])
def test_a_judge_that_reasons_needs_room(tmp_path: Path, limit: int) -> None:
    """Told in the run that finds it out, and in the next one before anything is sent."""

    def rate(body: dict[str, Any], _: str) -> Answer:
        if body["messages"][-1]["content"] == QUESTION:
            return completed(body, reasoning_content="Seven of them.")
        return completed(body, "", reasoning_content="Let me look at each dimension.", finish_reason="length")

    with ModelServer(lambda _messages: "A short summary.") as server, ProbedServer(rate) as judge:
        tested = ("--model", "m", "--base-url", server.base_url, "--datasets", "mini_summarization", "--sample", "1")
        judged = ("--judge", "j", "--judge-base-url", judge.base_url, "--set", f"judge.sampling.max_tokens={limit}")
        command = ("infer", "moodbench-mini", *tested, *judged, "--lake", tmp_path / "lake")
        runs = [ended(*command) for _ in range(2)]
    told = f"j reasons before it answers, and its replies end at {limit} tokens, reasoning included"
    assert [run.err.count(told) for run in runs] == ([1, 1] if limit < 2048 else [0, 0]), runs[0].err


def test_a_lake_on_a_network_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "network_disk", lambda folder: "nfs4" if folder == tmp_path / "lake" else None)
    with ModelServer(lambda _messages: "B") as server:
        asked = ("--model", "m", "--base-url", server.base_url, "--datasets", "mini_eq_test", "--sample", "2")
        run = ended("infer", "moodbench-mini", *asked, "--lake", tmp_path / "lake", "--json")
    assert run.err.count(f"moodflow: {tmp_path / 'lake'} is on a network file system (nfs4): ") == 1, run.err


def test_too_few_open_files_are_told_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    at = "http://127.0.0.1:9/v1"
    model = ("--model", "m", "--base-url", at, "--datasets", "mini_eq_test", "--concurrency", "8")
    judge = ("--judge", "j", "--judge-base-url", at, "--set", "judge.concurrency=4")
    done = ended("run", "moodbench-mini", *model, *judge, "--lake", tmp_path / "lake")
    # One for each of the 8 calls in flight of the one and the 4 of the other, though of one server, and 128 others.
    assert_one_message(done, "the limit of open files is too low", "expected: at least 140", "got: 64", "ulimit -n 140")


def test_unreadable_certificates_are_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    assert_one_message(ended("runs", "list"), "where: SSL_CERT_FILE=/nowhere.pem", "got: No such file or directory")


@pytest.mark.parametrize(("ranking", "warnings"), [("dense", 1), ("bm25", 0)])
def test_chinese_and_the_bundled_embedder_are_warned_of(tmp_path: Path, ranking: str, warnings: int) -> None:
    values = [f"retrieval.ranking={ranking}", "retrieval.embedder=minilm"]
    asked = PlanOptions(model=["m"], base_url="http://127.0.0.1:9/v1", settings="rag", set=values, lake=tmp_path)
    found = list(unread_chinese(resolve(read_plan(LONG_MINI, replace(asked, datasets="long_mini_qa")))))
    assert len(found) == warnings
    assert all(warning.startswith("long_mini_qa: most Chinese characters are unknown to minilm") for warning in found)


@pytest.mark.parametrize(("more", "warned"), [({"batch": True}, 1), ({"requests_to": Path("calls.jsonl")}, 1), ({}, 0)])
def test_models_that_no_batch_asks_are_named(tmp_path: Path, more: dict[str, Any], warned: int) -> None:
    asked = PlanOptions(model=["m"], base_url="http://127.0.0.1:9/v1", judge=["smollm2"], lake=tmp_path, **more)
    found = list(made_at_once(resolve(read_plan("moodbench-mini", asked))))
    assert found == ["smollm2 answers on this machine, so its calls are made at once and are in no batch or file"] * warned
