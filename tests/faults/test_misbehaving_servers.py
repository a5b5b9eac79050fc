"""Servers that misbehave in a hundred ways: every call ends in time and within memory, as an answer or a failure with a name."""

import asyncio
import json
import resource
import time
import zlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.vocabulary import FAILURES
from tasks.models.http.failures import RETRIES
from tests.loopback import Handler, LoopbackServer
from tests.tasks.models.making_calls import HANGS_S, Pauses, ask_once, entry

MIB = 2**20
KEY = "sk-SECRET4711"


def answer(content: Any = "B", **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}], **more}).encode()


def bomb() -> bytes:
    """Three hundred MiB of spaces, packed."""
    packer = zlib.compressobj(wbits=31)
    return b"".join([packer.compress(b" " * MIB) for _ in range(300)]) + packer.flush()


BODIES: dict[str, Callable[[], bytes]] = {
    "right": answer,
    "empty": lambda: b"",
    "NUL": lambda: b"\0" * 99,
    "900 lists": lambda: answer()[:-1] + b', "x": ' + b"[" * 900 + b"]" * 900 + b"}",
    "million lists": lambda: b"[" * 10**6,
    "long integer": lambda: answer(usage=0).replace(b"0}", b"9" * 5000 + b"}"),
    "many tokens": lambda: answer(usage={"prompt_tokens": 2**62, "completion_tokens": 2**62}),
    "infinity": lambda: answer(usage={"prompt_tokens": float("inf")}, logprobs=float("nan")),
    "twice": lambda: answer()[:-1] + b', "choices": []}',
    "half characters": lambda: answer("\ud800 \udfff"),
    "long text": lambda: answer("A" * MIB),
    "too long": lambda: answer("A" * (17 * MIB)),
    "many objects": lambda: b'{"choices": [' + b"{}," * (4 * MIB) + b"{}]}",
    "long name": lambda: answer(model="m" * MIB),
    "slow message": lambda: json.dumps({"error": {"message": "input length " * 99_999}}).encode(),
    "long number in an error": lambda: json.dumps({"error": {"message": f"maximum context length is {'9' * 5000}"}}).encode(),
    "key": lambda: json.dumps({"error": {"message": f"who is {KEY.encode().hex()}?"}}).encode(),
    "bomb": bomb,
    "tags": lambda: answer("<think>" * 99_999),
    "parts": lambda: answer([{"type": "thinking", "thinking": [{"type": "text", "text": None}]}] * 999),
}
HEADS: tuple[tuple[int, dict[str, str]], ...] = (
    (200, {}),
    (200, {"Content-Encoding": "gzip"}),
    (429, {"Retry-After": f"Mon, 01 Jan 1{'0' * 20} 00:00:00 GMT"}),
    (200, {"x-ratelimit-remaining-tokens": "-" + "9" * 40, "x-ratelimit-reset-tokens": "9" * 5000 + "d"}),
    (400, {"Content-Length": "99999999999999999999", "Connection": "close"}),
)
Behaviour = Callable[[Handler], None]


def sent(status: int, head: dict[str, str], make: Callable[[], bytes]) -> Behaviour:
    body = cache(make)
    return lambda handler: handler.send_body(status, body(), head)


def endless(start: bytes, part: bytes) -> Behaviour:
    def go_on(handler: Handler) -> None:
        handler.wfile.write(start)
        for _ in range(4096):
            handler.wfile.write(part)

    return go_on


OK = b"HTTP/1.1 200 OK\r\n"
BEHAVIOURS: dict[str, Behaviour] = {
    **{f"{name}, {place}": sent(*head, body) for (name, body), (place, head) in product(BODIES.items(), enumerate(HEADS))},
    "endless head": endless(OK, b"X: y\r\n"),
    "endless line": endless(OK + b"X: ", b"y" * 9999),
    "endless chunks": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"4000\r\n" + b" " * 0x4000 + b"\r\n"),
    "endless continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "no head": endless(b"", b"garbage\r\n"),
    "no chunks": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\n"),
    "two lengths": endless(OK + b"Content-Length: 1\r\nContent-Length: 9\r\n\r\n", b"B"),
    "another version": endless(b"HTTP/9.9 999 \r\nContent-Length: 1\r\n\r\n", b"B"),
}


class Misbehaving(LoopbackServer):
    """Does what it is told with every call."""

    class handler(Handler):  # noqa: N801  the name that LoopbackServer uses
        def answer(self, body: dict[str, Any]) -> None:  # noqa: ARG002  whatever was asked
            self.server.owner.behave(self)
            self.close_connection = True

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave


async def check(names: list[str]) -> None:
    outcomes: Counter[str] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in names:
        with Misbehaving(BEHAVIOURS[name]) as server:
            model, started_s = entry(server.base_url, timeout_s=5.0), time.monotonic()
            reply = await asyncio.wait_for(ask_once(model, Pauses(), SecretStr(KEY)), HANGS_S)
        assert (reply.text is None) == (reply.failure is not None), name
        assert reply.failure is None or (reply.failure in FAILURES and reply.error), name
        assert KEY.encode().hex() not in str(reply.error), name
        attempts = RETRIES[reply.failure].attempts if reply.failure else 1
        assert time.monotonic() - started_s < HANGS_S * attempts, name
        outcomes[reply.failure or "answered"] += 1
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{len(names)} behaviours, {grown:.0f} MiB more: {dict(outcomes)}")  # noqa: T201  counts of a long test
    assert grown < 1024


async def test_servers_that_misbehave() -> None:
    await check(["900 lists, 0", "many tokens, 0", "bomb, 1", "right, 2", "right, 3", "right, 4", "slow message, 4", "key, 0"])


@pytest.mark.long
async def test_a_hundred_ways_to_misbehave() -> None:
    assert len(BEHAVIOURS) >= 100
    await check(list(BEHAVIOURS))
