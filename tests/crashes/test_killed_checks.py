"""`moodflow judges certify` that is killed among its checks asks nothing twice and says the same as one that is not."""

from pathlib import Path

import pytest

from tests.crashes.commands import kept_replies, kill, start
from tests.flows.command import ended
from tests.flows.served import wait_until
from tests.flows.simulated_judges import JUDGE, answering, perfect, write_source
from tests.model_server import ModelServer

CONCURRENCY = 4
CHECKS = "format,flipped_turn,wrong_answer,injection"
"""Those that send no two equal requests, so that each one that is repeated was asked twice."""

MEASURED = {"certified_at", "calls", "usage", "cost", "files"}


@pytest.mark.long
def test_killed_checks_say_the_same(tmp_path: Path, prefect_server: str) -> None:
    file, rubric = write_source(tmp_path)
    with ModelServer(answering(perfect), latency_s=0.5) as server:
        who = ["--judge", JUDGE, "--judge-base-url", server.base_url, "--concurrency", str(CONCURRENCY)]
        what = ["--ratings", str(file), "--rubric", str(rubric), "--checks", CHECKS, "--checks-sample", "4", "--json"]

        def command(lake: str) -> list[str]:
            return ["judges", "certify", *what, *who, "--lake", str(tmp_path / lake)]

        process = start(command("lake"), prefect_server)
        # 60 texts and some 50 changed ones, four at a time: the signal comes long before the end, after 14 s.
        wait_until(lambda: server.calls >= 14, process)
        kill(process)
        kept = kept_replies(tmp_path / "lake", tmp_path / "copy")
        received, server.latency_s = server.calls, 0.0
        assert 0 < received - kept <= CONCURRENCY
        last = ended(*command("lake"))
        assert last.status == 0, last.err
        # Only what was in flight is asked for again.
        assert server.repeated == received - kept
        repeated = server.calls
        undisturbed = ended(*command("undisturbed"))
    assert server.calls - repeated == repeated - (received - kept)
    assert without_measured(last.document) == without_measured(undisturbed.document)
    assert last.document["calls"]["sent"] == undisturbed.document["calls"]["sent"] - kept


def without_measured(document: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in document.items() if name not in MEASURED}
