"""Calls over HTTP/2: it is really spoken, and each way to fail has its name."""

import asyncio
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
import trustme
from pydantic import SecretStr

from schemas.chat import ModelEntry
from schemas.vocabulary import Failure
from tasks.models.http.http2 import Http2Transport
from tasks.models.http.transport import Address, HttpAnswer, TransportError
from tests.http2_server import ANSWER, Behaviour, Http2Server, listen
from tests.model_server import ModelServer
from tests.tasks.models.making_calls import closed_port

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
KEY = SecretStr("sk-marked-key")
AUTHORITY = trustme.CA()


@pytest.fixture(autouse=True)
def _trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    AUTHORITY.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))


def transport(base_url: str, **changed: float) -> Http2Transport:
    entry = ModelEntry.model_validate({"name": "m", "base_url": base_url, "http2": True, "timeout_s": 20.0} | changed)
    return Http2Transport(entry, Address(base_url, KEY))


async def post_once(base_url: str, **changed: float) -> HttpAnswer:
    async with transport(base_url, **changed) as opened:
        return await opened.post(BODY)


async def failure_of(base_url: str, **changed: float) -> TransportError:
    with pytest.raises(TransportError) as caught:
        await post_once(base_url, **changed)
    assert KEY.get_secret_value() not in str(caught.value)
    return caught.value


async def test_many_calls_share_one_connection_of_http2() -> None:
    # The server answers nobody before twenty requests wait on one connection: HTTP/1.1 would never get there.
    async with Http2Server(AUTHORITY, together=20) as server, transport(server.base_url) as opened:
        answers = await asyncio.gather(*(opened.post(BODY) for _ in range(20)))
    assert server.spoken == ["h2"]
    assert [(answer.status, answer.body) for answer in answers] == [(200, ANSWER)] * 20
    assert len(server.requests) == 20
    (sent,) = {tuple(sorted(request.items())) for request in server.requests}
    fields = dict(sent)
    assert (fields[":method"], fields[":path"]) == ("POST", "/v1/chat/completions")
    assert (fields["authorization"], fields["content-type"]) == ("Bearer sk-marked-key", "application/json")
    assert fields["content-length"] == str(len(BODY))


async def test_a_server_without_http2_gets_http1() -> None:
    async with Http2Server(AUTHORITY, protocol="http/1.1") as server:
        answer = await post_once(server.base_url)
    assert server.spoken == ["http/1.1"]
    assert (answer.status, answer.body) == (200, ANSWER)


async def test_without_encryption_it_is_http1_too() -> None:
    with ModelServer(lambda _: "B") as server:
        answer = await post_once(server.base_url)
    assert answer.status == 200
    assert b'"content": "B"' in answer.body


@pytest.mark.parametrize(
    ("behaviour", "changed", "failure", "status"),
    [
        ("reset", {}, "truncated_body", 200),
        ("garbled", {}, "truncated_body", 200),
        ("nonsense", {}, "truncated_body", None),
        ("hang_up", {}, "connect", None),
        ("silent", {"first_byte_timeout_s": 0.3}, "timeout_first_byte", None),
        ("silent", {"timeout_s": 0.3}, "timeout_total", None),
        ("stall", {"timeout_s": 0.5, "first_byte_timeout_s": 0.3}, "timeout_total", None),
    ],
)
async def test_each_failure_of_a_call_has_its_name(
    behaviour: Behaviour, changed: dict[str, float], failure: Failure, status: int | None
) -> None:
    async with Http2Server(AUTHORITY, behaviour) as server:
        error = await failure_of(server.base_url, **changed)
    assert server.spoken == ["h2"]
    assert (error.failure, error.http_status) == (failure, status)


async def seen(what: Callable[[], bool]) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(20):
        while not what():  # noqa: ASYNC110  the server counts, it does not tell
            await asyncio.sleep(0.01)


async def give_up(calls: list[asyncio.Task[HttpAnswer]]) -> None:
    for call in calls:
        call.cancel()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(end) for end in ended] == [asyncio.CancelledError] * len(calls)


def start(opened: Http2Transport, calls: int) -> list[asyncio.Task[HttpAnswer]]:
    return [asyncio.create_task(opened.post(BODY)) for _ in range(calls)]


async def test_after_calls_that_were_given_up_a_server_that_answers_again_is_heard() -> None:
    # Four calls are all that one connection takes. httpx does not give up a stream with its call: a fifth would find none left.
    async with Http2Server(AUTHORITY, "silent", streams=4) as server, transport(server.base_url) as opened:
        calls = start(opened, 4)
        await seen(lambda: server.received == 4)
        await give_up(calls)
        await seen(lambda: server.ended == 1)
        server.behaviour = "answer"
        answers = await asyncio.gather(*start(opened, 8))
    assert [(answer.status, answer.body) for answer in answers] == [(200, ANSWER)] * 8
    assert server.spoken == ["h2", "h2"]


