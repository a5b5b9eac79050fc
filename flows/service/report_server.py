"""Serve lakes over HTTP on loopback: a first page, leaderboards and files of `runs/`, only to be read, under its own name."""

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from mimetypes import guess_type
from pathlib import Path
from threading import Thread

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from flows.runtime.local_server import names_of, origin_of
from flows.service.first_page import LEADERBOARD, first_page, leaderboard_page, stamp_lakes
from schemas.errors import MoodflowError
from schemas.folders import Folder

PLAIN_NAME = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*")
"""Of a run or a file: never `.`, `..`, or a hidden one."""

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


def find_file(folders: Sequence[Folder], run: str, name: str) -> Folder | None:
    """Return a run's file from the first of the folders that has it.

    Nothing else is found: no folder, nothing that begins with a dot, nothing outside, be it by `..` or by a link. Starlette's
    static files know neither this rule nor object stores.
    """
    if not PLAIN_NAME.fullmatch(run) or not PLAIN_NAME.fullmatch(name):
        return None
    return next((file for folder in folders if (file := folder / run / name).is_file() and _is_inside(file, folder)), None)


def _is_inside(path: Folder, folder: Folder) -> bool:
    if isinstance(path, Path) and isinstance(folder, Path):
        return path.resolve().is_relative_to(folder.resolve())
    return True  # an object store has no links


def report_app(lakes: tuple[Folder, ...], hosts: Sequence[str]) -> Starlette:
    """Return the application; `hosts`: names it answers to."""
    folders = [lake / "runs" for lake in lakes]

    def index(_: Request) -> Response:
        return HTMLResponse(first_page(lakes, stamp_lakes(*lakes)))

    def leaderboard(request: Request) -> Response:
        try:
            lake = lakes[request.path_params["lake"]]
            return HTMLResponse(leaderboard_page(lake, request.path_params["benchmark"], stamp_lakes(lake)))
        except (IndexError, MoodflowError):
            return PlainTextResponse("there is no such leaderboard\n", 404)

    def file(request: Request) -> Response:
        try:
            if path := find_file(folders, request.path_params["run"], request.path_params["name"]):
                return Response(path.read_bytes(), media_type=guess_type(path.name)[0] or "application/octet-stream")
        except (OSError, ValueError, MoodflowError):
            pass  # it went away, may not be read, or its name is too long: for the browser, it is not there
        return PlainTextResponse("there is no such file\n", 404)

    async def shielded(request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        response.headers.update(HEADERS)
        return response

    middleware = [Middleware(BaseHTTPMiddleware, dispatch=shielded), Middleware(TrustedHostMiddleware, allowed_hosts=hosts)]
    boards = Route(f"/{LEADERBOARD}/{{lake:int}}/{{benchmark}}", leaderboard)
    return Starlette(routes=[Route("/", index), boards, Route("/{run}/{name}", file)], middleware=middleware)


@contextmanager
def serve_reports(listening: socket.socket, lakes: Sequence[Folder]) -> Iterator[str]:
    """Serve the reports of these lakes on a listening socket while the block runs; yields the address."""
    app = report_app(tuple(lakes), names_of(listening))
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    )
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield origin_of(listening)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
