"""Commands that run at the same time on one lake never send the same call, and agree on every number."""

from pathlib import Path

import pytest

from tests.crashes.commands import CALLS, DATASETS, Bench, Gold, end_of
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