@pytest.mark.parametrize("limit", ["timeout_s", "first_byte_timeout_s"])
async def test_after_timeouts_a_server_that_answers_again_is_heard(limit: str) -> None:
    async with Http2Server(AUTHORITY, "silent", streams=4) as server, transport(server.base_url, **{limit: 2.0}) as opened:
        ended = await asyncio.gather(*start(opened, 4), return_exceptions=True)
        server.behaviour = "answer"
        answers = await asyncio.gather(*start(opened, 4))
    assert {end.failure for end in ended if isinstance(end, TransportError)} == {
        "timeout_total" if limit == "timeout_s" else "timeout_first_byte"
    }
    assert [answer.status for answer in answers] == [200] * 4
    assert server.spoken == ["h2", "h2"]


async def test_a_call_in_flight_beside_one_that_was_given_up_gets_its_answer() -> None:
    async with Http2Server(AUTHORITY, together=100) as server, transport(server.base_url) as opened:
        given_up, other = start(opened, 2)
        await seen(lambda: server.received == 2)
        await give_up([given_up])
        (later,) = start(opened, 1)
        await seen(lambda: server.received == 3)
        assert (server.spoken, server.ended) == (["h2", "h2"], 0)
        server.release()
        assert [(await call).status for call in (other, later)] == [200, 200]
        await seen(lambda: server.ended == 1)
        server.together = 1
        assert (await opened.post(BODY)).status == 200
    assert server.spoken == ["h2", "h2"]


async def test_a_call_that_finds_no_stream_left_goes_to_a_new_connection() -> None:
    # The second waits for the first one's stream, which is never free again: the server still has the first call.
    async with Http2Server(AUTHORITY, "silent", streams=1) as server, transport(server.base_url) as opened:
        given_up, other = start(opened, 2)
        await seen(lambda: server.received == 1)
        await asyncio.sleep(0.2)
        server.behaviour = "answer"
        await give_up([given_up])
        assert (await other).status == 200
    assert (server.spoken, len(server.requests)) == (["h2", "h2"], 2)


async def test_over_http1_other_connections_outlive_a_call_that_was_given_up() -> None:
    both, over, calls = threading.Barrier(2), threading.Event(), count()

    def reply(_: object) -> str:
        number = next(calls)
        if number < 2:
            both.wait(20)
        elif number == 2:
            over.wait(20)
        return "B"

    with ModelServer(reply) as server:
        async with transport(server.base_url) as opened:
            await asyncio.gather(*start(opened, 2))
            (third,) = start(opened, 1)
            await seen(lambda: server.calls == 3)
            await give_up([third])
            over.set()
            assert (await opened.post(BODY)).status == 200
        assert server.connections == 2


async def test_nobody_there_is_a_failed_connection() -> None:
    error = await failure_of(f"https://127.0.0.1:{closed_port()}/v1")
    assert error.failure == "connect"
    assert error.text.startswith("no connection to https://127.0.0.1:")


async def test_a_certificate_that_nobody_trusts_is_a_failure_of_tls() -> None:
    async with Http2Server(trustme.CA()) as server:
        error = await failure_of(server.base_url)
    assert error.failure == "tls"
    assert "certificate verify failed" in error.text
    assert server.requests == []


async def test_a_server_without_encryption_behind_https_is_a_failure_of_tls() -> None:
    with ModelServer(lambda _: "B") as server:
        error = await failure_of(server.base_url.replace("http://", "https://"))
    assert error.failure == "tls"


async def test_a_server_that_never_shakes_hands_is_a_timeout_of_the_connection() -> None:
    async def ignore(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listen(ignore) as port:
        error = await failure_of(f"https://127.0.0.1:{port}/v1", connect_timeout_s=0.3)
    assert (error.failure, error.text) == ("timeout_connect", f"no connection to https://127.0.0.1:{port} within 0.3 s")


@pytest.mark.parametrize(("behaviour", "status"), [("redirect", 307), ("busy", 429)])
async def test_an_answer_with_another_status_is_an_answer_and_no_redirect_is_followed(behaviour: Behaviour, status: int) -> None:
    async with Http2Server(AUTHORITY, behaviour) as server:
        answer = await post_once(server.base_url)
    assert (answer.status, len(server.requests)) == (status, 1)
    assert answer.headers.get("Retry-After") == ("7" if behaviour == "busy" else None)


async def test_cookies_are_not_kept() -> None:
    async with Http2Server(AUTHORITY) as server, transport(server.base_url) as opened:
        first = await opened.post(BODY)
        await opened.post(BODY)
    assert first.headers["set-cookie"] == "seen=1; Path=/"
    assert [request.get("cookie") for request in server.requests] == [None, None]


async def test_a_proxy_of_the_environment_is_for_remote_servers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async with listen(refuse) as proxy, Http2Server(AUTHORITY) as server:
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        answer = await post_once(server.base_url)
        assert (answer.status, asked) == (200, [])
        error = await failure_of("https://models.invalid/v1")
    assert asked == [b"CONNECT models.invalid:443 HTTP/1.1\r\n"]
    assert error.failure == "connect"


async def test_a_call_outside_the_block_is_a_mistake_of_the_program() -> None:
    with pytest.raises(RuntimeError, match="async context manager"):
        await transport("https://127.0.0.1:9/v1").post(BODY)
