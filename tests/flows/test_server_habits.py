"""Servers with habits of their own: one server per habit, and `models check` and a run against each."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from schemas.addresses import KEY_ADDRESSES
from tests.flows.command import Ended, ask_all, assert_one_message, ended
from tests.flows.scripted import policy
from tests.flows.scripted_roles import layer
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


def check(server: ProbedServer, lake: Path, *more: str, base_url: str | None = None) -> Ended:
    return ended("models", "check", "m", "--base-url", base_url or server.base_url, "--lake", lake, *more, "--json")


def options(server: ProbedServer, lake: Path, *more: str, base_url: str | None = None) -> tuple[str | Path, ...]:
    address = base_url or server.base_url
    model = ("--model", "m", "--base-url", address, "--judge", "m", "--judge-base-url", address)
    few = ("--datasets", ",".join(DATASETS), "--set", "bootstrap=0", "--sample", "3")
    return ("moodbench-mini", *model, *few, "--lake", lake, *more, "--json")


def asked(server: ProbedServer) -> Iterator[dict[str, Any]]:
    return (body for body in server.bodies if not is_probe(body))


@pytest.mark.parametrize("habit", [only_streams, streams_unasked, no_system_role, strict_turns])
def test_servers_with_habits_are_checked_and_asked(habit: Habit, tmp_path: Path) -> None:
    with server_with(habit) as server:
        checked = check(server, tmp_path / "checked")
        asking = options(server, tmp_path / "lake")
        done, sent = ask_all(*asking), len(server.bodies)
        if habit is only_streams:
            # What was found out is kept: nothing is asked, nor tried, again.
            again = ended("infer", *asking)
            assert (again.status, again.document["calls"]["sent"], len(server.bodies)) == (0, 0, sent)
    scored = ended("score", *asking)
    assert [each.status for each in (checked, done, scored)] == [0, 0, 0], checked.err + done.err
    # Three items of each dataset, and a rating of each of the judged ones: all answered, by the first try.
    assert done.document["calls"] == {"sent": 9, "answered": 9, "from_journal": 0, "failed": 0, "unsent": 0}
    assert layer(tmp_path / "lake", "raw_scores")["value"].to_list() == [1, 1]
    # The long prompt is sent as the model wants it, too.
    assert checked.document["long_prompt"]["evidence"].startswith("14 tokens counted")
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


def test_a_server_not_ready_is_waited_for(tmp_path: Path) -> None:
    with server_with(busy_at_first()) as server:
        checked = check(server, tmp_path / "checked")
    with server_with(busy_at_first()) as server:
        done = ask_all(*options(server, tmp_path / "lake"))
    assert (checked.status, checked.document["capabilities"]["answers"]["evidence"]) == (1, "HTTP 503: Loading model")
    assert (done.status, done.document["calls"]["failed"]) == (0, 0)
    # Nine calls, and four that were given up; before them the probe, twice.
    assert (len(list(asked(server))), len(server.bodies)) == (13, 15)


KEY = "c0ffee/5 a+b=="
"""A scheme and a key with signs that a query cannot hold as they are."""


def test_headers_and_query_go_where_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_KEY", KEY)
    monkeypatch.setenv("GATEWAY_CODE", "one&two")
    fields = ("headers_env={api-key: AZURE_KEY}", "query_env=code=GATEWAY_CODE", "query={api-version: 2024-10-21}")
    own = [part for field in fields for part in ("--set", f"models.{field}")]
    judge = [part for field in fields for part in ("--set", f"judge.{field}")]
    with server_with(lambda _, usual: usual) as server:
        address = f"{server.url}/openai/deployments/d"
        checked = check(server, tmp_path, *own, base_url=address)
        done = ask_all(*options(server, tmp_path / "lake", *own, *judge, base_url=address))
        monkeypatch.setenv(KEY_ADDRESSES, f"AZURE_KEY={address}")
        strayed = ended("infer", *options(server, tmp_path / "other", *own, *judge, base_url=address))
    assert (checked.status, done.status) == (0, 0), checked.err + done.err
    assert {headers["api-key"] for headers in server.headers} == {KEY}
    assert set(server.paths) == {"/openai/deployments/d/chat/completions?api-version=2024-10-21&code=one%26two"}
    assert not any("Authorization" in headers for headers in server.headers)
    assert_one_message(strayed, "may not be sent to this base URL", f"got: GATEWAY_CODE={address}")


@pytest.mark.parametrize(
    ("status", "document"),
    [
        (404, {"detail": "Not Found"}),
        (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
        (405, b"Method Not Allowed"),
        (200, b"<!DOCTYPE html><title>Welcome</title>"),
    ],
)
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_base_url_without_path_is_refused(status: int, document: Any, slash: str, tmp_path: Path) -> None:
    with server_with(lambda _, usual: usual) as server:
        usual = server.script
        server.script = lambda *call: usual(*call) if server.paths[-1].startswith("/v1/") else Answer(status, document)
        checked = check(server, tmp_path, base_url=f"{server.url}{slash}")
        done = ended("infer", *options(server, tmp_path / "lake", base_url=f"{server.url}{slash}"))
    assert checked.status == 1
    assert f"use --base-url {server.base_url}" in checked.err
    assert_one_message(
        done, "the base URL of model m is incomplete: /v1 is missing", f"expected: {server.base_url}\n", f"use {server.base_url};"
    )
    assert list(asked(server)) == []


def test_server_words_stand_once_below_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-marked-4711")
    words = "no tea \x1b[2J\u202etoday\nfor sk-marked-4711, 谢谢 [red]" + "x" * 500
    number = count()

    def habit(body: dict[str, Any], usual: Answer) -> Answer:
        return usual if is_probe(body) or next(number) else refused(f"{words} and more", 418)

    with server_with(habit) as server:
        model = ("--model", "m", "--base-url", server.base_url, "--api-key-env", "A_KEY", "--datasets", CHOICES)
        done = ended("run", "moodbench-mini", *model, "--lake", tmp_path, "--set", "bootstrap=0")
    (told,) = done.out.split("The first error: ")[1:]
    shown = "".join(told.split())
    assert shown.startswith("'HTTP418:notea\\x1b[2J\\u202etodayfor[key],谢谢[red]xxx")
    # 200 characters of it, without their blanks.
    assert shown.partition("Tokens:")[0].count("x") < 200
    assert "\x1b[2J" not in done.out
    assert "\u202e" not in done.out


@pytest.mark.parametrize(("before", "after"), [(" ", " "), ("", "/chat/completions"), ("", "/chat/completions/ ")])
def test_an_address_loses_blanks_and_call_paths(before: str, after: str, tmp_path: Path) -> None:
    with server_with(lambda _, usual: usual) as server:
        checked = check(server, tmp_path, base_url=f"{before}{server.base_url}{after}")
    assert (checked.status, checked.document["server"]) == (0, server.base_url)
    assert set(server.paths) == {"/v1/chat/completions"}
