"""Commands that run at the same time on one lake never send the same call, and agree on every number."""

import sys
from pathlib import Path

import pytest

from tests.crashes.commands import CALLS, DATASETS, Bench, Gold, end_of
from tests.model_server import ModelServer


@pytest.mark.long
def test_three_runs_of_one_plan_on_a_new_lake_share_every_call(tmp_path: Path, prefect_server: str) -> None:
    with ModelServer(Gold(DATASETS), latency_s=0.1) as server:
        bench = Bench(server, prefect_server)
        runs = [end_of(process) for process in [bench.start(tmp_path) for _ in range(3)]]
    assert [run.status for run in runs] == [0, 0, 0], [run.err for run in runs]
    assert (server.calls, server.repeated) == (CALLS, 0)
    sent = [run.document["calls"]["sent"] for run in runs]
    sys.stdout.write(f"sent {sent}, of {CALLS}; {server.repeated} calls repeated\n")
    assert sum(sent) == CALLS
    assert runs[0].scores == runs[1].scores == runs[2].scores
    # One of them found out how the model likes to be asked.
    assert len(server.probes) == len({str(probe) for probe in server.probes})
