"""A misbehaving file server for tests: real HTTP on a loopback port, and a script of what goes wrong with each request.

    with FileServer({"/a": b"content"}, ["cut", "ok"]) as server:
        ...  # server.url, server.requests

The n-th request meets the n-th fault, later ones the last of them:

* `ok`: the file, or the range asked for. `no_ranges`: always the whole file. `other_range`: one byte less than asked for.
  `changed`: the whole file, which has another content and ETag from now on. `mixed`: the range asked for, of such a file.
* `cut`: the connection ends after half of what was asked for. `longer`, `shorter`: Content-Length is wrong by one.
* `wrong`: other bytes of the same length. `gzip`: content encoded without being asked. `unbounded`: no length, no chunks.
* `503`, `429`: with Retry-After. Other numbers: the status without one.
* `endless`: chunks without end. `trickle`: a byte now and then. `silent`: no answer. `hang_up`: no answer and no connection.
  `half_then_wait`: nothing after the first half.
* `loop`, `moved`: a redirect to the server itself. `to_http`: one to another host, without TLS.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from types import TracebackType
from typing import NamedTuple

from tests.loopback import Handler, LoopbackServer

RETRY_AFTER = "7"
LONGEST_WAIT_S = 10.0
TRICKLE_S = 0.02


class Request(NamedTuple):
    """A request as it came."""

    path: str
    span: str | None
    """Its Range header."""

    etag: str | None
    """Its If-Range header."""


class _Handler(Handler):
    def do_GET(self) -> None:  # noqa: N802  the name http.server uses
        owner = self.server.owner
        fault = owner.note(Request(self.path, self.headers["Range"], self.headers["If-Range"]))
        self.close_connection = True
        if fault.isdecimal():
            self._head(int(fault), {"Retry-After": RETRY_AFTER} if fault in {"503", "429"} else {}, 0)
        elif fault in {"loop", "moved", "to_http"}:
            target = "http://files.example.org/a" if fault == "to_http" else f"{owner.url}{self.path}"
            self._head(302, {"Location": target}, 0)
        elif fault in {"silent", "hang_up"}:
            owner.closing.wait(LONGEST_WAIT_S if fault == "silent" else 0)
        elif fault in {"endless", "trickle"}:
            self._go_on(b"100\r\n" + bytes(256) + b"\r\n" if fault == "endless" else b"1\r\n.\r\n", fault)
        else:
            self._serve(fault)

    def _serve(self, fault: str) -> None:
        owner = self.server.owner
        path = self.path.partition("?")[0]
        if path not in owner.files:
            self._head(404, {}, 0)
            return
        if fault in {"changed", "mixed"}:
            owner.files[path] = bytes(reversed(owner.files[path]))
        whole = owner.files[path]
        etag = f'"{sha256(whole).hexdigest()[:12]}"'
        asked, headers = self.headers["Range"], {"ETag": etag}
        body, status = whole, 200
        if asked and (self.headers["If-Range"] == etag or fault == "mixed") and fault not in {"no_ranges", "changed"}:
            start = int(asked.removeprefix("bytes=").removesuffix("-")) - (fault == "other_range")
            if start >= len(whole):
                self._head(416, {"Content-Range": f"bytes */{len(whole)}"}, 0)
                return
            body, status = whole[start:], 206
            headers["Content-Range"] = f"bytes {start}-{len(whole) - 1}/{len(whole)}"
        self._send(fault, status, headers, body)

    def _send(self, fault: str, status: int, headers: dict[str, str], body: bytes) -> None:
        length: int | None = len(body) + {"longer": 1, "shorter": -1}.get(fault, 0)
        if fault == "wrong":
            body = bytes(byte ^ 1 for byte in body)
        if fault == "gzip":
            headers["Content-Encoding"] = "gzip"
        self._head(status, headers, None if fault == "unbounded" else length)
        self.wfile.write(body[: len(body) // 2] if fault in {"cut", "half_then_wait"} else body)
        if fault == "half_then_wait":
            self.wfile.flush()
            self.server.owner.closing.wait(LONGEST_WAIT_S)

    def _go_on(self, chunk: bytes, fault: str) -> None:
        self._head(200, {"Transfer-Encoding": "chunked"}, None)
        until = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < until and not self.server.owner.closing.wait(TRICKLE_S if fault == "trickle" else 0):
            self.wfile.write(chunk)

    def _head(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


class FileServer(LoopbackServer):
    """Serves files on a free loopback port while the block runs.

    Args:
        files: content by path.
        faults: what happens to the n-th request.
        on_request: called with the number of each request before it is answered.
    """

    handler = _Handler

    def __init__(
        self,
        files: Mapping[str, bytes],
        faults: Sequence[str] = ("ok",),
        *,
        on_request: Callable[[int], None] = lambda _number: None,
    ) -> None:
        self.files = dict(files)
        self.faults = tuple(faults)
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._on_request = on_request
        self._lock = threading.Lock()

    @property
    def spans(self) -> list[str | None]:
        """Range of each request."""
        return [request.span for request in self.requests]

    def note(self, request: Request) -> str:
        """Take note of a request; returns the fault it meets."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        self._on_request(number)
        return self.faults[min(number, len(self.faults) - 1)]

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.closing.set()
        super().__exit__(kind, error, trace)
