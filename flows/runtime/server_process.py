"""The process of a local Prefect server: a script, which imports nothing of ours."""

import asyncio
import gc
import os
import socket
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Any

RECORD_AFTER_S = 0.2
"""Time in which task runs gather before they are recorded together: the end of a command waits for the last of them."""

END_LIMIT_S = 1.0
"""Longest time that requests under way are waited for at the end."""

STARTUP_FAILED = 3

NEW_DATABASE = Path(__file__).resolve().parents[2] / "data" / "prefect_database.sql"
"""The tables of an empty database."""


def _end_with_parent() -> None:
    """End this process as soon as its parent is gone, which closes its standard input."""
    while os.read(0, 1):
        pass
    os._exit(0)


def _use_one_connection() -> None:
    """Have Prefect's server use SQLite through one connection, as Prefect itself does for a database in memory, and at once.

    With several, a write that meets another one is refused at once, and its client tries again 2 s later, then 4. And for each
    step of a query aiosqlite wakes a thread that waits for it, which takes longer than SQLite does: half of a new database.
    """
    import aiosqlite  # noqa: PLC0415
    from prefect.server.database import configurations  # noqa: PLC0415
    from sqlalchemy.engine.url import make_url  # noqa: PLC0415
    from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine  # noqa: PLC0415

    def engine(url: str, **options: Any) -> AsyncEngine:
        if url.startswith("sqlite"):
            make_database(make_url(url).database or "")
            of_any_thread = {**options.pop("connect_args", {}), "check_same_thread": False}
            options |= {"pool_size": 1, "max_overflow": 0, "connect_args": of_any_thread}
        return create_async_engine(url, **options)

    async def at_once(_: aiosqlite.Connection, do: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        return do(*arguments, **named)

    vars(configurations)["create_async_engine"] = engine
    aiosqlite.Connection._execute = at_once  # type: ignore[assignment,method-assign]  # noqa: SLF001


def make_database(file: str) -> None:
    """Make a database with all tables where there is none: Prefect, whose 120 migrations take 5 s, has less to migrate then.

    Args:
        file: its path; any other name of a database, such as that of one in memory, is left to Prefect. So is one whose log was
            left behind when it was deleted: SQLite would write that into the new one, and into an empty one it does not.
    """
    if not Path(file).is_absolute() or Path(file).exists() or Path(f"{file}-wal").exists():
        return
    made = Path(f"{file}.{os.getpid()}")
    try:
        with closing(sqlite3.connect(made)) as database:
            database.executescript(NEW_DATABASE.read_text(encoding="utf-8"))
        # Linked, not renamed: another server may have made one. Where a disk knows no links, Prefect migrates.
        with suppress(OSError):
            Path(file).hardlink_to(made)
    finally:
        made.unlink(missing_ok=True)


def record_soon() -> None:
    """Have Prefect's server record task runs RECORD_AFTER_S after they ended; its own setting is cut to whole seconds."""
    from prefect.server.services import task_run_recorder as recorder  # noqa: PLC0415

    usual = recorder.consumer
    vars(recorder)["consumer"] = lambda **options: usual(**{**options, "flush_every": RECORD_AFTER_S})


UNUSED = ("automations", "collections", "deployments", "saved_searches", "task_workers", "ui", "work_pools", "work_queues")
"""First parts of addresses that a command's own flows never ask for: pages, deployments and their workers do."""


def leave_out_routes() -> None:
    """Have Prefect's server make no routes that nobody asks of a temporary server: a third of them, 0.1 s of its start."""
    from prefect.server.utilities.server import PrefectRouter  # noqa: PLC0415

    usual = PrefectRouter.add_api_route

    def add_used(router: PrefectRouter, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if router.prefix.lstrip("/").partition("/")[0] not in UNUSED:
            usual(router, path, endpoint, **options)

    PrefectRouter.add_api_route = add_used  # type: ignore[assignment,method-assign]


def make_one_app() -> None:
    """Have Prefect's server start sooner: this process makes one application.

    It need not be told apart from others by all of Prefect's settings, which take 0.2 s to write out.
    """
    from prefect.settings import Settings  # noqa: PLC0415

    Settings.hash_key = lambda self: "the only one"  # type: ignore[method-assign]  # noqa: ARG005


def prompt_server(config: Any) -> Any:
    """Return uvicorn's server, but one that ends at once: uvicorn looks for signals every 0.1 s, then waits 0.1 s for nobody."""
    import uvicorn  # noqa: PLC0415

    class Server(uvicorn.Server):
        _looking: asyncio.Task[None] | None = None

        async def main_loop(self) -> None:
            self._looking = asyncio.create_task(super().main_loop())
            with suppress(asyncio.CancelledError):
                await self._looking

        def handle_exit(self, sig: int, frame: Any) -> None:
            super().handle_exit(sig, frame)
            if self._looking is not None:
                self._looking.get_loop().call_soon_threadsafe(self._looking.cancel)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            for listening in (*self.servers, *(sockets or ())):
                listening.close()
            for connection in list(self.server_state.connections):
                connection.shutdown()
            if self.server_state.tasks:
                await asyncio.wait(self.server_state.tasks, timeout=END_LIMIT_S)
            await self.lifespan.shutdown()

    return Server(config)


def serve(descriptor: int, names: Sequence[str]) -> None:
    """Serve Prefect's API on an inherited listening socket, under these host names, until a signal comes."""
    Thread(target=_end_with_parent, daemon=True).start()
    # Half a second of the start is garbage collection among what is imported.
    gc.disable()
    if os.environ.get("PREFECT__SERVER_EPHEMERAL"):
        leave_out_routes()
    import uvicorn  # noqa: PLC0415  seconds in which the parent may be gone
    from prefect.server.api.server import create_app  # noqa: PLC0415
    from starlette.middleware.trustedhost import TrustedHostMiddleware  # noqa: PLC0415

    _use_one_connection()
    record_soon()
    make_one_app()
    # Prefect collects garbage once by itself, among all that was imported; half of a second.
    gc.freeze()
    listening = socket.socket(fileno=descriptor)
    app = TrustedHostMiddleware(create_app(), names)
    config = uvicorn.Config(app, log_level="error", lifespan="on")
    config.load()
    gc.freeze()
    gc.enable()
    server = prompt_server(config)
    server.run(sockets=[listening])
    if not server.started:
        sys.exit(STARTUP_FAILED)


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2:])
