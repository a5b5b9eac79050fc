"""Runs whose calls a provider answers as batches."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.batch_server import BatchServer
from tests.crashes.commands import partitions
from tests.flows.annotating import MODELS, judge, knowing
from tests.flows.command import Ended, assert_one_message, ended
from tests.flows.scripted import policy
from tests.flows.scripted_roles import rows_of
from tests.flows.test_esc_eval import TURNS, Cast, cards_of

DATASETS = ("mini_summarization", "mini_eq_test")
ANSWERS, RATINGS = 20, 8
"""8 + 12 items, just enough for a batch, and a rating of each of the 8 summaries."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOODFLOW_BATCH_POLL_S", "0.01")


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer(policy(DATASETS, "gold")) as running:
        yield running


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with the items of all datasets and nothing else."""
    lake = tmp_path_factory.mktemp("items")
    judge = ("--judge", "scripted", "--judge-base-url", "http://127.0.0.1:9/v1")
    assert ended("build", "moodbench-mini", *judge, "--datasets", ",".join(DATASETS), "--lake", lake).status == 0
    return lake


@pytest.fixture
def built(items: Path, tmp_path: Path) -> Path:
    """A copy of that lake, in which a test may ask: what is asked is shown by `infer` alone, which writes no scores."""
    return Path(shutil.copytree(items, tmp_path / "built"))


def ask(stage: str, server: BatchServer, lake: Path, *more: str) -> Ended:
    models = ("--model", "scripted", "--base-url", server.base_url, "--judge", "scripted", "--judge-base-url", server.base_url)
    only = () if "--datasets" in more else ("--datasets", ",".join(DATASETS))
    return ended(stage, "moodbench-mini", *models, *only, "--lake", lake, *more, "--json")


def evaluate(server: BatchServer, lake: Path, *more: str) -> Ended:
    return ask("run", server, lake, *more)


def infer(server: BatchServer, lake: Path, *more: str) -> Ended:
    return ask("infer", server, lake, *more)


def rows(lake: Path) -> dict[str, tuple[Any, ...]]:
    """Replies of a journal by key, without what differs between a live call and a batch."""
    measured = "'$.latency_s', '$.attempts', '$.paid_as'"
    query = f"SELECT key, identity, repetition, request, json_remove(reply, {measured}) FROM replies"  # noqa: S608
    with closing(sqlite3.connect(lake / "journal" / "replies.sqlite")) as journal:
        return {row[0]: row for row in journal.execute(query)}


def assert_gold(raw_scores: list[dict[str, Any]]) -> None:
    """Every reply was right, and none is missing."""
    assert {(row["value"], row["n_total"] - row["n_scored"]) for row in raw_scores} == {(1, 0)}


def test_run_by_batch_scores_as_live(server: BatchServer, tmp_path: Path, built: Path) -> None:
    by_batch = ("--batch", "--batch-below", "5")
    first = evaluate(server, tmp_path / "lake", *by_batch)
    assert first.status == 3, first.err
    assert first.document["calls"]["waiting"] == ANSWERS
    assert [(job["calls"], job["open"], job["state"]) for job in first.document["jobs"]] == [(ANSWERS, ANSWERS, "submitted")]
    assert not list((tmp_path / "lake").glob("runs/*"))
    second = infer(server, tmp_path / "lake", *by_batch)
    assert (second.status, second.document["calls"]["waiting"]) == (3, RATINGS), second.err
    last = evaluate(server, tmp_path / "lake", *by_batch)
    assert last.status == 0, last.err
    assert (server.live, set(server.executed.values()), server.executed.total()) == ([], {1}, ANSWERS + RATINGS)
    assert_gold(last.document["raw_scores"])
    assert infer(server, built).status == 0
    assert len(server.live) == ANSWERS + RATINGS
    # Scores follow from what was answered and rated. Of the waves before there are partitions, too, without what was to come.
    assert rows(tmp_path / "lake") == rows(built)
    assert partitions(built).items() <= partitions(tmp_path / "lake").items()


def test_waiting_run_ends_when_nothing_waits(server: BatchServer, built: Path) -> None:
    server.polls = 2
    done = infer(server, built, "--batch", "--wait")
    assert done.status == 0, done.err
    # The 8 ratings are fewer than 20, and go live.
    assert (server.executed.total(), len(server.live)) == (ANSWERS, RATINGS)
    assert (done.document["calls"]["sent"], done.document["calls"]["from_journal"]) == (RATINGS, ANSWERS)
    again = infer(server, built, "--batch", "--wait")
    assert (again.status, server.executed.total(), len(server.live)) == (0, ANSWERS, RATINGS)


def test_live_run_leaves_open_calls_to_the_batch(server: BatchServer, built: Path) -> None:
    server.polls = 99
    assert infer(server, built, "--batch").status == 3
    waiting = infer(server, built)
    assert (waiting.status, waiting.document["calls"]["waiting"], len(server.live)) == (3, ANSWERS, 0), waiting.err
    both = infer(server, built, "--live-too")
    assert (both.status, len(server.live)) == (0, ANSWERS + RATINGS), both.err
    assert f"batches have {ANSWERS} calls; those that this run needs are sent too, and may be paid for twice" in both.err


def test_failed_lines_are_told_as_live_failures(server: BatchServer, built: Path) -> None:
    server.fault = {0: "400", 1: "500"}.get
    done = infer(server, built, "--batch", "--wait")
    # The refused call is missing; the one that the provider failed at went live with the 8 ratings, 7 if a summary was refused.
    assert (done.status, done.document["calls"]["failed"]) == (1, 1), done.err
    assert (server.executed.total(), len(server.live)) in {(ANSWERS, RATINGS + 1), (ANSWERS, RATINGS)}
    server.fault = lambda _number: None
    # It was told, and is asked again.
    again = infer(server, built, "--batch", "--wait")
    assert (again.status, again.document["calls"]["failed"]) == (0, 0), again.err


def test_messages_run_scores_every_reply(
    server: BatchServer, tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = {"id": "a", "form": "anthropic", "base_urls": [server.base_url], "most_calls": 15, "most_bytes": 10**8, "window": "24h"}
    file = tmp_path / "apis.yaml"
    file.write_text(yaml.safe_dump([{**api, "labels": False, "source": "tests", "read": "2026-11-27"}]), encoding="utf-8")
    monkeypatch.setenv("MOODFLOW_BATCH_APIS", str(file))
    # Batches of another form are another endpoint, so scores of their replies are asked for by batch, too.
    by_batch = ("--batch", "--set", "judge.dialect.unsent=json_schema")
    done, scored = infer(server, built, *by_batch, "--wait"), ask("score", server, built, *by_batch)
    assert (done.status, scored.status) == (0, 0), done.err
    # 20 calls in jobs of at most 15, then the ratings.
    assert ([len(job.calls) for job in server.jobs.values()], server.live) == ([15, ANSWERS - 15, RATINGS], [])
    assert_gold(rows_of(built, scored.document, "raw_scores"))


def test_commands_show_and_collect_batches(server: BatchServer, built: Path) -> None:
    server.polls = 2
    job = infer(server, built, "--batch").document["jobs"][0]["job"]
    listed = ended("batches", "list", "--lake", built, "--json").document["jobs"]
    assert [(each["job"], each["state"], each["open"]) for each in listed] == [(job, "submitted", ANSWERS)]
    assert "collect" in ended("batches", "--help").out
    first = ended("batches", "collect", "--lake", built, "--json")
    assert (first.status, first.document["answered"]) == (3, 0)
    last = ended("batches", "collect", job[:8], "--lake", built, "--json")
    assert (last.status, last.document["answered"]) == (0, ANSWERS)
    shown = ended("batches", "show", job[:8], "--lake", built, "--json").document["jobs"][0]
    assert (shown["state"], shown["status"], shown["answered"]) == ("collected", "completed", ANSWERS)
    assert "holds no calls" in ended("batches", "cancel", job[:8], "--lake", built).err


def test_missing_batches_are_told(server: BatchServer, tmp_path: Path, built: Path) -> None:
    for command in (["list"], ["collect"], ["show", "abc"]):
        assert_one_message(ended("batches", *command, "--lake", tmp_path / "none"), "there is no journal of replies")
    assert not (tmp_path / "none").exists()
    assert infer(server, built, "--datasets", "mini_eq_test").status == 0
    assert "no batches; moodflow run --batch makes one" in ended("batches", "list", "--lake", built).out
    assert "expected" not in ended("batches", "show", "abc", "--lake", built).err


def test_given_up_batch_is_submitted_again(server: BatchServer, built: Path) -> None:
    server.polls = 99
    job = infer(server, built, "--batch").document["jobs"][0]["job"]
    cancelled = ended("batches", "cancel", job[:8], "--lake", built, "--json")
    assert (cancelled.status, cancelled.document["jobs"][0]["status"]) == (3, "cancelled")
    given_up = ended("batches", "give-up", job[:8], "--lake", built, "--json")
    assert (given_up.status, given_up.document["freed"], given_up.document["jobs"][0]["open"]) == (0, ANSWERS, 0)
    server.polls = 1
    again = infer(server, built, "--batch", "--wait")
    assert (again.status, len(server.jobs), server.executed.total()) == (0, 2, ANSWERS)


def test_foreign_id_is_told_by_status(server: BatchServer, tmp_path: Path) -> None:
    server.foreign = True
    done = evaluate(server, tmp_path / "lake", "--batch", "--wait")
    assert (done.status, done.document["calls"]["unknown_ids"]) == (1, 1), done.err
    assert "1 lines refused: unknown_id" in done.err
    assert_gold(done.document["raw_scores"])
    # What was told once is not told of a later run, which collects nothing.
    again = infer(server, tmp_path / "lake", "--batch", "--wait")
    assert (again.status, "unknown_ids" in again.document["calls"]) == (0, False)


def priced(folder: Path, **batch: float) -> tuple[str, ...]:
    """The options of a price table: 2 and 10 of a currency for a million tokens."""
    price = {"model": "scripted", "input_per_million": 2, "output_per_million": 10, "as_of": "2026-01-31", "source": "a test"}
    file = folder / "prices.yaml"
    file.write_text(json.dumps({"currency": "USD", "prices": [{**price, **batch}]}), encoding="utf-8")
    return ("--set", f"prices={file}")


def test_run_by_batch_costs_the_price_of_batches(server: BatchServer, tmp_path: Path, built: Path) -> None:
    prices = priced(tmp_path, batch_factor=0.5)
    live, by_batch = (infer(server, built, *prices, "--dry-run", *more).document["total"] for more in ((), ("--batch",)))
    assert by_batch["cost"] == pytest.approx(live["cost"] / 2)
    done = infer(server, built, *prices, "--batch", "--wait", "--batch-below", "5")
    # 11 prompt tokens and 2 of a reply: 11 x 2 + 2 x 10 = 42 millionths a call, and half of that by batch.
    cost = (ANSWERS + RATINGS) * 21e-6
    assert (done.status, done.document["cost"]["total"]["cost"]) == (0, pytest.approx(cost)), done.err
    assert {row["paid_as"] for row in done.document["usage"]} == {"batch"}
    assert "28 calls of 28: paid at the price of batches." in done.document["cost"]["notes"]


def test_budget_reserves_batches_at_their_price(server: BatchServer, tmp_path: Path, built: Path) -> None:
    prices = priced(tmp_path, batch_factor=0.5)
    only = ("--datasets", "mini_eq_test", *prices)
    whole = ask("run", server, built, *only, "--dry-run").document["total"]["cost"]

    def submit(share: float) -> Ended:
        lake = Path(shutil.copytree(built, tmp_path / f"{share}"))
        return infer(server, lake, *only, "--set", f"budget={whole * share}", "--batch", "--batch-below", "1")

    # Three quarters of what the calls would cost live: too little for them live, enough by batch.
    done = submit(0.75)
    assert (done.status, done.document["calls"]["waiting"], done.document["calls"]["unsent"]) == (3, 12, 0), done.err
    # A quarter: about half of the calls fit by batch, and the others are not sent.
    few = submit(0.25)
    calls = few.document["calls"]
    assert (few.status, calls["waiting"] + calls["unsent"]) == (3, 12), few.err
    assert 0 < calls["waiting"] < 12
    assert [job["calls"] for job in few.document["jobs"]] == [calls["waiting"]]
    # Nothing fits: nothing is submitted, and the stage ends as a live one does.
    none = submit(0.001)
    assert (none.status, none.document["calls"]["unsent"], len(server.jobs)) == (1, 12, 2), none.err


@pytest.mark.long
def test_dialogues_take_a_wave_a_turn(tmp_path: Path) -> None:
    def play(running: BatchServer, lake: Path, *more: str) -> Ended:
        url, name = running.base_url, "tested"
        roles = ("--role", f"judge=judge@{url}", "--role", f"seeker=seeker@{url}")
        return ended("run", "esc-eval-mini", "--model", name, "--base-url", url, *roles, "--sample", "3", "--lake", lake, *more)

    with BatchServer(Cast(cards_of("esc-eval-mini"))) as running:
        done = wave_by_wave(lambda *more: play(running, tmp_path / "lake", *more, "--json"))
        # Two lines a turn, then the ratings of all dimensions.
        assert len(done) == 2 * TURNS + 1 + 1
        assert (running.live, set(running.executed.values())) == ([], {1})
        live = play(running, tmp_path / "live", "--json")
        assert done[-1].scores == live.scores
        assert len(running.live) == running.executed.total()


@pytest.mark.long
def test_conversations_take_two_waves(tmp_path: Path) -> None:
    with BatchServer(knowing(MODELS["oracle"])) as running, BatchServer(judge) as rating:
        roles = {"draft_judge": {"name": "judge", "base_url": rating.base_url}}
        config = {"models": [{"name": "oracle", "base_url": running.base_url}], "roles": roles}
        (tmp_path / "models.yaml").write_text(json.dumps(config), encoding="utf-8")
        command = ("run", "attunebench-mini", "--config", tmp_path / "models.yaml", "--json", "--lake")
        done = wave_by_wave(lambda *more: ended(*command, tmp_path / "lake", *more))
        # Drafts with all other calls of the model, 4 x 13; then the judging of the drafts.
        assert [run.document["calls"].get("waiting", 0) for run in done] == [52, 12, 0]
        executed = [(server.executed.total(), set(server.executed.values()), server.live) for server in (running, rating)]
        assert executed == [(52, {1}, []), (12, {1}, [])]
        assert done[-1].scores == ended(*command, tmp_path / "live").scores


def wave_by_wave(run: Callable[..., Ended]) -> list[Ended]:
    """Start a command in batch mode until nothing waits."""
    done = [run("--batch", "--batch-below", "1")]
    while done[-1].status == 3:
        assert len(done) < 20
        done.append(run("--batch", "--batch-below", "1"))
    assert done[-1].status == 0, done[-1].err
    return done
