"""A server that speaks HTTP/2 over TLS, or only HTTP/1.1, and fails in chosen ways; for tests of the transport."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Literal, NamedTuple, Self

import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import PingAckReceived, RequestReceived, StreamEnded
from h2.settings import SettingCodes, Settings

Behaviour = Literal["answer", "reset", "hang_up", "silent", "stall", "nonsense", "garbled", "redirect", "busy"]
Protocol = Literal["h2", "http/1.1"]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
NONSENSE = bytes(9)
"""A frame that HTTP/2 forbids: data of stream 0."""

ANSWER = json.dumps({"choices": [{"message": {"content": "B"}}]}).encode()


@asynccontextmanager
async def listen(serve: Serve, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve connections on a free loopback port, given to the block; afterwards no connection is left."""
    served: list[asyncio.Task[None]] = []

    async def serve_and_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, ssl.SSLError):
            await serve(reader, writer)
            writer.close()
            await writer.wait_closed()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(asyncio.create_task(serve_and_close(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*served)


class Open(NamedTuple):
    """A connection, and its streams that wait for an answer."""

    connection: H2Connection
    writer: asyncio.StreamWriter
    waiting: list[int]


class Http2Server:
    """Answers every POST over TLS on a free loopback port while the block runs.

    * `answer`, `redirect`, `busy` (429 with `Retry-After`): an answer that comes whole.
    * `reset`: the answer ends in the middle; `hang_up`: the connection ends before it.
    * `silent`: no answer; `stall`: its beginning only.
    * `nonsense`: what HTTP/2 forbids, instead of an answer; `garbled`: after its beginning has arrived.

    Args:
        authority: issues the certificate.
        behaviour: see above.
        protocol: the only one it speaks.
        together: requests that have to wait on one connection before any of them is answered.
        streams: requests that may be open on one connection.
    """

    def __init__(
        self,
        authority: trustme.CA,
        behaviour: Behaviour = "answer",
        *,
        protocol: Protocol = "h2",
        together: int = 1,
        streams: int = 100,
    ) -> None:
        self.behaviour = behaviour
        self.together = together
        self.streams = streams
        self.received = 0
        """Requests that came whole."""
        self.ended = 0
        """Connections that are no more."""
        self.spoken: list[str | None] = []
        """The protocol agreed on, by connection."""
        self.requests: list[dict[str, str]] = []
        """Header fields, by request."""
        self._open: list[Open] = []
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(self._context)
        self._context.set_alpn_protocols([protocol])

    @property
    def base_url(self) -> str:
        """Up to and including `/v1`."""
        return f"https://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> Self:
        self._listening = listen(self._serve, self._context)
        self._port = await self._listening.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listening.__aexit__(None, None, None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        spoken = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        self.spoken.append(spoken)
        with suppress(ConnectionError, ssl.SSLError):
            await (self._serve_http2(reader, writer) if spoken == "h2" else self._serve_http1(reader, writer))
        self.ended += 1

    async def _serve_http1(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(ANSWER)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + ANSWER)
        await writer.drain()

    async def _serve_http2(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.local_settings = Settings(client=False, initial_values={SettingCodes.MAX_CONCURRENT_STREAMS: self.streams})
        connection.initiate_connection()
        writer.write(connection.data_to_send())
        waiting: list[int] = []
        opened = Open(connection, writer, waiting)
        self._open.append(opened)
        while data := await reader.read(65536):
            for event in connection.receive_data(data):
                if isinstance(event, RequestReceived):
                    self.requests.append({str(name): str(value) for name, value in event.headers})
                elif isinstance(event, StreamEnded):
                    self.received += 1
                    waiting.append(event.stream_id)
                elif isinstance(event, PingAckReceived):
                    writer.write(NONSENSE)
            writer.write(connection.data_to_send())
            if len(waiting) >= self.together:
                self._answer(opened)
                if self.behaviour == "hang_up":
                    return
            await writer.drain()

    def release(self) -> None:
        """Answer all requests that wait, however few they are."""
        for opened in self._open:
            self._answer(opened)

    def _answer(self, opened: Open) -> None:
        if self.behaviour not in {"silent", "hang_up", "nonsense"}:
            for stream in opened.waiting:
                self._answer_one(opened.connection, stream)
        if self.behaviour == "garbled":
            opened.connection.ping(bytes(8))
        opened.writer.write(opened.connection.data_to_send() + (NONSENSE if self.behaviour == "nonsense" else b""))
        opened.waiting.clear()

    def _answer_one(self, connection: H2Connection, stream: int) -> None:
        status = {"redirect": "307", "busy": "429"}.get(self.behaviour, "200")
        extra = {"redirect": [("location", f"{self.base_url}/elsewhere")], "busy": [("retry-after", "7")]}.get(self.behaviour, [])
        connection.send_headers(stream, [(":status", status), ("set-cookie", "seen=1; Path=/"), *extra])
        whole = self.behaviour not in {"reset", "stall", "garbled"}
        connection.send_data(stream, ANSWER if whole else ANSWER[:10], end_stream=whole)
        if self.behaviour == "reset":
            connection.reset_stream(stream)
