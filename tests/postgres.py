"""A PostgreSQL server on loopback, from Debian's package `postgresql`, with an empty database."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.clusters import free_port

NAME = "prefect"
"""Of database and user, as compose.yaml has them."""


def programs() -> Path:
    """The folder of the newest version's programs; the test is skipped where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parents[1].name))
    if not found:
        pytest.skip("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql")
    return found[-1].parent


@contextmanager
def postgres(password: str) -> Iterator[int]:
    """Start it; yields its port on 127.0.0.1. It takes no orders from root, so that root starts it as the package's user."""
    user = "postgres" if os.geteuid() == 0 else None
    with TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        (folder / "password").write_text(password, encoding="utf-8")
        if user:
            for path in (folder, folder / "password"):
                shutil.chown(path, user)

        def run(program: str, *arguments: str) -> None:
            command = [str(programs() / program), *arguments]
            with (folder / "log").open("ab") as log:
                subprocess.run(
                    command, user=user, cwd=folder, stdout=log, stderr=log, check=True, env={**os.environ, "PGPASSWORD": password}
                )

        run("initdb", "-D", "data", "-U", NAME, "--auth=scram-sha-256", "--pwfile=password", "--encoding=UTF8", "--no-sync")
        options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off"
        run("pg_ctl", "-D", "data", "-w", "-o", options, "start")
        try:
            run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", NAME, NAME)
            yield port
        finally:
            run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
