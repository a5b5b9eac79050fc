"""A model server that costs as little as it can: every request gets the same completion after the same pause, or a numbered one.

A bare `asyncio.Protocol` over keep-alive connections that reads no more of a request than its length, in a process of its own,
so that a benchmark of a client measures the client. Prints its port, serves until its standard input ends, then prints as JSON
how many requests it answered and how much CPU time that took.

Usage: python benchmarks/stub_server.py --latency-ms 20 [--numbered] [--content B]
"""

import argparse
import asyncio
import json
import sys
import time

COMPLETION = {
    "id": "chatcmpl-0123456789abcdef01234567",
    "object": "chat.completion",
    "created": 1735689600,
    "model": "stub",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "B"}, "logprobs": None, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 180, "completion_tokens": 1, "total_tokens": 181},
}
CONTENT = b'"content": "%b'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length:"


class Tally:
    """What all connections answer, and how many requests they did."""

    def __init__(self, content: str) -> None:
        self.content = CONTENT % content.encode()
        self.body = json.dumps(COMPLETION).encode().replace(CONTENT % b"B", self.content)
        self.answer = HEAD % (len(self.body), self.body)
        self.answered = 0


class Connection(asyncio.Protocol):
    """One connection: reads whole requests, answers each after the pause."""

    def __init__(self, latency_s: float, tally: Tally, *, numbered: bool) -> None:
        self._latency_s = latency_s
        self._tally = tally
        self._numbered = numbered
        self._loop = asyncio.get_running_loop()
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to answer."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  what a TCP server gets
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer as soon as a request is whole."""
        self._received += data
        while (length := request_length(self._received)) is not None and len(self._received) >= length:
            self._received = self._received[length:]
            if self._latency_s:
                self._loop.call_later(self._latency_s, self._answer)
            else:
                self._answer()

    def _answer(self) -> None:
        self._tally.answered += 1
        if self._numbered:
            body = self._tally.body.replace(self._tally.content, b"%b %d" % (self._tally.content, self._tally.answered))
            self._transport.write(HEAD % (len(body), body))
        else:
            self._transport.write(self._tally.answer)


def request_length(received: bytes) -> int | None:
    """Bytes of the request that starts here, head and body; None until its head is whole.

    Raises:
        ValueError: if its head names no length: chunked bodies are not understood.
    """
    end = received.find(END_OF_HEAD)
    if end < 0:
        return None
    head = received[:end].lower()
    if (place := head.find(LENGTH)) < 0:
        raise ValueError(f"expected a request with the header Content-Length, got {head!r}")
    return end + len(END_OF_HEAD) + int(head[place + len(LENGTH) :].split(b"\r\n", 1)[0])


async def serve(latency_s: float, content: str, *, numbered: bool) -> None:
    """Serve on a free loopback port until standard input ends."""
    loop, tally = asyncio.get_running_loop(), Tally(content)
    server = await loop.create_server(lambda: Connection(latency_s, tally, numbered=numbered), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    before_s = time.process_time()
    await loop.run_in_executor(None, sys.stdin.read)
    print(json.dumps({"answered": tally.answered, "cpu_s": time.process_time() - before_s}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency-ms", type=float, default=0.0, help="pause before each answer")
    parser.add_argument("--numbered", action="store_true", help="no two answers are equal, so that what rests on them differs")
    parser.add_argument("--content", default="B", help="what every answer says")
    options = parser.parse_args()
    asyncio.run(serve(options.latency_ms / 1000, options.content, numbered=options.numbered))
