"""The process of a local Prefect server: a script, which imports nothing of ours."""

import asyncio
import gc
import os
import socket
import sys
from pathlib import Path
from threading import Thread
from typing import Any

from filelock import FileLock
from starlette.middleware.trustedhost import TrustedHostMiddleware

DATABASE_FAILED = 4
"""Exit status after which the last two lines of the output are the database, and what is wrong with it."""


def end_with_parent() -> None:
    """End this process as soon as its parent is gone, which closes its standard input."""
    while os.read(0, 1):
        pass
    os._exit(0)


def take_lock_at_once(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> tuple[str, Any]:
    """Return the statement with which a transaction begins on SQLite as one that waits for other writers.

    Prefect's begin by reading. Such a one is refused at once where another has written meanwhile, however long the timeout,
    and Prefect's clients send the request again 2 s later, then 4.
    """
    return ("BEGIN IMMEDIATE" if statement == "BEGIN DEFERRED" else statement), parameters


def prefect_home(states: Path) -> Path:
    """Return the folder of Prefect's data, made and named to Prefect and to processes started from here.

    The user's, if a variable or a settings file names one; else one in MoodFlow's state folder for this version of Prefect.
    `~/.prefect` belongs to whatever Prefect the user has besides, whose database this one may be unable to read.
    """
    from prefect import __version__, context, settings  # noqa: PLC0415

    current = settings.get_current_settings()
    home = current.home
    if "home" not in current.model_fields_set:
        home = states / f"prefect-{__version__}"
        os.environ["PREFECT_PROFILES_PATH"] = str(current.profiles_path)  # the user's settings still hold
        os.environ["PREFECT_HOME"] = str(home)
    home.mkdir(parents=True, exist_ok=True)
    context.refresh_global_settings_context()
    return home


def make_database(states: Path) -> None:
    """Have Prefect make its database, or bring it up to date; of servers that start together, one does."""
    from prefect.server.database import provide_database_interface  # noqa: PLC0415
    from prefect.settings import get_current_settings  # noqa: PLC0415
    from sqlalchemy import Engine, event, make_url  # noqa: PLC0415

    event.listen(Engine, "before_cursor_execute", take_lock_at_once, retval=True)
    address = str(states)
    try:
        home = prefect_home(states)
        database = get_current_settings().server.database
        url = database.connection_url.get_secret_value() if database.connection_url else ""
        address = str(make_url(url)).removeprefix("sqlite+aiosqlite:///")  # without password
        if database.migrate_on_start:
            with FileLock(home / "migration.lock"):
                asyncio.run(provide_database_interface().create_db())
    except Exception as error:  # noqa: BLE001  whatever databases and their drivers raise
        sys.stdout.write(f"\n{address}\n{(str(error) or type(error).__name__).splitlines()[0]}\n")
        sys.exit(DATABASE_FAILED)


def main(kind: str, states: str, descriptor: str, *names: str) -> None:
    """Serve Prefect's API on an inherited socket until a signal comes, to these host names only.

    A `temporary` server is without pages and schedules; `states` is MoodFlow's state folder.
    """
    Thread(target=end_with_parent, daemon=True).start()
    # Half a second of the start is garbage collection among what is imported.
    gc.disable()
    import uvicorn  # noqa: PLC0415  seconds in which the parent may be gone
    from prefect.server.api.server import create_app  # noqa: PLC0415

    make_database(Path(states))
    app = TrustedHostMiddleware(create_app(ephemeral=kind == "temporary"), names)
    gc.freeze()
    gc.enable()
    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1)  # seconds for requests under way
    server = uvicorn.Server(config)
    server.run(sockets=[socket.socket(fileno=int(descriptor))])
    sys.exit(not server.started)


if __name__ == "__main__":
    main(*sys.argv[1:])
