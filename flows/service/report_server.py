"""The reports of a lake over HTTP on loopback: only files of its `runs/` folder, only to be read, only under its own name."""

import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from flows.service.server_process import origin_of
from schemas.folders import Folder

REPORT = "report.html"
ICON = "/favicon.ico"
PLAIN_NAME = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*")
"""Of a run or a file: never `.`, `..`, or a hidden one."""

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
HEADERS = {
    # A report holds what models wrote: whatever it says, it reaches nothing outside the page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def find_file(folders: Sequence[Folder], path: str) -> Folder | None:
    """The file that a request's path names: `/<run>/<file>`, in the first of the folders that has it.

    Nothing else is found: no folder, nothing that begins with a dot, nothing outside, be it by `..` or by a link.

    Args:
        folders: `runs/` of the lakes.
        path: as requested, without the query.
    """
    first, *parts = unquote(path).split("/")
    if first or len(parts) != 2 or not all(PLAIN_NAME.fullmatch(part) for part in parts):  # noqa: PLR2004
        return None
    for folder in folders:
        found = folder / parts[0] / parts[1]
        if found.is_file() and _is_inside(found, folder):
            return found
    return None


def _is_inside(path: Folder, folder: Folder) -> bool:
    if isinstance(path, Path) and isinstance(folder, Path):
        return path.resolve().is_relative_to(folder.resolve())
    return True  # an object store has no links


def list_reports(folders: Sequence[Folder]) -> list[str]:
    """Runs that have a report, newest first."""
    found = {path.parent.name for folder in folders if folder.exists() for path in folder.glob(f"*/{REPORT}")}
    return sorted(found, reverse=True)


def index_page(runs: Sequence[str]) -> str:
    """A page that links every report."""
    links = "\n".join(f'<li><a href="/{escape(run)}/{REPORT}">{escape(run)}</a></li>' for run in runs)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>MoodFlow reports</title><style>:root{color-scheme:light dark;font-family:sans-serif}</style>"
        f"<h1>Reports</h1><ul>{links}</ul>{'' if runs else '<p>No run has a report yet.</p>'}</html>"
    )


class ReportHandler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "MoodFlow"
    sys_version = ""
    timeout: ClassVar[float] = 30.0
    server: "ReportServer"

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(self.wfile.write)

    def do_HEAD(self) -> None:
        """Say what would be sent."""
        self._answer(None)

    def _answer(self, write: Callable[[bytes], int] | None) -> None:
        status, kind, body = self._find()
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if write is not None:
            write(body)

    def _find(self) -> tuple[HTTPStatus, str, bytes]:
        if self.headers.get_all("Host") not in self.server.hosts:
            # A name that an attacker's page has led to this address is none of ours.
            return HTTPStatus.MISDIRECTED_REQUEST, TYPES[".md"], b"this server answers under its own address only\n"
        path = urlsplit(self.path).path
        if path == "/":
            return HTTPStatus.OK, TYPES[".html"], index_page(list_reports(self.server.folders)).encode()
        if path == ICON:
            return HTTPStatus.OK, "image/x-icon", b""  # a browser asks for it, and would call its absence an error
        try:
            if found := find_file(self.server.folders, path):
                return HTTPStatus.OK, TYPES.get(found.suffix, "application/octet-stream"), found.read_bytes()
        except (OSError, ValueError):
            pass  # it went away, may not be read, or its name is too long: for the browser, it is not there
        return HTTPStatus.NOT_FOUND, TYPES[".md"], b"there is no such file\n"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name http.server uses
        """Say nothing: the terminal is for what matters."""


class ReportServer(ThreadingHTTPServer):
    """Serves the reports on a socket that listens already."""

    daemon_threads = True

    def __init__(self, listening: socket.socket, folders: Sequence[Folder]) -> None:
        super().__init__(("", 0), ReportHandler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.server_address = listening.getsockname()
        self.folders = tuple(folders)
        self.url = origin_of(listening)
        host, port = self.url.removeprefix("http://"), self.server_address[1]
        self.hosts = ([host], [f"localhost:{port}"])

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that closes a connection in the middle is nothing to report."""


@contextmanager
def reports(listening: socket.socket, lakes: Sequence[Folder]) -> Iterator[ReportServer]:
    """Serve the reports of these lakes while the block runs."""
    server = ReportServer(listening, [lake / "runs" for lake in lakes])
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
