"""`moodflow cards build` that is killed goes on where it stopped and pays at most for what was in flight."""

from pathlib import Path

import pytest

from tests.crashes.commands import kept_replies, kill, start
from tests.flows.command import ended
from tests.flows.commands.test_cards import CALLS, FUNNEL, answer, posts, written
from tests.flows.served import wait_until
from tests.model_server import ModelServer

CONCURRENCY = 2


@pytest.mark.long
def test_cards_that_are_killed_go_on(tmp_path: Path, prefect_server: str) -> None:
    source, lake = written(tmp_path, posts("zh")), tmp_path / "lake"
    with ModelServer(answer, latency_s=0.5) as server:
        where = ["--lake", str(lake), "--out", str(tmp_path / "cards"), "--concurrency", str(CONCURRENCY), "--json"]
        command = ["cards", "build", str(source), "--model", "m", "--base-url", server.base_url, *where]
        process = start(command, prefect_server)
        # Two at a time, half a second each: 41 calls take 10 s. At the fourteenth the cards are being filtered.
        wait_until(lambda: server.calls >= 14, process)
        kill(process)
        kept = kept_replies(lake, tmp_path / "copy")
        assert 0 < server.calls - kept <= CONCURRENCY
        received, server.latency_s = server.calls, 0.0
        last = ended(*command)
        assert (last.status, last.document["funnel"]) == (0, FUNNEL), last.err
        assert server.calls == received + CALLS - kept
        # The partition of the first step was whole: its calls are not even looked up.
        assert last.document["usage"][0]["calls"] == 10
