"""Serve lakes over HTTP on loopback: a first page, leaderboards, pages about runs and files of `runs/`, only to be read."""

import asyncio
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from mimetypes import guess_type
from threading import Thread
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from flows.runtime.local_server import names_of, origin_of
from flows.service.first_page import LEADERBOARD, first_page, leaderboard_page, stamp_lakes
from flows.service.login import LONGEST_HEAD, STATIC, Dispatch, guard, message_page
from flows.service.run_files import find_file
from flows.service.view_pages import find_run, view_page
from schemas.errors import MoodflowError, UsageError, summarize
from schemas.folders import Folder
from schemas.printing import tell
from tasks.reporting.view.addresses import Address, served
from tasks.reporting.view.site import STYLESHEET, stylesheet

HEADERS = {
    # Pages hold what models wrote: whatever it says, it reaches nothing outside the page.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
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


def page_of_runs(runs: Sequence[str]) -> str:
    """Return where the pages about these runs begin: at the one of a single run, else at the first page."""
    if len(runs) == 1:
        return served(Address("run", runs[0]))
    return f"/?{urlencode([('run', run) for run in runs])}" if runs else "/"


def report_app(lakes: tuple[Folder, ...], hosts: Sequence[str], login: Dispatch) -> Starlette:
    """Return the application; `hosts`: names it answers to, `login`: who is let in."""
    folders = [lake / "runs" for lake in lakes]

    def index(request: Request) -> Response:
        named = tuple(find_run(lakes, name)[1].name for name in request.query_params.getlist("run"))
        return HTMLResponse(first_page(lakes, stamp_lakes(*lakes), named), headers=COMPLETE)

    def leaderboard(request: Request) -> Response:
        try:
            lake = lakes[request.path_params["lake"]]
            page = leaderboard_page(lake, request.path_params["benchmark"], stamp_lakes(lake))
        except (IndexError, MoodflowError) as error:
            raise HTTPException(404, "there is no such leaderboard") from error
        return HTMLResponse(page, headers=COMPLETE)

    def static(request: Request) -> Response:
        if request.path_params["name"] != STYLESHEET:
            raise HTTPException(404, "there is no such file")
        return Response(stylesheet(), media_type="text/css")

    def file(request: Request) -> Response:
        try:
            if path := find_file(folders, request.path_params["run"], request.path_params["name"]):
                kind = guess_type(path.name)[0] or "application/octet-stream"
                return Response(path.read_bytes(), media_type=kind, headers=COMPLETE)
        except (OSError, ValueError, MoodflowError):
            pass  # it went away, may not be read, or its name is too long: for the browser, it is not there
        raise HTTPException(404, "there is no such file")

    routes = [
        Route("/", index),
        Route(f"/{LEADERBOARD}/{{lake:int}}/{{benchmark}}", leaderboard),
        Route("/view/{run}/{kind}", partial(view_page, lakes)),
        Route(f"{STATIC}{{name}}", static),
        Route("/{run}/{name}", file),
    ]
    own_names = Middleware(TrustedHostMiddleware, allowed_hosts=hosts)
    shield, let_in = (Middleware(BaseHTTPMiddleware, dispatch=dispatch) for dispatch in (_shield(), login))
    app = Starlette(
        routes=routes,
        middleware=[shield, own_names, let_in],
        exception_handlers={HTTPException: lambda _, error: _refuse(error)},
    )
    app.router.redirect_slashes = False
    return app


def _shield() -> Dispatch:
    """Return the middleware that makes few pages at a time, and that every response leaves with its headers."""
    turns = asyncio.Semaphore(MOST_AT_ONCE)

    async def dispatch(request: Request, call_next: RequestResponseEndpoint) -> Response:
        try:
            async with turns:
                response = await call_next(request)
        except Exception as error:  # noqa: BLE001  whatever a page stumbles over is told in words
            response = _refuse(error)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return dispatch


def _refuse(error: Exception) -> Response:
    """Return what is wrong as a page: with the request, or with the lake."""
    if isinstance(error, HTTPException):
        response = message_page(error.status_code, error.detail)
        response.headers.update(error.headers or {})
        return response
    if isinstance(error, MoodflowError):
        return message_page(400 if isinstance(error, UsageError) else 409, str(error))
    tell(f"a page could not be made: {type(error).__name__}: {summarize(error)}")
    return message_page(500, "this page could not be made\nThe terminal of the server says why.")


@contextmanager
def serve_reports(listening: socket.socket, lakes: Sequence[Folder], token: str, *, stays: bool = False) -> Iterator[str]:
    """Serve the reports of these lakes on a listening socket while the block runs; yields the address, without the token.

    `stays`: the token is the same after a restart.
    """
    origin = origin_of(listening)
    # Browsers send a cookie to all ports of a host: under one name, servers would overwrite each other's.
    login = guard(token, f"moodflow-{origin.rpartition(':')[2]}", stays=stays)
    app = report_app(tuple(lakes), names_of(listening), login)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=LONGEST_HEAD,
            timeout_graceful_shutdown=1,
        )
    )
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield origin
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
