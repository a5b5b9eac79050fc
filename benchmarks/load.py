"""What a large run costs: memory while it asks, seconds of the commands that read its lake, bytes of its report.

A stub in a process of its own answers every call at once. Each part has a fresh process; Prefect takes no part:

    items     60,000 items of one dataset, asked of one model: how far memory grows from the 10,000th reply on
    commands  `moodflow runs list`, `explain` and `verify` on the lake of that, from start to exit
    models    200 models, each asked the 326 items of moodbench-mini that need no judge: memory likewise, then bytes of the report

Seconds are printed as wall and as CPU (user and system): on a machine that others use, the first says little.

Usage: python benchmarks/load.py [--calls 60000] [--models 200] [--parts items,models]
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.orchestration import Size, write_benchmark  # noqa: E402  the project is imported from its folder
from benchmarks.peers.servers import stub_server  # noqa: E402
from schemas.chat import ChatReply, ModelEntry  # noqa: E402
from schemas.plan import Plan  # noqa: E402

FROM_CALL = 10_000
MOST_GROWTH_MB, MOST_REPORT_MB = 50, 6
COMMANDS = {"runs list": (2.0, 8.0), "explain": (4.0, 11.0), "verify": (25.0, 54.0)}
"""Limit and former time in seconds."""

ENTRY_POINT = "from flows.cli import main; main()"


class Memory:
    """A progress listener that notes how much memory this process holds, every hundred replies."""

    def __init__(self) -> None:
        self.held_mb: dict[int, float] = {}
        self._replies = 0

    def expect(self, calls: int) -> None:
        """Nothing is shown."""

    def on_reply(self, reply: ChatReply) -> None:  # noqa: ARG002  a listener's method
        """Count, and look now and then."""
        self._replies += 1
        if self._replies % 100 == 0:
            lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
            self.held_mb[self._replies] = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))


class Took(NamedTuple):
    """Seconds of a command."""

    wall_s: float
    cpu_s: float


def main() -> None:
    """Measure each part, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=60_000, help="about the one dataset")
    parser.add_argument("--models", type=int, default=200, help="of the other run")
    parser.add_argument("--parts", default="items,models", help="comma-separated")
    parser.add_argument("--measure", choices=("items", "models"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(asyncio.run(make_run(make_plan(options)))))
        return
    for part in options.parts.split(","):
        with tempfile.TemporaryDirectory(prefix="moodflow-load-") as folder:
            report_memory(part, fresh(part, options, Path(folder)))
            (run,) = (Path(folder) / "lake" / "runs").iterdir()
            if part == "models":
                report_page(run)
                continue
            for name, limits in COMMANDS.items():
                named = [] if name == "runs list" else [run.name]
                report_command(name, time_command([*name.split(), *named, "--lake", str(run.parents[1])]), *limits)


def report_memory(what: str, held_mb: dict[str, float]) -> None:
    """Print how memory grew."""
    calls = max(map(int, held_mb))
    first = min(FROM_CALL, calls)
    grown = held_mb[str(calls)] - held_mb[str(first)]
    per_call = grown * 2**20 / max(1, calls - first)
    print(f"{what}: {held_mb[str(first)]:.0f} MB at call {first:,}, {held_mb[str(calls)]:.0f} MB at call {calls:,}:", end=" ")
    print(f"{grown:+.1f} MB, {per_call:+.0f} bytes per call (at most {MOST_GROWTH_MB} MB)", flush=True)


def report_page(folder: Path) -> None:
    """Print how large the report is."""
    pages = sorted(folder.glob("report*.html"))
    page, every = (folder / "report.html").stat().st_size, sum(path.stat().st_size for path in pages)
    print(f"report.html: {page / 1e6:.2f} MB (at most {MOST_REPORT_MB} MB);", end=" ")
    print(f"{len(pages) - 1} pages beside it: {(every - page) / 1e6:.2f} MB")


def report_command(name: str, took: Took, limit_s: float, former_s: float) -> None:
    """Print how long a command took, and its share of the limit and of the former time."""
    print(
        f"{name:10s} {took.wall_s:6.2f} s, CPU {took.cpu_s:6.2f} s (at most {limit_s:g} s: {took.wall_s / limit_s:.0%};", end=" "
    )
    print(f"was {former_s:g} s: {took.wall_s / former_s:.0%})", flush=True)


def fresh(part: str, options: argparse.Namespace, folder: Path) -> dict[str, float]:
    """Measure in a process of its own against a fresh stub; memory in MB by the number of replies."""
    with stub_server(0) as (_, base_url):
        given = [f"--calls={options.calls}", f"--models={options.models}", f"--folder={folder}"]
        command = [sys.executable, __file__, f"--measure={part}", f"--base-url={base_url}", *given]
        found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found


def time_command(arguments: list[str]) -> Took:
    """Run a command from start to exit; what it prints is dropped.

    Raises:
        RuntimeError: if it fails.
    """
    started = time.perf_counter()
    command = [sys.executable, "-c", ENTRY_POINT, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: expected status 0, got {process.returncode}")
    return Took(time.perf_counter() - started, used.ru_utime + used.ru_stime)


def make_plan(options: argparse.Namespace) -> Plan:
    """One model about one dataset, or many about moodbench-mini."""
    lake = options.folder / "lake"
    if options.measure == "models":
        names = [f"stub-{number:03d}" for number in range(options.models)]
        return Plan(benchmark="moodbench-mini", models=tuple(made_models(names, options.base_url)), lake=lake)
    write_benchmark(options.folder, Size(1, options.calls, 0, 0))
    models = tuple(made_models(["stub"], options.base_url))
    return Plan(benchmark=str(options.folder / "orchestration.yaml"), models=models, lake=lake, sample=options.calls)


def made_models(names: list[str], base_url: str) -> Iterator[ModelEntry]:
    """Models of these names behind one stub."""
    for name in names:
        yield ModelEntry(name=name, base_url=base_url)


async def plain(step: Any, *arguments: Any) -> Any:
    """Call the function under a step."""
    return await step.fn(*arguments)


async def build_and_ask(plan: Plan) -> tuple[Any, Memory]:
    """Build the items and ask every model, as the flows do; the plan resolved, and what was noted."""
    from flows.planning.resolve import resolve  # noqa: PLC0415  takes seconds
    from flows.runtime.endpoints import Endpoint, open_endpoints  # noqa: PLC0415
    from tasks.datasets.steps import BuildJob, build_partition  # noqa: PLC0415
    from tasks.models.cost import Budget  # noqa: PLC0415
    from tasks.solvers.infer_job import InferJob  # noqa: PLC0415
    from tasks.solvers.state import RoleModel, SolverResources  # noqa: PLC0415
    from tasks.solvers.steps import infer_partition  # noqa: PLC0415
    from tasks.sources.locating import Locator  # noqa: PLC0415

    resolved, memory = resolve(plan), Memory()
    for selected in resolved.selected:
        job = BuildJob(
            selected.spec, resolved.built_keys(selected), resolved.sample(selected), plan.seed, plan.contexts, required=True
        )
        await plain(build_partition, job, resolved.lake, Locator.for_mirror(None))

    async def answer(job: InferJob, endpoint: Endpoint) -> None:
        resources = SolverResources({"tested": RoleModel(job.entry, endpoint.chat)})
        await plain(infer_partition, job, resolved.lake, resources, endpoint.pool.do_all, {"tested": memory})

    async with open_endpoints(resolved.plan, resolved.lake, Budget()) as endpoints:
        jobs = [infer for job in resolved.jobs if not job.judges and (infer := job.infer_job())]
        await asyncio.gather(*(answer(job, endpoints[job.entry]) for job in jobs))
    return resolved, memory


async def make_run(plan: Plan) -> dict[int, float]:
    """Memory while the models are asked; a whole run is left in the lake."""
    from flows.planning.jobs import scorable  # noqa: PLC0415  takes seconds
    from flows.planning.resolve import name_run  # noqa: PLC0415
    from flows.planning.run_manifest import describe  # noqa: PLC0415
    from flows.planning.score_jobs import aggregate_job, stored_partitions  # noqa: PLC0415
    from schemas.plan import ReportRequest  # noqa: PLC0415
    from tasks.metrics.steps import score_partition  # noqa: PLC0415
    from tasks.reporting.run_files import ReportJob  # noqa: PLC0415
    from tasks.reporting.steps import write_report_files  # noqa: PLC0415
    from tasks.scoring.steps import aggregate  # noqa: PLC0415

    resolved, memory = await build_and_ask(plan)
    lake, started = resolved.lake, datetime.now(UTC)
    scores = [await plain(score_partition, one.score_job, lake) for one in scorable(resolved.jobs)]
    await plain(aggregate, aggregate_job(resolved, scores), lake)
    request = ReportRequest(run=name_run(plan, started), started_at=started.isoformat(timespec="seconds"))
    manifest = describe(request, resolved, stored_partitions(resolved))
    await plain(write_report_files, ReportJob(manifest, resolved.blueprint), lake)
    return memory.held_mb


if __name__ == "__main__":
    main()
