"""`moodflow judges certify` that is killed goes on where it stopped and pays at most for what was in flight."""

from pathlib import Path

import pytest

from tests.crashes.commands import kept_replies, kill, start
from tests.flows.certifying import REPLIES, arguments, fair, write_source
from tests.flows.command import ended
from tests.flows.served import wait_until
from tests.model_server import ModelServer

CONCURRENCY = 2


@pytest.mark.long
def test_certificate_that_is_killed_goes_on(tmp_path: Path, prefect_server: str) -> None:
    source, lake = write_source(tmp_path), tmp_path / "lake"
    with ModelServer(fair, latency_s=0.5) as server:
        command = arguments(tmp_path, source, server, "--checks", "none", "--concurrency", str(CONCURRENCY))
        process = start(command, prefect_server)
        # Two at a time, half a second each: 30 calls take 7.5 s.
        wait_until(lambda: server.calls >= 10, process)
        kill(process)
        kept = kept_replies(lake, tmp_path / "copy")
        assert 0 < server.calls - kept <= CONCURRENCY
        received, server.latency_s = server.calls, 0.0
        last = ended(*command)
        assert last.status == 0, last.err
        assert (server.calls, last.document["calls"]["from_journal"]) == (received + REPLIES - kept, kept)
