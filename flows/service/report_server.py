"""Serve lakes over HTTP on loopback: a first page, leaderboards, pages about runs and files of `runs/`, only to be read."""

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from mimetypes import guess_type
from threading import Thread
from typing import get_args

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from flows.runtime.local_server import names_of, origin_of
from flows.service.first_page import LEADERBOARD, first_page, leaderboard_page, stamp_lakes
from flows.service.login import STYLES, admit, message_page, require_own
from flows.service.view_pages import find_file, find_run, view_page
from schemas.errors import MoodflowError, UsageError, summarize
from schemas.folders import Folder
from schemas.printing import tell
from tasks.reporting.view.addresses import PageKind
from tasks.reporting.view.site import stylesheet

HEADERS = {
    # Pages hold what models wrote: whatever it says, it reaches nothing outside the page.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
COMPLETE = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}
"""Of pages that have everything inside: reports, leaderboards, the first page."""

MOST_AT_ONCE, MOST_CONNECTIONS = 4, 64
"""Pages made at a time, each of which takes memory; connections, of which more are answered with 503."""


def report_app(lakes: tuple[Folder, ...], hosts: Sequence[str], login: Callable[[Request], Response | None]) -> Starlette:
    """Return the application; `hosts`: names it answers to, `login`: what answers those who are not let in."""
    turns = asyncio.Semaphore(MOST_AT_ONCE)

    def index(request: Request) -> Response:
        named = tuple(find_run(lakes, name)[1].name for name in request.query_params.getlist("run"))
        return HTMLResponse(first_page(lakes, stamp_lakes(*lakes), named), headers=COMPLETE)

    def leaderboard(request: Request) -> Response:
        if (number := request.path_params["lake"]) >= len(lakes):
            raise HTTPException(404, "there is no such leaderboard")
        page = leaderboard_page(lakes[number], request.path_params["benchmark"], stamp_lakes(lakes[number]))
        return HTMLResponse(page, headers=COMPLETE)

    def file(request: Request) -> Response:
        _, path = find_file(lakes, request.path_params["run"], request.path_params["name"])
        kind = guess_type(path.name)[0] or "application/octet-stream"
        return Response(path.read_bytes(), media_type=kind, headers=COMPLETE)

    async def shielded(request: Request, call_next: RequestResponseEndpoint) -> Response:
        try:
            require_own(request, hosts)
            async with turns:
                response = login(request) or await call_next(request)
        except Exception as error:  # noqa: BLE001  whatever a page stumbles over is told in words
            response = _refuse(error)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    routes = [
        Route("/", index),
        Route(STYLES, lambda _: Response(stylesheet(), media_type="text/css")),
        Route(f"/{LEADERBOARD}/{{lake:int}}/{{benchmark}}", leaderboard),
        *(Route(f"/view/{{run}}/{kind}", partial(view_page, lakes, kind)) for kind in get_args(PageKind)),
        Route("/{run}/{name}", file),
    ]
    shield, words = Middleware(BaseHTTPMiddleware, dispatch=shielded), {HTTPException: lambda _, error: _refuse(error)}
    return Starlette(routes=routes, middleware=[shield], exception_handlers=words)


def _refuse(error: Exception) -> Response:
    """Return what is wrong as a page: with the request, or with the lake."""
    if isinstance(error, HTTPException):
        return message_page(error.status_code, error.detail, headers=error.headers)
    if isinstance(error, ValidationError | UsageError):
        return message_page(400, str(error) if isinstance(error, UsageError) else f"the address is wrong\n{summarize(error)}")
    if isinstance(error, MoodflowError):
        return message_page(409, str(error))
    tell(f"a page could not be made: {type(error).__name__}: {summarize(error)}")
    return message_page(500, "this page could not be made\nThe terminal of the server says why.")


@contextmanager
def serve_reports(listening: socket.socket, lakes: Sequence[Folder], token: str, *, stays: bool = False) -> Iterator[str]:
    """Serve the reports of these lakes on a listening socket while the block runs; yields the address, without the token."""
    origin = origin_of(listening)
    # Browsers send the cookies of a host to all its ports: under one name, servers would overwrite each other's.
    login = partial(admit, token=token, cookie=f"moodflow-{origin.rpartition(':')[2]}", stays=stays)
    app = report_app(tuple(lakes), names_of(listening), login)
    config = uvicorn.Config(
        app,
        http="h11",
        lifespan="off",
        log_config=None,
        log_level="critical",
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield origin
    finally:
        server.should_exit = True
        thread.join()
