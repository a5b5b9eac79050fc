"""A lake, or a part of it, that may not be written: told before anything is paid for."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crashes.commands import CONCURRENCY, DATASETS, Bench, Gold, partitions, unfinished
from tests.crashes.test_full_disk import assert_goes_on, assert_told
from tests.model_server import ModelServer


@contextmanager
def mode(path: Path, forbidding: int) -> Iterator[None]:
    before = path.stat().st_mode
    path.chmod(forbidding)
    try:
        yield
    finally:
        path.chmod(before)


def test_a_lake_that_cannot_be_written_is_told_before_anything_is_sent(tmp_path: Path, prefect_server: str) -> None:
    (tmp_path / "file").touch()
    lake = tmp_path / "file" / "lake"
    with ModelServer(Gold(DATASETS)) as server:
        ended = Bench(server, prefect_server).run_here(lake)
    assert_told(ended, "the lake folder cannot be written", str(lake), "Not a directory")
    assert (server.calls, server.probes) == (0, [])


@pytest.mark.long
@pytest.mark.parametrize("forbidden", ["journal", "journal/replies.sqlite", "journal/replies.leases", "journal/models"])
def test_a_journal_that_may_not_be_written_is_told_before_anything_is_sent(
    tmp_path: Path, prefect_server: str, forbidden: str
) -> None:
    lake = tmp_path / "lake"
    with ModelServer(Gold(DATASETS)) as server:
        bench = Bench(server, prefect_server)
        assert bench.run(lake, datasets=DATASETS[:1]).status == 0
        kept = server.calls
        path = lake / forbidden
        files = [file for file in path.rglob("*") if file.is_file()] if forbidden.endswith("leases") else []
        with mode(path, 0o500 if path.is_dir() else 0o400):
            for file in files:
                file.chmod(0o400)
            ended = bench.run(lake, limits=["permissions"])
            for file in files:
                file.chmod(0o600)
        if forbidden == "journal/models":
            # What was found about the model is known; nothing has to be written there.
            assert ended.status == 0
            return
        assert_told(ended, str(lake / "journal"))
        assert server.calls == kept
        assert_goes_on(bench, lake, kept)


@pytest.mark.long
@pytest.mark.parametrize("layer", ["responses", "item_scores", "totals", "runs"])
def test_a_layer_that_may_not_be_written_is_told_and_costs_nothing_more(tmp_path: Path, prefect_server: str, layer: str) -> None:
    lake = tmp_path / "lake"
    (lake / layer).mkdir(parents=True)
    with ModelServer(Gold(DATASETS)) as server:
        bench = Bench(server, prefect_server)
        with mode(lake / layer, 0o500):
            ended = bench.run(lake, limits=["permissions"])
        assert_told(ended, "cannot be written", str(lake / layer), "Permission denied")
        assert unfinished(lake) == []
        partitions(lake)
        last = bench.run(lake)
    assert last.status == 0, last.err
    # The first replies that are written end the run; calls in flight for other datasets are given up.
    assert server.repeated <= (CONCURRENCY if layer == "responses" else 0)
