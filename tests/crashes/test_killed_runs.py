"""A run that is killed or interrupted goes on where it stopped and pays for nothing twice."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crashes.commands import (
    CALLS,
    CONCURRENCY,
    DATASETS,
    MANY_DATASETS,
    WRITTEN,
    Bench,
    Gold,
    end_of,
    kept_replies,
    kill,
    layers,
    partitions,
)
from tests.flows.served import wait_until
from tests.model_server import ModelServer

KILLS = 20
MANY_CONCURRENCY = 64
SETTLED_S = 0.3
"""What a killed process has sent has reached the server by then."""


class Lost(NamedTuple):
    """Replies in the journal, and calls of the last process that were received and whose reply is not there."""

    kept: int
    calls: int


def lost_since(bench: Bench, lake: Path, received: int, kept: int) -> Lost:
    """What a process cost that ended just now, given what was received and kept before it."""
    time.sleep(SETTLED_S)
    now = kept_replies(lake, lake.with_name("copy"))
    return Lost(now, (bench.server.calls - received) - (now - kept))


def test_killed_run_pays_only_for_calls_in_flight(tmp_path: Path, prefect_server: str) -> None:
    lake = tmp_path / "lake"
    with ModelServer(Gold(DATASETS), latency_s=0.5) as server:
        bench = Bench(server, prefect_server)
        process = bench.start(lake)
        # At half a second for four calls the run takes 6 s to its end: the signal comes long before.
        wait_until(lambda: server.calls >= 8, process)
        kill(process)
        kept, lost = lost_since(bench, lake, 0, 0)
        # A call gives up its place only when its reply is on disk.
        assert lost <= CONCURRENCY
        server.latency_s = 0.0
        # As a process leaves it that is killed while it writes a partition.
        next(lake.glob("items/*")).joinpath(".0123456789abcdef-begun.tmp").write_bytes(b"PAR1")
        last = bench.run_here(lake)
    assert last.status == 0, last.err
    assert partitions(lake)
    assert server.repeated <= CONCURRENCY
    # All gold.
    assert {row["value"] for row in last.document["raw_scores"]} == {1}
    assert sum(row["n_total"] for row in last.document["raw_scores"]) == CALLS - 8
    assert (last.document["calls"]["sent"], last.document["calls"]["failed"]) == (CALLS - kept, 0)


class Moment(NamedTuple):
    """When to kill a run: a while after something happened."""

    phase: str
    happened: Callable[[], bool]
    wait_s: float


def moments(bench: Bench, lake: Path) -> Iterator[Moment]:
    """Twice while items are built, 12 times among the calls, 4 times while scores are computed; then always at the report."""
    draw = random.Random(20)

    def files(layer: str) -> int:
        return len(list((lake / layer).rglob("*.parquet")))

    for built in (1, 9):
        yield Moment("build", lambda built=built: files("items") >= built, draw.uniform(0, 0.05))  # type: ignore[misc]
    for _ in range(12):
        goal = bench.server.calls + draw.randint(1, 7)
        yield Moment("infer", lambda goal=goal: bench.server.calls >= goal, draw.uniform(0, 0.2))  # type: ignore[misc]
    for layer, written in (("item_scores", 1), ("item_scores", 10), ("raw_scores", 1), ("ability_scores", 1)):
        more = Moment("score", lambda layer=layer, written=written: files(layer) >= written, draw.uniform(0, 0.02))  # type: ignore[misc]
        yield more
    while True:
        runs = set(lake.glob("runs/*"))
        yield Moment("report", lambda runs=runs: bool(set(lake.glob("runs/*")) - runs), 0.0)  # type: ignore[misc]


def killed_at(moment: Moment, process: subprocess.Popen[str]) -> bool:
    while not moment.happened():
        if process.poll() is not None:
            break
        time.sleep(0.002)
    time.sleep(moment.wait_s)
    kill(process)
    return process.returncode == -signal.SIGKILL


@pytest.mark.long
def test_scores_after_20_kills_are_undisturbed(tmp_path: Path, prefect_server: str) -> None:
    lake, kept, losses, phases = tmp_path / "lake", 0, [], Counter[str]()
    with ModelServer(Gold(MANY_DATASETS), latency_s=0.1) as server:
        bench = Bench(server, prefect_server)
        for moment in moments(bench, lake):
            received, process = server.calls, bench.start(lake, datasets=MANY_DATASETS)
            if killed_at(moment, process):
                phases[moment.phase] += 1
            kept, lost = lost_since(bench, lake, received, kept)
            losses.append(lost)
            if phases.total() == KILLS:
                break
        last = bench.run(lake, datasets=MANY_DATASETS)
        repeated = server.repeated
        undisturbed = bench.run(tmp_path / "undisturbed", datasets=MANY_DATASETS)
    sys.stdout.write(f"killed {dict(phases)}; in flight {losses}; {repeated} calls repeated of {kept}\n")
    assert (last.status, undisturbed.status) == (0, 0), last.err + undisturbed.err
    assert set(phases) == {"build", "infer", "score", "report"}
    assert max(losses) <= CONCURRENCY
    assert repeated <= sum(losses)
    assert last.scores == undisturbed.scores
    assert partitions(lake) == partitions(tmp_path / "undisturbed")
    assert layers(lake) == set(WRITTEN)


def interrupt(bench: Bench, lake: Path, how: signal.Signals, in_flight: int) -> tuple[int, int]:
    """Signal a run with so many calls in flight; its status and the answers sent by then."""
    answers = bench.server.reply
    assert isinstance(answers, Gold)
    process = bench.start(lake, datasets=MANY_DATASETS, concurrency=MANY_CONCURRENCY)
    wait_until(lambda: bench.server.calls - answers.answers >= in_flight, process)
    time.sleep(SETTLED_S)
    answered = answers.answers
    process.send_signal(how)
    return end_of(process).status, answered


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_answers_before_interruption_are_not_paid_twice(tmp_path: Path, prefect_server: str, how: signal.Signals) -> None:
    lake = tmp_path / "lake"
    # The answers to the calls in flight come a second after the first of them: none is on its way when the signal comes.
    with ModelServer(Gold(MANY_DATASETS), latency_s=1.0) as server:
        bench = Bench(server, prefect_server)
        status, answered = interrupt(bench, lake, how, MANY_CONCURRENCY)
        kept = kept_replies(lake, tmp_path / "copy")
        received = server.calls
        last = bench.run(lake, datasets=MANY_DATASETS, concurrency=MANY_CONCURRENCY)
    sys.stdout.write(f"{how.name}: {received} received, {answered} answered, {kept} kept, ended with {status}\n")
    assert status == 130
    assert kept >= answered > 0
    assert last.status == 0
    assert server.repeated == received - kept <= MANY_CONCURRENCY
