"""The embedded model server answers, is replaced when it dies, and leaves no process behind."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from math import exp
from pathlib import Path

import psutil
import pytest

from schemas.api_capabilities import Sampling
from schemas.chat import EMBEDDED_MODEL, ChatMessage, ChatReply, ChatRequest, Keep, ModelEntry
from schemas.errors import EndpointError
from tasks.models.embedded import serving
from tasks.models.embedded.serving import BEGINNING, WEIGHTS, InTurn, find_weights, serve_embedded
from tasks.models.http.client import CallRetryPolicy, HttpChat
from tasks.models.http.failures import RETRIES
from tasks.text.backoff import Retry
from tests.tasks.models.making_calls import running

ENTRY = ModelEntry(name=EMBEDDED_MODEL)
CLARITY = {"type": "integer", "minimum": 1, "maximum": 5}
RATING = json.dumps(
    {"type": "object", "properties": {"clarity": CLARITY}, "required": ["clarity"], "additionalProperties": False}
)

PATIENT = CallRetryPolicy({**RETRIES, "connect": Retry(attempts=200, first_delay_s=0.2, longest_delay_s=1)})
"""Waits for a restart on a machine however busy."""

LISTENS = """
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[-1])))
listener.listen()
"""
DIES = f"""{LISTENS}
connection, _ = listener.accept()
connection.recv(1000)
connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")
sys.stderr.write("out of ideas")
sys.exit(3)
"""
"""A program that answers one check and dies."""


def alive(pid: int) -> bool:
    # An ended process whose parent is gone too may stay as a zombie where nobody reaps orphans.
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Takes the text of a script that runs in place of the server."""
    path = tmp_path / "program.py"
    monkeypatch.setattr(serving, "PROGRAM", path)

    def write(text: str) -> None:
        path.write_text(text)

    return write


def children() -> list[int]:
    """Process ids of our child processes, zombies included."""
    return [child.pid for child in psutil.Process().children()]


def call(text: str, max_tokens: int, json_schema: str | None = None, top_logprobs: int | None = None) -> ChatRequest:
    messages = (ChatMessage(role="user", content=text),)
    sampling = Sampling(max_tokens=max_tokens)
    return ChatRequest(ENTRY.name, ENTRY.identity, messages, sampling, json_schema=json_schema, top_logprobs=top_logprobs)


