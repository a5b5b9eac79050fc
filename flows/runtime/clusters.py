"""Dask and Ray clusters that are there already: connect, look at every worker, run steps on them."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol
from uuid import uuid4

from flows.runtime.machines import WorkerMachine, describe_machine, look_around
from schemas.errors import ClusterError, UsageError
from schemas.folders import Folder
from schemas.plan import Plan
from tasks.lake.files import replace_file

CONNECT_LIMIT_S = 5.0
LOOK_LIMIT_S = 60.0
PORTS = {"dask": 8786, "ray": 6379}
PACKAGES = {"dask": "prefect_dask", "ray": "prefect_ray"}

Seen = dict[str, WorkerMachine | Exception]
"""What each machine of a cluster said, by its address, or why it did not."""

INSTALL = "install this version of MoodFlow for the scheduler and every worker, and start them again"
SHARE = "use --lake s3://BUCKET/PREFIX or a shared folder; have PREFECT_API_URL name a server that every worker reaches"


class Cluster(Protocol):
    """A cluster that is connected."""

    def submit(self, task: Any, parameters: Mapping[str, Any]) -> Any:
        """The Prefect future of a run of the task on one of the workers."""

    def everywhere(self, look: Callable[[], WorkerMachine]) -> Seen:
        """What the workers see; of a scheduler, only what it is."""


class DaskCluster:
    """Workers of a Dask scheduler."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner

    def submit(self, task: Any, parameters: Mapping[str, Any]) -> Any:
        """See Cluster."""
        return self._runner.submit(task, dict(parameters))

    def everywhere(self, look: Callable[[], WorkerMachine]) -> Seen:
        """See Cluster."""
        client = self._runner.client
        seen: Seen = dict(client.run(look, on_error="return"))
        try:
            # It unpacks every task before it hands it on, and so needs our code too.
            return {**seen, "scheduler": client.run_on_scheduler(describe_machine)} if seen else seen
        except Exception as error:  # noqa: BLE001  told below with the others
            return {**seen, "scheduler": error}


