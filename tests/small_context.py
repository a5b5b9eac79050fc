"""A model server with a small context: it counts words as tokens and refuses longer prompts, over real HTTP."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Wording = Callable[[int, int], str]
"""The refusal of a prompt, from its tokens and the longest context."""


def stated(tokens: int, limit: int) -> str:
    """Both numbers, as llama.cpp words it."""
    return f"request ({tokens} tokens) exceeds the available context size ({limit} tokens), try increasing it"


def unstated(_tokens: int, _limit: int) -> str:
    """No number."""
    return "the request exceeds the available context size, try increasing it"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        owner = self.server.owner
        prompt = body["messages"][-1]["content"]
        owner.prompts.append(prompt)
        tokens = len(prompt.split())
        if tokens > owner.limit:
            error = {"code": 400, "message": owner.wording(tokens, owner.limit), "type": "exceed_context_size_error"}
            self._send(400, {"error": error})
        else:
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "B"}}
            self._send(200, {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}})

    def do_GET(self) -> None:
        self._send(404, {})

    def _send(self, status: int, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name http.server uses
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: "SmallContext"


class SmallContext:
    """Serves `POST /v1/chat/completions` on a free loopback port while the block runs; the answer is always "B".

    Args:
        limit: longest prompt in words.
        wording: of the refusal.
    """

    def __init__(self, limit: int, wording: Wording = stated) -> None:
        self.limit = limit
        self.wording = wording
        self.prompts: list[str] = []

    @property
    def base_url(self) -> str:
        """What goes into --base-url."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
