"""A disk that is full: one clear error, nothing damaged, and the next run goes on from what was kept."""

import random
import re
import shutil
from pathlib import Path

import pytest

from tests.crashes.commands import (
    CALLS,
    CONCURRENCY,
    DATASETS,
    Bench,
    Gold,
    kept_replies,
    layers,
    partitions,
    remount,
    unfinished,
)
from tests.flows.command import Ended
from tests.model_server import ModelServer

JOURNAL = "the journal of replies"
SUMMARIES = ("mini_summarization",)
MANY_CONCURRENCY = 32


def assert_told(ended: Ended, *texts: str) -> None:
    """One message, no traceback, status 2."""
    assert (ended.status, ended.out) == (2, ""), ended.err
    assert len(re.findall("^Error: ", ended.err, re.MULTILINE)) == 1, ended.err
    assert "Traceback" not in ended.err
    for text in (*texts, "next step: "):
        assert text in ended.err


def assert_goes_on(bench: Bench, lake: Path, kept: int) -> None:
    """With space, the rest is sent, and everything is there."""
    sent = bench.server.calls
    ended = bench.run_here(lake)
    assert ended.status == 0, ended.err
    assert bench.server.calls - sent == ended.document["calls"]["sent"] == CALLS - kept
    assert ended.document["calls"]["failed"] == 0
    assert {row["value"] for row in ended.document["raw_scores"]} == {1}
    assert partitions(lake)
    assert unfinished(lake) == []


@pytest.mark.long
@pytest.mark.parametrize("concurrency", [CONCURRENCY, MANY_CONCURRENCY])
def test_a_run_whose_journal_cannot_grow_stops_sending(tmp_path: Path, prefect_server: str, concurrency: int) -> None:
    lake = tmp_path / "lake"
    with ModelServer(Gold(DATASETS), latency_s=0.1) as server:
        bench = Bench(server, prefect_server)
        # Room for the items, the index of the log (32 kB), and some replies.
        ended = bench.run(lake, concurrency=concurrency, limits=["largest_file=64000"])
        assert_told(ended, JOURNAL, str(lake / "journal" / "replies.sqlite"), "free space")
        kept = kept_replies(lake, tmp_path / "copy")
        assert kept > 0
        # Paid and lost is what was in flight when the first reply could not be kept; nothing was sent after that.
        assert 0 < server.calls - kept <= concurrency
        assert layers(lake) == {"items"}
        assert_goes_on(bench, lake, kept)


@pytest.mark.long
def test_a_full_file_system_is_told_and_the_run_goes_on_when_there_is_space(
    small_disk: Path, tmp_path: Path, prefect_server: str
) -> None:
    lake = small_disk / "lake"
    with ModelServer(Gold(DATASETS), latency_s=0.1) as server:
        bench = Bench(server, prefect_server)
        ended = bench.run(lake)
        assert shutil.disk_usage(small_disk).free < 16_384
        assert_told(ended, f"{JOURNAL} cannot be kept: the disk is full", "free space")
        kept = kept_replies(lake, tmp_path / "copy")
        assert kept > 0
        assert server.calls - kept <= CONCURRENCY
        # Still full: nothing is sent that could not be kept, beyond what it takes to notice.
        before = server.calls
        assert_told(bench.run(lake), str(lake))
        kept_then = kept_replies(lake, tmp_path / "copy")
        assert (server.calls - before) - (kept_then - kept) <= CONCURRENCY
        remount(small_disk, "size=64m")
        assert_goes_on(bench, lake, kept_then)


class LongWinded(Gold):
    """Adds 16 kB to each summary that nothing can compress by more than half."""

    def __call__(self, messages: list[dict[str, str]]) -> str:
        text = super().__call__(messages)
        return text if text.startswith("{") else text + random.Random(text).randbytes(8192).hex()


@pytest.mark.long
def test_replies_whose_partition_cannot_be_written_are_not_paid_again(tmp_path: Path, prefect_server: str) -> None:
    lake = tmp_path / "lake"
    with ModelServer(LongWinded(SUMMARIES)) as server:
        bench = Bench(server, prefect_server)
        assert bench.run(lake, stage="build", datasets=SUMMARIES).status == 0
        first = bench.run(lake, stage="infer", datasets=SUMMARIES)
        assert (first.status, server.calls) == (0, 16)
        for layer in ("responses", "answers", "judgements"):
            shutil.rmtree(lake / layer)
        ended = bench.run(lake, datasets=SUMMARIES, limits=["largest_file=40000"])
        assert_told(ended, "a partition cannot be written", str(lake / "responses"), "free space")
        assert unfinished(lake) == []
        assert layers(lake) == {"items"}
        last = bench.run(lake, datasets=SUMMARIES)
    assert last.status == 0
    assert (last.document["calls"]["sent"], last.document["calls"]["from_journal"]) == (0, 16)
    assert server.calls == 16


@pytest.mark.long
def test_a_report_that_cannot_be_written_leaves_no_run_behind(tmp_path: Path, prefect_server: str) -> None:
    lake = tmp_path / "lake"
    with ModelServer(Gold(DATASETS)) as server:
        bench = Bench(server, prefect_server)
        assert bench.run(lake).status == 0
        before, (listed,) = partitions(lake), lake.glob("runs/*/manifest.json")
        # The page takes more than 100 kB, the summary and every partition less than 20 kB.
        ended = bench.run(lake, limits=["largest_file=20000"])
        assert_told(ended, "report", str(lake / "runs"))
        assert list(lake.glob("runs/*/manifest.json")) == [listed]
        assert unfinished(lake) == []
        last = bench.run(lake)
    assert last.status == 0
    assert last.document["calls"]["sent"] == 0
    assert server.calls == CALLS
    assert partitions(lake) == before
