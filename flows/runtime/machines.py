"""What a machine brings to a run: the code on it, the packages that compute, and whether it sees lake and server."""

import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import httpx

from schemas.errors import MoodflowError
from schemas.folders import Folder

COMPUTING = ("polars", "numpy", "pyarrow", "prefect")
"""Packages whose version may change the last bits of a score, or what is sent to a worker."""

ROOT = Path(__file__).resolve().parents[2]
OURS = ("flows", "tasks", "schemas", "data")
LOADED = {".py", ".yaml", ".json", ".jsonl", ".md", ".csv", ".txt"}

SERVER_LIMIT_S = 10.0


class WorkerMachine(NamedTuple):
    """What a worker says of itself. `versions` by package; `problems` in sentences, none = it can work."""

    versions: dict[str, str]
    problems: tuple[str, ...] = ()


def describe_machine() -> WorkerMachine:
    """Versions of this machine's code, its Python and the packages that compute."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = {package: _version_of(package) for package in ("moodflow", *COMPUTING)}
    return WorkerMachine({**packages, "python": python, "code": _code_sha256()[:12]})


@cache
def _code_sha256() -> str:
    """Hash of our modules and data as they are when this is first asked for, which is when a worker loads them.

    Neither version nor commit tell of a checkout that was changed, nor of a worker that still runs what was there before.
    """
    files = sorted(path for folder in OURS for path in (ROOT / folder).rglob("*") if path.suffix in LOADED)
    names = (f"{path.relative_to(ROOT).as_posix()} {sha256(path.read_bytes()).hexdigest()}" for path in files)
    return sha256("\n".join(names).encode()).hexdigest()


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def look_around(token: Folder, server: str | None) -> WorkerMachine:
    """What this machine is, and whether it can do its part of a run; called on every worker.

    Args:
        token: a file that was just written to the lake.
        server: address of the API of the Prefect server, where task runs are recorded.
    """
    problems = []
    try:
        if not token.is_file():
            problems.append(f"it has no {token.parent}, or another folder of that name")
    except (MoodflowError, OSError, ImportError) as error:
        problems.append(f"it cannot read {token.parent}, {str(error).splitlines()[0]}")
    if server and not _answers(server):
        problems.append(f"it does not reach the Prefect server at {server}")
    return WorkerMachine(describe_machine().versions, tuple(problems))


def _answers(server: str) -> bool:
    try:
        return httpx.get(f"{server}/health", timeout=SERVER_LIMIT_S, trust_env=False).is_success
    except httpx.HTTPError:
        return False
