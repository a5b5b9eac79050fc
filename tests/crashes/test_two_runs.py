"""Commands that run at the same time on one lake never send the same call, and agree on every number."""

import sys
from pathlib import Path

import pytest

from tests.crashes.commands import CALLS, CONCURRENCY, DATASETS, MANY_DATASETS, Bench, Gold, end_of, kill, partitions
from tests.model_server import ModelServer


@pytest.mark.long
def test_two_runs_of_one_plan_on_a_new_lake_share_every_call(tmp_path: Path, prefect_server: str) -> None:
    with ModelServer(Gold(DATASETS), latency_s=0.1) as server:
        bench = Bench(server, prefect_server)
        first, second = [end_of(process) for process in (bench.start(tmp_path), bench.start(tmp_path))]
    assert (first.status, second.status) == (0, 0), first.err + second.err
    assert (server.calls, server.repeated) == (CALLS, 0)
    assert first.document["calls"]["sent"] + second.document["calls"]["sent"] == CALLS
    assert first.scores == second.scores
    # One of them found out how the model likes to be asked.
    assert len(server.probes) == len({str(probe) for probe in server.probes})


@pytest.mark.long
def test_plans_that_share_datasets_share_their_calls(tmp_path: Path, prefect_server: str) -> None:
    one, shared, other = MANY_DATASETS[5:9], MANY_DATASETS[:5], MANY_DATASETS[9:13]
    with ModelServer(Gold(MANY_DATASETS), latency_s=0.1) as server:
        bench = Bench(server, prefect_server)
        processes = [
            bench.start(tmp_path / "lake", datasets=(*one, *shared)),
            bench.start(tmp_path / "lake", datasets=(*shared, *other)),
        ]
        first, second = [end_of(process) for process in processes]
        calls, repeated = server.calls, server.repeated
        alone = [
            bench.run(tmp_path / "first", datasets=(*one, *shared)),
            bench.run(tmp_path / "second", datasets=(*shared, *other)),
        ]
    assert [ended.status for ended in (first, second, *alone)] == [0, 0, 0, 0]
    assert (first.scores, second.scores) == (alone[0].scores, alone[1].scores)
    assert repeated == 0
    # Each run alone sends all of its calls; together they sent the shared ones once.
    assert calls == sum(ended.document["calls"]["sent"] for ended in alone) - CALLS


@pytest.mark.long
def test_when_one_of_two_runs_is_killed_the_other_finishes_by_itself(tmp_path: Path, prefect_server: str) -> None:
    with ModelServer(Gold(DATASETS), latency_s=0.5) as server:
        bench = Bench(server, prefect_server)
        killed, other = bench.start(tmp_path / "lake"), bench.start(tmp_path / "lake")
        bench.wait_for_calls(2 * CONCURRENCY + 1, killed)
        kill(killed)
        remaining = CALLS - server.calls
        last = end_of(other)
        repeated = server.repeated
        undisturbed = bench.run(tmp_path / "undisturbed")
    sys.stdout.write(f"{remaining} calls were left, {repeated} were repeated\n")
    assert (last.status, undisturbed.status) == (0, 0), last.err
    assert repeated <= CONCURRENCY
    assert last.scores == undisturbed.scores
    assert partitions(tmp_path / "lake") == partitions(tmp_path / "undisturbed")
