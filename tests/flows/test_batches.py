"""Runs whose calls a provider answers as batches."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.batch_server import BatchServer
from tests.crashes.commands import partitions
from tests.flows.command import Ended, ended
from tests.flows.scripted import policy

DATASETS = ("mini_user_safety", "mini_text_matching", "mini_summarization", "mini_eq_test", "mini_sequence_order_recall")
ANSWERS, RATINGS = 44, 8
"""8 + 8 + 8 + 12 + 8 items, and a rating of each of the 8 summaries."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOODFLOW_BATCH_POLL_S", "0.01")


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer(policy(DATASETS, "gold")) as running:
        yield running


def evaluate(server: BatchServer, lake: Path, *more: str) -> Ended:
    models = ("--model", "scripted", "--base-url", server.base_url, "--judge", "scripted", "--judge-base-url", server.base_url)
    return ended("run", "moodbench-mini", *models, "--datasets", ",".join(DATASETS), "--lake", lake, *more, "--json")


def rows(lake: Path) -> dict[str, tuple[Any, ...]]:
    """Replies of a journal by key, without what differs between a live call and a batch."""
    measured = "'$.latency_s', '$.attempts', '$.paid_as'"
    query = f"SELECT key, identity, repetition, request, json_remove(reply, {measured}) FROM replies"  # noqa: S608
    with closing(sqlite3.connect(lake / "journal" / "replies.sqlite")) as journal:
        return {row[0]: row for row in journal.execute(query)}


def test_run_by_batch_scores_as_live(server: BatchServer, tmp_path: Path) -> None:
    by_batch = ("--batch", "--batch-below", "5")
    first = evaluate(server, tmp_path / "lake", *by_batch)
    assert first.status == 3, first.err
    assert first.document["calls"]["waiting"] == ANSWERS
    assert [(job["calls"], job["open"], job["state"]) for job in first.document["jobs"]] == [(ANSWERS, ANSWERS, "submitted")]
    assert not list((tmp_path / "lake").glob("runs/*"))
    second = evaluate(server, tmp_path / "lake", *by_batch)
    assert (second.status, second.document["calls"]["waiting"]) == (3, RATINGS), second.err
    last = evaluate(server, tmp_path / "lake", *by_batch)
    assert last.status == 0, last.err
    assert (server.live, set(server.executed.values()), server.executed.total()) == ([], {1}, ANSWERS + RATINGS)
    live = evaluate(server, tmp_path / "live")
    assert last.scores == live.scores
    assert rows(tmp_path / "lake") == rows(tmp_path / "live")
    # Of the waves before there are partitions, too, without the replies that were to come.
    assert partitions(tmp_path / "live").items() <= partitions(tmp_path / "lake").items()


def test_waiting_run_ends_when_nothing_waits(server: BatchServer, tmp_path: Path) -> None:
    server.polls = 2
    done = evaluate(server, tmp_path, "--batch", "--wait")
    assert done.status == 0, done.err
    # The 8 ratings are fewer than 20, and go live.
    assert (server.executed.total(), len(server.live)) == (ANSWERS, RATINGS)
    assert (done.document["calls"]["sent"], done.document["calls"]["from_journal"]) == (RATINGS, ANSWERS)
    again = evaluate(server, tmp_path, "--batch", "--wait")
    assert (again.status, server.executed.total(), len(server.live)) == (0, ANSWERS, RATINGS)
