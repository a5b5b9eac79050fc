"""A disk that is full, or a lake that may not be written: one clear error, nothing damaged, and the next run goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crashes.commands import (
    CALLS,
    CONCURRENCY,
    DATASETS,
    OBEDIENT,
    Bench,
    Gold,
    kept_replies,
    layers,
    partitions,
    unfinished,
)
from tests.flows.command import assert_one_message
from tests.model_server import ModelServer

JOURNAL = "the journal cannot be"
MANY_CONCURRENCY = 32


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
        # Room for the items, the index of the log (32 kB), the tables of the journal, and some replies.
        ended = bench.run(lake, concurrency=concurrency, limits=["prlimit", "--fsize=96000"])
        assert_one_message(ended, JOURNAL, str(lake / "journal" / "replies.sqlite"), "free space")
        kept = kept_replies(lake, tmp_path / "copy")
        assert kept > 0
        # Paid and lost is what was in flight when the first reply could not be kept; nothing was sent after that.
        assert 0 < server.calls - kept <= concurrency
        # A dataset whose last reply was kept is there as a whole; of the others there is nothing, and nothing is scored.
        assert layers(lake) <= {"items", "responses", "answers"}
        assert not [*lake.rglob("*.incomplete.*")]
        assert_goes_on(bench, lake, kept)


@pytest.mark.long
def test_unwritable_report_leaves_no_run(tmp_path: Path, prefect_server: str) -> None:
    lake = tmp_path / "lake"
    with ModelServer(Gold(DATASETS)) as server:
        bench = Bench(server, prefect_server)
        assert bench.run(lake).status == 0
        before, (listed,) = partitions(lake), lake.glob("runs/*/manifest.json")
        # The page takes more than 100 kB, the summary and every partition less than 20 kB.
        ended = bench.run(lake, limits=["prlimit", "--fsize=20000"])
        assert_one_message(ended, "report", str(lake / "runs"))
        assert list(lake.glob("runs/*/manifest.json")) == [listed]
        assert unfinished(lake) == []
        last = bench.run(lake)
    assert last.status == 0
    assert last.document["calls"]["sent"] == 0
    assert server.calls == CALLS
    assert partitions(lake) == before


@contextmanager
def mode(path: Path, forbidding: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(forbidding)
    try:
        yield
    finally:
        path.chmod(before)


def test_unwritable_lake_is_reported_before_any_call(tmp_path: Path, prefect_server: str) -> None:
    (tmp_path / "file").touch()
    lake = tmp_path / "file" / "lake"
    with ModelServer(Gold(DATASETS)) as server:
        ended = Bench(server, prefect_server).run_here(lake)
    assert_one_message(ended, "the lake folder cannot be written", str(lake), "Not a directory")
    assert (server.calls, server.probes) == (0, [])


@pytest.mark.long
@pytest.mark.parametrize("layer", ["responses", "item_scores", "totals", "runs"])
def test_unwritable_layer_is_reported_and_costs_nothing(tmp_path: Path, prefect_server: str, layer: str) -> None:
    lake = tmp_path / "lake"
    (lake / layer).mkdir(parents=True)
    with ModelServer(Gold(DATASETS)) as server:
        bench = Bench(server, prefect_server)
        with mode(lake / layer, 0o500):
            ended = bench.run(lake, limits=OBEDIENT)
        assert_one_message(ended, "cannot be written", str(lake / layer), "Permission denied")
        assert unfinished(lake) == []
        partitions(lake)
        last = bench.run(lake)
    assert last.status == 0, last.err
    # The first replies that are written end the run; calls in flight for other datasets are given up.
    assert server.repeated <= (CONCURRENCY if layer == "responses" else 0)
