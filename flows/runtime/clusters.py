"""Connect a Dask cluster that is there already, and check that every worker can do its part."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
from prefect.settings import PREFECT_API_URL

from schemas.dataset import BundledFile, DatasetSpec, PinnedFile
from schemas.errors import ClusterError, MoodflowError, UsageError
from schemas.extras import require_extra
from schemas.folders import Folder
from schemas.plan import Plan
from tasks.lake.files import replace_file

CONNECT_LIMIT_S = 30.0
COMPUTING = ("polars", "numpy", "pyarrow", "prefect")
"""Packages whose version may change the last bits of a score, or what is sent to a worker."""

ROOT = Path(__file__).resolve().parents[2]
OURS = ("flows", "tasks", "schemas", "data")
LOADED = {".py", ".yaml", ".json", ".jsonl", ".md", ".csv", ".txt"}


class WorkerMachine(NamedTuple):
    """Versions on a machine by package, and its problems as clauses; none: it can work."""

    versions: dict[str, str]
    problems: tuple[str, ...] = ()


INSTALL = "install this version of MoodFlow for the scheduler and every worker, and start them again"
SHARE = "use --lake s3://BUCKET/PREFIX or a shared folder; have PREFECT_API_URL name a server that every worker reaches"


def may_travel(spec: DatasetSpec) -> bool:
    """Return whether a dataset can be built on any machine: its files come with the package, or their content is pinned.

    A user's own file is on the user's machine. A file that nothing pins was fetched here, and the key rests on that content.
    """
    return all(isinstance(file, BundledFile) or (isinstance(file, PinnedFile) and bool(file.sha256)) for file in spec.files)


def require_runner(plan: Plan) -> None:
    """Check, without waiting for anything that starts, that something listens where the plan says that its cluster is."""
    if plan.runner == "local":
        return
    require_extra("dask", "the runner dask", "--set runner, here and on every worker")
    try:
        socket.create_connection(split_address(plan), timeout=CONNECT_LIMIT_S).close()
    except OSError as error:
        raise _unreachable(plan, error) from error


def split_address(plan: Plan) -> tuple[str, int]:
    """Return host and port of the plan's cluster; UsageError: its address has none."""
    host, _, port = (plan.runner_address or "").rpartition("//")[2].rpartition(":")
    if host and port.isdecimal():
        return host.strip("[]"), int(port)
    raise UsageError(
        "the address of a cluster needs a host and a port",
        where="--set runner_address",
        expected="such as 10.0.0.5:8786",
        got=plan.runner_address,
        next_step="give host and port of the scheduler, such as 10.0.0.5:8786",
    )


def _unreachable(plan: Plan, error: Exception) -> ClusterError:
    next_step = "start the cluster or correct the address; runner=local needs none"
    return cluster_error(plan, "the dask cluster cannot be reached", "a scheduler that listens there", error, next_step)


def cluster_error(plan: Plan, what: str, expected: str | None, got: str | Exception, next_step: str) -> ClusterError:
    """Return what is wrong with the cluster of a plan; an exception is told in one line of at most 300 characters."""
    told = got if isinstance(got, str) else " ".join(f"{type(got).__name__}: {got}".split())[:300]
    where = f"--set runner_address={plan.runner_address}"
    return ClusterError(what, where=where, expected=expected, got=told, next_step=next_step)


@asynccontextmanager
async def open_cluster(plan: Plan, lake: Folder) -> AsyncIterator[Any]:
    """Connect the cluster of a plan, every worker of which can do its part; yields Prefect's task runner for it.

    A lake on a disk is named by its absolute path. A cluster that cannot be used is a UsageError or a ClusterError.
    """
    require_runner(plan)
    from prefect_dask.task_runners import DaskTaskRunner  # noqa: PLC0415

    with DaskTaskRunner(address=plan.runner_address, client_kwargs={"timeout": CONNECT_LIMIT_S}) as runner:
        try:
            client = runner.client  # it connects when it is asked for
        except (OSError, ValueError) as error:
            raise _unreachable(plan, error) from error
        await asyncio.to_thread(_require_able, client, plan, lake)
        yield runner


def _require_able(client: Any, plan: Plan, lake: Folder) -> None:
    """Raise ClusterError unless every worker has our code and sees the lake and the Prefect server."""
    token = lake / f".cluster-{uuid4().hex}"
    replace_file(token, b"")
    try:
        look = partial(look_around, token, PREFECT_API_URL.value())
        machines: dict[str, WorkerMachine | Exception] = dict(client.run(look, on_error="return"))
    finally:
        token.unlink()
    if machines:
        try:  # the scheduler unpacks every task before it hands it on
            machines["scheduler"] = client.run_on_scheduler(describe_machine)
        except Exception as error:  # noqa: BLE001  reported with the others
            machines["scheduler"] = error
    unable = partial(cluster_error, plan, "the dask cluster cannot do this run")
    if not machines:
        raise unable("at least one worker", "none", "start workers, then run the same command again")
    for address, machine in machines.items():
        if isinstance(machine, Exception):
            raise unable(f"MoodFlow on every machine of the cluster, {address} too", machine, INSTALL)
        if differences := list_differences(machine):
            raise unable("the same versions on every machine", f"{address} has {differences}", INSTALL)
        if machine.problems:
            raise unable("workers that reach lake and server", f"{address}: {'; '.join(machine.problems)}", SHARE)


def list_differences(machine: WorkerMachine) -> str:
    """Return what another machine has in other versions than this one; empty if nothing."""
    ours = describe_machine().versions
    return ", ".join(
        f"{name} {machine.versions.get(name)} and not {ours[name]}" for name in ours if machine.versions.get(name) != ours[name]
    )


def describe_machine() -> WorkerMachine:
    """Return versions of this machine's code, its Python and the packages that compute."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = {package: _version_of(package) for package in ("moodflow", *COMPUTING)}
    return WorkerMachine({**packages, "python": python, "code": _code_sha256()[:12]})


@cache
def _code_sha256() -> str:
    """Hash our modules and data as they are when this is first asked for, which is when a worker loads them.

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
    """Return what this machine is, and whether it sees a file just written to the lake and the API of the Prefect server."""
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
        return httpx.get(f"{server}/health", timeout=60.0, trust_env=False).is_success
    except httpx.HTTPError:
        return False
