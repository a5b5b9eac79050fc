"""What the model servers of the tests share: a free port of this machine, and JSON over HTTP/1.1."""

import json
import ssl
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self


class Listener(ThreadingHTTPServer):
    request_queue_size = 256
    owner: Any

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gives up or is killed in the middle of a call is part of what is tested."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def do_POST(self) -> None:
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_GET(self) -> None:
        self.send_body(404, b"{}")

    def answer(self, body: dict[str, Any]) -> None:
        raise NotImplementedError

    def send_body(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Answer; `headers` are further ones, or others in place of the usual ones."""
        self.send_response(status)
        usual = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in {**usual, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name http.server uses
        pass


class LoopbackServer:
    """Serves `POST /v1/chat/completions` on a free loopback port while the block runs, HTTPS where `tls` has a certificate."""

    handler: ClassVar[type[Handler]]
    tls: ssl.SSLContext | None = None

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._listener.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def __enter__(self) -> Self:
        self._listener = Listener(("127.0.0.1", 0), self.handler)
        self._listener.owner = self
        if self.tls is not None:
            # The handshake is left to the connection's own thread: one that fails must not end the server.
            self._listener.socket = self.tls.wrap_socket(self._listener.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()


class _Kept(Handler):
    def answer(self, body: dict[str, Any]) -> None:
        self.server.owner.received.append((self.path, self.headers["Authorization"], body))
        self.send_body(self.server.owner.status, b"{}")


class Endpoint(LoopbackServer):
    """Keeps what is posted to it: path, login and body. With another status it refuses it."""

    handler = _Kept

    def __init__(self, status: int = 201) -> None:
        self.status = status
        self.received: list[tuple[str, str | None, Any]] = []
