"""Servers with habits of their own: one server per habit, and `models check` and a run against each."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.command import Ended, ended
from tests.flows.scripted import policy
from tests.model_server import is_probe
from tests.probed_server import Answer, ProbedServer, completed, refused, streamed

CHOICES, JUDGED = "mini_text_matching", "mini_summarization"
DATASETS = (CHOICES, JUDGED)
"""The judge's calls begin with a system message."""

Habit = Callable[[dict[str, Any], Answer], Answer]
"""From the body of a call and the usual answer to what the server sends."""


def only_streams(body: dict[str, Any], usual: Answer) -> Answer:
    if not body.get("stream"):
        return refused("only the streaming mode is supported by this model, set stream to true")
    if "stream_options" in body:
        return refused("stream_options: extra inputs are not permitted", 422)
    return streamed(usual)


def streams_unasked(_: dict[str, Any], usual: Answer) -> Answer:
    return streamed(usual)


def no_system_role(body: dict[str, Any], usual: Answer) -> Answer:
    return refused("System role not supported") if body["messages"][0]["role"] == "system" else usual


def strict_turns(body: dict[str, Any], usual: Answer) -> Answer:
    turns = [message["role"] == "user" for message in body["messages"]]
    is_strict = turns == [number % 2 == 0 for number in range(len(turns))]
    return usual if is_strict else refused("Jinja Exception: Conversation roles must alternate user/assistant/user/...", 500)


def busy_at_first() -> Habit:
    """Loads its model, then gives up some of its first calls on the way."""
    loading, odd = iter([refused("Loading model", 503)]), iter([refused("later", status) for status in (408, 409, 425, 499)])

    def habit(body: dict[str, Any], usual: Answer) -> Answer:
        return next(loading, usual) if is_probe(body) else next(odd, usual)

    return habit


def server_with(habit: Habit) -> ProbedServer:
    reply = policy(DATASETS, "gold")

    def script(body: dict[str, Any], _: str) -> Answer:
        return habit(body, completed(body) if is_probe(body) else completed(body, reply(body["messages"])))

    return ProbedServer(script)


def check(server: ProbedServer, lake: Path) -> Ended:
    return ended("models", "check", "m", "--base-url", server.base_url, "--lake", lake, "--json")


def run(server: ProbedServer, lake: Path, *more: str) -> Ended:
    model = ("--model", "m", "--base-url", server.base_url, "--judge", "m", "--judge-base-url", server.base_url)
    few = ("--datasets", ",".join(DATASETS), "--set", "bootstrap=0", "--sample", "3")
    return ended("run", "moodbench-mini", *model, *few, "--lake", lake, *more, "--json")


def asked(server: ProbedServer) -> Iterator[dict[str, Any]]:
    return (body for body in server.bodies if not is_probe(body))


@pytest.mark.parametrize("habit", [only_streams, streams_unasked, no_system_role, strict_turns])
@pytest.mark.usefixtures("prefect_server")
def test_a_server_with_a_habit_is_checked_and_run(habit: Habit, tmp_path: Path) -> None:
    with server_with(habit) as server:
        checked = check(server, tmp_path / "checked")
        done = run(server, tmp_path / "lake")
        again = run(server, tmp_path / "lake")
    assert (checked.status, done.status, again.status) == (0, 0, 0), checked.err + done.err
    # Three items of each dataset, and a rating of each of the judged ones: all answered, by the first try.
    assert done.document["calls"] == {"sent": 9, "answered": 9, "from_journal": 0, "failed": 0}
    assert again.document["calls"]["sent"] == 0
    assert [row["value"] for row in done.document["raw_scores"]] == [1, 1]
    dialect = checked.document["dialect"]
    match habit.__name__:
        case "only_streams":
            assert (dialect["stream"], dialect["unsent"]) == (True, ["stream_options"])
            assert all(body["stream"] is True and "stream_options" not in body for body in asked(server))
        case "streams_unasked":
            assert "stream" not in dialect
            assert not any("stream" in body for body in asked(server))
        case _:
            assert dialect["fold_system"] is True
            assert [message["role"] for body in asked(server) for message in body["messages"]] == ["user"] * 9


@pytest.mark.usefixtures("prefect_server")
def test_a_server_that_is_not_ready_at_first_is_waited_for(tmp_path: Path) -> None:
    with server_with(busy_at_first()) as server:
        checked = check(server, tmp_path / "checked")
    with server_with(busy_at_first()) as server:
        done = run(server, tmp_path / "lake")
    assert (checked.status, checked.document["capabilities"]["answers"]["evidence"]) == (1, "HTTP 503: Loading model")
    assert (done.status, done.document["calls"]["failed"]) == (0, 0)
    # Nine calls, and four that were given up; before them the probe, twice.
    assert (len(list(asked(server))), len(server.bodies)) == (13, 15)