@pytest.fixture
def one_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the server a machine on which it starts quickly."""
    monkeypatch.setattr(serving, "read_machine", lambda: (2, 800 * 2**20))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):  # longer than anything takes
        while not holds():  # noqa: ASYNC110  nothing announces it
            await asyncio.sleep(0.05)


async def test_it_answers_and_is_gone_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    async with serve_embedded() as server:
        assert server.base_url.startswith("http://127.0.0.1:")
        assert alive(server._started.pid)
        async with HttpChat(ENTRY, server.base_url) as chat:
            reply = await chat(call("Hi", 3))
            rated = await chat(call("How clear is this text? Good day to you, dear reader.", 40, RATING))
            likeliest = await chat(call("Which is warmer?\nA. ice\nB. fire\n\nReply with the letter only.", 1, top_logprobs=20))
            too_long = await chat(call("word " * 9000, 3))
    assert (reply.failure, reply.error, reply.http_status, reply.model) == (None, None, 200, EMBEDDED_MODEL)
    assert str(reply.text).strip()
    assert reply.completion_tokens is not None
    assert 1 <= reply.completion_tokens <= 3
    # <|im_start|> user \n H i <|im_end|> \n <|im_start|> assistant \n, and no system message, which would be 21 tokens more.
    assert reply.prompt_tokens == 10
    # Left to itself this model never writes JSON: the server holds it to the schema.
    assert 1 <= json.loads(str(rated.text))["clarity"] <= 5
    # At temperature 0 the reply is the likeliest token, whose log probability is the highest.
    assert reply.top_logprobs is None
    assert likeliest.top_logprobs is not None
    assert len(likeliest.top_logprobs) == 20
    assert likeliest.top_logprobs[0][0].strip() == str(likeliest.text).strip()
    values = [logprob for _, logprob in likeliest.top_logprobs]
    assert values == sorted(values, reverse=True)
    assert 0.2 < sum(exp(value) for value in values) <= 1.0001
    assert {"A", "B"} <= {token.strip() for token, _ in likeliest.top_logprobs}
    assert too_long.failure == "context_too_long"
    assert "exceeds the available context size" in str(too_long.error)
    assert not alive(server._started.pid)
    assert capfd.readouterr() == ("", "")


async def test_server_ending_at_once_shows_its_log(program: Callable[[str], None]) -> None:
    program("import sys; sys.stderr.write('no room for the weights'); sys.exit(3)")
    with pytest.raises(EndpointError, match="does not start") as caught:
        async with serve_embedded():
            pass
    assert caught.value.got == "exit status 3: no room for the weights"


@pytest.mark.parametrize("listens", ["", LISTENS])
async def test_silent_server_is_given_up_and_ended(
    monkeypatch: pytest.MonkeyPatch, program: Callable[[str], None], listens: str
) -> None:
    program(f"import time\n{listens}time.sleep(600)")
    monkeypatch.setattr(serving, "START_LIMIT_S", 1.0)
    before = children()
    with pytest.raises(EndpointError, match="does not start") as caught:
        async with serve_embedded():
            pass
    assert (caught.value.expected, caught.value.got) == ("an answer within 1 s", "no answer")
    assert children() == before


@pytest.mark.usefixtures("one_slot")
async def test_dead_server_is_replaced_during_calls() -> None:
    messages: list[str] = []
    async with serve_embedded(messages.append) as server, HttpChat(ENTRY, server.base_url, policy=PATIENT) as chat:
        first, url = server._started.pid, server.base_url
        os.kill(first, signal.SIGSTOP)  # it takes the call and does not answer
        in_flight = asyncio.create_task(chat(call("Hi", 3)))
        await asyncio.sleep(0.3)
        os.kill(first, signal.SIGKILL)
        reply = await in_flight
        assert (reply.failure, reply.error) == (None, None)
        assert reply.attempts > 1
        assert (server.base_url, server.restarts, server.failure) == (url, 1, None)
        assert server._started.pid != first
        assert not psutil.pid_exists(first)
    assert len(messages) == 1
    assert messages[0].startswith("the embedded model server is restarted: ended by SIGKILL")
    assert not alive(server._started.pid)


async def test_repeatedly_dying_server_is_given_up(monkeypatch: pytest.MonkeyPatch, program: Callable[[str], None]) -> None:
    program(DIES)
    monkeypatch.setattr(serving, "MOST_RESTARTS", 2)
    messages: list[str] = []
    async with serve_embedded(messages.append) as server:
        await until(lambda: server.failure is not None)
        async with HttpChat(ENTRY, server.base_url, policy=CallRetryPolicy({"connect": Retry(attempts=1)})) as chat:
            assert (await chat(call("Hi", 3))).failure == "connect"
    assert server.failure is not None
    failure = "exit status 3: out of ideas"
    assert server.failure.got == f"2 restarts; the last failure: {failure}"
    assert messages == [f"the embedded model server is restarted: {failure}"] * 2 + [str(server.failure)]
    assert "keeps crashing" in messages[2]


async def test_end_during_restart_leaves_no_process(program: Callable[[str], None], tmp_path: Path) -> None:
    starts, before = tmp_path / "starts", children()
    note = f"import time\nwith open({str(starts)!r}, 'a+') as file:\n    file.write('.')\n    file.seek(0)\n"
    program(f"{note}    again = len(file.read()) > 1\nif again:\n    time.sleep(600)\n{DIES}")
    async with serve_embedded(lambda _: None):
        await until(lambda: starts.read_text() == "..")
    assert children() == before


async def test_shortened_context_is_told(monkeypatch: pytest.MonkeyPatch, program: Callable[[str], None]) -> None:
    program(DIES)
    monkeypatch.setattr(serving, "read_machine", lambda: (2, 600 * 2**20))
    messages: list[str] = []
    async with serve_embedded(messages.append) as server:
        assert (server.size.slots, server.size.slot_tokens) == (1, 4352)
    expected = "the embedded model server has a context of 4352 tokens instead of 8192, for want of memory: longer items fail"
    assert messages[0] == expected


@pytest.mark.long
async def test_it_ends_with_its_parent() -> None:
    with running("embedded.embedded_parent") as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        assert alive(server)
        parent.kill()
    await until(lambda: not alive(server))


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "EMBEDDED_WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EndpointError, match="unexpected hash") as caught:
        find_weights()
    assert caught.value.expected == f"sha256 {'0' * 64}"
    assert str(caught.value.next_step).endswith(WEIGHTS)
    assert Path("requirements-weights.txt").read_text() == f"{WEIGHTS}\n"


async def test_calls_of_equal_beginning_take_turns() -> None:
    begun: list[str] = []
    go_on = asyncio.Event()

    async def chat(request: ChatRequest, keep: Keep | None = None) -> ChatReply:  # noqa: ARG001  as a client
        begun.append(request.messages[0].content[-1])
        await go_on.wait()
        return ChatReply(text="", latency_s=0)

    text = "The same long text. " * (BEGINNING // 10)
    in_turn = InTurn(chat)
    users = (
        ChatMessage(role="user", content=content) for content in (f"{text} 1", f"{text} 2", f"Another {text} 3", f"{text} 4")
    )
    calls = [asyncio.create_task(in_turn(ChatRequest("m", "m", (message,), Sampling()))) for message in users]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert begun == ["1", "3"]
    go_on.set()
    await asyncio.gather(*calls)
    assert begun == ["1", "3", "2", "4"]