class RayCluster:
    """Nodes of a Ray cluster."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner

    def submit(self, task: Any, parameters: Mapping[str, Any]) -> Any:
        """See Cluster."""
        return self._runner.submit(task, dict(parameters))

    def everywhere(self, look: Callable[[], WorkerMachine]) -> Seen:
        """See Cluster."""
        import ray  # noqa: PLC0415
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

        def called() -> WorkerMachine:
            return look()

        asked = {
            node["NodeManagerAddress"]: ray.remote(called)
            .options(num_cpus=0, max_retries=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False))
            .remote()
            for node in ray.nodes()  # type: ignore[no-untyped-call]
            if node["Alive"] and node["Resources"].get("CPU")
        }
        return {address: _got(reference) for address, reference in asked.items()}


def _got(reference: Any) -> WorkerMachine | Exception:
    import ray  # noqa: PLC0415

    try:
        found: WorkerMachine = ray.get(reference, timeout=LOOK_LIMIT_S)
    except Exception as error:  # noqa: BLE001  told below with the others
        return error
    return found


def require_runner(plan: Plan) -> None:
    """See, without waiting for anything that starts, that the cluster of a plan can be there.

    Raises:
        UsageError: the package that speaks to it is not installed, or the address is none.
        ClusterError: nothing listens at its address.
    """
    if plan.runner == "local":
        return
    package = PACKAGES[plan.runner]
    if find_spec(package) is None:
        raise UsageError(
            f"runner {plan.runner} needs a package that is not installed",
            where="--set runner",
            expected=f"the package {package.replace('_', '-')}",
            next_step=f'pip install "moodflow[{plan.runner}]", here and on every worker',
        )
    try:
        socket.create_connection(split_address(plan), timeout=CONNECT_LIMIT_S).close()
    except OSError as error:
        raise _unreachable(plan, error) from error


def split_address(plan: Plan) -> tuple[str, int]:
    """Host and port of the plan's cluster.

    Raises:
        UsageError: its address has none.
    """
    host, _, port = (plan.runner_address or "").rpartition("//")[2].rpartition(":")
    if host and port.isdecimal():
        return host.strip("[]"), int(port)
    raise UsageError(
        "the address of a cluster needs a host and a port",
        where="--set runner_address",
        expected=f"such as 10.0.0.5:{PORTS[plan.runner]}",
        got=plan.runner_address,
    )


def _unreachable(plan: Plan, error: Exception) -> ClusterError:
    return ClusterError(
        f"the {plan.runner} cluster cannot be reached",
        where=f"--set runner_address={plan.runner_address}",
        expected=f"a {'scheduler' if plan.runner == 'dask' else 'head node'} that listens there",
        got=_shortened(error),
        next_step="start the cluster or correct the address; runner=local needs none",
    )


def _shortened(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


@asynccontextmanager
async def open_cluster(plan: Plan, lake: Folder) -> AsyncIterator[Cluster]:
    """The cluster of a plan, every worker of which can do its part.

    Args:
        plan: names it.
        lake: folder of the layers; a local one as an absolute path.

    Raises:
        UsageError, ClusterError: it cannot be used.
    """
    require_runner(plan)
    with _dask(plan) if plan.runner == "dask" else _ray(plan) as cluster:
        await asyncio.to_thread(_require_able, cluster, plan, lake)
        yield cluster


@contextmanager
def _dask(plan: Plan) -> Iterator[Cluster]:
    from prefect_dask.task_runners import DaskTaskRunner  # noqa: PLC0415

    with DaskTaskRunner(address=plan.runner_address, client_kwargs={"timeout": CONNECT_LIMIT_S}) as runner:
        try:
            runner.client  # noqa: B018  it connects when it is asked for
        except (OSError, ValueError) as error:
            raise _unreachable(plan, error) from error
        yield DaskCluster(runner)


@contextmanager
def _ray(plan: Plan) -> Iterator[Cluster]:
    from prefect_ray.task_runners import RayTaskRunner  # noqa: PLC0415

    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    runner = RayTaskRunner(address=plan.runner_address, init_kwargs=quiet)
    try:
        runner.__enter__()
    except (OSError, RuntimeError, ValueError) as error:
        raise _unreachable(plan, error) from error
    try:
        yield RayCluster(runner)
    finally:
        runner.__exit__(None, None, None)


def _require_able(cluster: Cluster, plan: Plan, lake: Folder) -> None:
    """Raise ClusterError unless every worker has our code and sees the lake and the Prefect server."""
    from prefect.settings import PREFECT_API_URL  # noqa: PLC0415

    token = lake / f".cluster-{uuid4().hex}"
    replace_file(token, b"")
    try:
        seen = cluster.everywhere(partial(look_around, token, PREFECT_API_URL.value()))
    finally:
        token.unlink()
    if not seen:
        raise _unable(plan, "at least one worker", "none", "start workers, then run the same command again")
    for address, found in seen.items():
        if isinstance(found, Exception):
            raise _unable(plan, "MoodFlow on every machine of the cluster", f"{address}: {_shortened(found)}", INSTALL)
        if differences := list_differences(found):
            raise _unable(plan, "the same versions on every machine", f"{address} has {differences}", INSTALL)
        if found.problems:
            raise _unable(plan, "workers that reach lake and server", f"{address}: {'; '.join(found.problems)}", SHARE)


def list_differences(found: WorkerMachine) -> str:
    """What another machine has in other versions than this one; empty if nothing."""
    ours = describe_machine().versions
    return ", ".join(
        f"{name} {found.versions.get(name)} and not {ours[name]}" for name in ours if found.versions.get(name) != ours[name]
    )


def _unable(plan: Plan, expected: str, got: str, next_step: str) -> ClusterError:
    where = f"--set runner_address={plan.runner_address}"
    return ClusterError(
        f"the {plan.runner} cluster cannot do this run", where=where, expected=expected, got=got, next_step=next_step
    )
