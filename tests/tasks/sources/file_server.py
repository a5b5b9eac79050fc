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
from typing import NamedTuple

from tests.loopback import Handler, LoopbackServer

LONGEST_WAIT_S = 60.0
TRICKLE_S = 0.02


class Request(NamedTuple):
    """A request as it came, with its headers Range and If-Range."""

    path: str
    span: str | None
    etag: str | None


class _Handler(Handler):
    def do_GET(self) -> None:  # noqa: N802  the name http.server uses
        owner = self.server.owner
        fault = owner.note(Request(self.path, self.headers["Range"], self.headers["If-Range"]))
        self.close_connection = True
        if fault.isdecimal():
            self._head(int(fault), 0, {"Retry-After": "7"} if fault in {"503", "429"} else {})
        elif fault in {"loop", "moved", "to_http"}:
            self._head(302, 0, {"Location": "http://files.example.org/a" if fault == "to_http" else f"{owner.url}{self.path}"})
        elif fault == "silent":
            time.sleep(LONGEST_WAIT_S)
        elif fault in {"endless", "trickle"}:
            self._head(200, None, {"Transfer-Encoding": "chunked"})
            while True:  # until the client has enough
                self.wfile.write(b"100\r\n" + bytes(256) + b"\r\n" if fault == "endless" else b"1\r\n.\r\n")
                time.sleep(TRICKLE_S if fault == "trickle" else 0)
        elif self.path not in owner.files:
            self._head(404, 0)
        elif fault != "hang_up":
            self._serve(fault, owner.files)

    def _serve(self, fault: str, files: dict[str, bytes]) -> None:
        if fault in {"changed", "mixed"}:
            files[self.path] = bytes(reversed(files[self.path]))
        body = files[self.path]
        size, etag = len(body), f'"{sha256(body).hexdigest()[:12]}"'
        status, headers = 200, {"ETag": etag, **({"Content-Encoding": "gzip"} if fault == "gzip" else {})}
        asked = self.headers["Range"]
        if asked and (self.headers["If-Range"] == etag or fault == "mixed") and fault not in {"no_ranges", "changed"}:
            start = int(asked.removeprefix("bytes=").removesuffix("-")) - (fault == "other_range")
            if start >= size:
                self._head(416, 0, {"Content-Range": f"bytes */{size}"})
                return
            body, status = body[start:], 206
            headers["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
        length = len(body) + {"longer": 1, "shorter": -1}.get(fault, 0)
        self._head(status, None if fault == "unbounded" else length, headers)
        if fault == "wrong":
            body = bytes(byte ^ 1 for byte in body)
        self.wfile.write(body[: len(body) // 2] if fault in {"cut", "half_then_wait"} else body)
        if fault == "half_then_wait":
            self.wfile.flush()
            time.sleep(LONGEST_WAIT_S)

    def _head(self, status: int, length: int | None, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), **({} if length is None else {"Content-Length": str(length)})}.items():
            self.send_header(name, value)
        self.end_headers()


class FileServer(LoopbackServer):
    """Serves files by path on a free loopback port while the block runs; `on_request` is called before each answer."""

    handler = _Handler

    def __init__(
        self, files: Mapping[str, bytes], faults: Sequence[str] = ("ok",), *, on_request: Callable[[], None] = lambda: None
    ) -> None:
        self.files, self.faults = dict(files), tuple(faults)
        self.requests: list[Request] = []
        self._on_request, self._lock = on_request, threading.Lock()

    @property
    def spans(self) -> list[str | None]:
        """Range of each request."""
        return [request.span for request in self.requests]

    def note(self, request: Request) -> str:
        """Take note of a request; returns the fault it meets."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        self._on_request()
        return self.faults[min(number, len(self.faults)) - 1]
