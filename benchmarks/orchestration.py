"""What Prefect costs: the inference and scoring stages of a run as flows, against the same steps as plain function calls.

A blueprint of 60 datasets with 300 items each, asked of a stub in a process of its own that answers every call after 20 ms. Items
are built beforehand. Each measurement has a fresh process, a fresh lake and a fresh stub:

    flows   `run_inference` and `score` against a Prefect server that runs already, as scheduled runs do: flow runs, one task run
            per partition, states, logs, progress and events included; the server works on the same cores
    plain   the functions under the same steps, gathered: same client, journal, lake, Parquet files and numbers

Both must make the same calls and find the same total. The ratio of the medians is printed, whole and by stage.

Usage: python benchmarks/orchestration.py [--partitions 60] [--items 300] [--latency-ms 20] [--repeats 3]
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402  the project is imported from its folder
import yaml  # noqa: E402

from benchmarks.peers.servers import prefect_server, stub_server  # noqa: E402
from benchmarks.silent_listener import Silent  # noqa: E402
from flows.runtime.local_server import configure_prefect  # noqa: E402

AIM = 0.10
"""Most that the flows may take beyond the plain calls."""


class Size(NamedTuple):
    """What is asked of whom."""

    partitions: int
    items: int
    latency_ms: int
    concurrency: int

    @property
    def calls(self) -> int:
        """One per item."""
        return self.partitions * self.items


class Timed(NamedTuple):
    """One measurement: seconds of both stages, and the total it found."""

    infer_s: float
    score_s: float
    total: float

    @property
    def whole_s(self) -> float:
        """Both stages."""
        return self.infer_s + self.score_s


def main() -> None:
    """Measure in turns, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=60)
    parser.add_argument("--items", type=int, default=300, help="per partition")
    parser.add_argument("--latency-ms", type=int, default=20, help="of every answer")
    parser.add_argument("--concurrency", type=int, default=64, help="calls in flight")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", choices=tuple(MEASURES), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = Size(options.partitions, options.items, options.latency_ms, options.concurrency)
    if options.measure:
        print(json.dumps(asyncio.run(MEASURES[options.measure](size, options.folder, options.base_url))))
        return
    print(f"{size.partitions} partitions x {size.items} calls x {size.latency_ms} ms, {size.concurrency} in flight")
    with tempfile.TemporaryDirectory(prefix="moodflow-orchestration-") as folder:
        write_benchmark(Path(folder), size)
        configure_prefect("CRITICAL")
        with prefect_server(Path(folder), os.environ) as environ:
            report(measure_in_turns(size, Path(folder), environ, options.repeats))


def measure_in_turns(size: Size, folder: Path, environ: Mapping[str, str], repeats: int) -> Mapping[str, list[Timed]]:
    """Each way as often as asked, one after the other, so that a slow minute of the machine meets both.

    Raises:
        RuntimeError: if two measurements do not find the same total.
    """
    found: dict[str, list[Timed]] = {name: [] for name in MEASURES}
    for turn in range(repeats):
        for name in MEASURES:
            found[name].append(measured := fresh(name, size, folder, environ))
            print(f"  {turn + 1}. {name:6s} infer {measured.infer_s:6.2f} s, score {measured.score_s:6.2f} s", flush=True)
    if len(totals := {measured.total for way in found.values() for measured in way}) != 1:
        raise RuntimeError(f"expected one total of all measurements, got {sorted(totals)}")
    return found


def fresh(name: str, size: Size, folder: Path, environ: Mapping[str, str]) -> Timed:
    """One measurement in a process of its own.

    Raises:
        RuntimeError: if the stub did not get one call per item, and the probe of a model that is new to the lake.
    """
    with stub_server(size.latency_ms) as (stub, base_url):
        given = {
            "partitions": size.partitions,
            "items": size.items,
            "latency-ms": size.latency_ms,
            "concurrency": size.concurrency,
        }
        options = [f"--{option}={value}" for option, value in given.items()]
        command = [sys.executable, __file__, f"--measure={name}", f"--folder={folder}", f"--base-url={base_url}", *options]
        client = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**environ})
        answered = json.loads(stub.communicate()[0])["answered"]
    if answered != size.calls + 1:
        raise RuntimeError(f"{name}: expected {size.calls + 1} calls at the stub, got {answered}")
    return Timed(*json.loads(client.stdout))


def report(found: Mapping[str, list[Timed]]) -> None:
    """Print medians, and how much longer the flows take."""
    for stage in ("infer_s", "score_s", "whole_s"):
        flows, plain = (statistics.median(getattr(measured, stage) for measured in found[name]) for name in ("flows", "plain"))
        aim = f" (aim under {AIM:.0%})" if stage == "whole_s" else ""
        print(f"{stage.removesuffix('_s'):6s} flows {flows:6.2f} s, plain {plain:6.2f} s: {flows / plain - 1:+.1%}{aim}")


def write_benchmark(folder: Path, size: Size) -> None:
    """A blueprint and the items of its datasets."""
    names = [f"made_{number:03d}" for number in range(size.partitions)]
    methods = [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]
    tasks = [{"id": f"task_{name}", "title": name, "level": "high", "datasets": [name]} for name in names]
    blueprint = {
        "name": "orchestration",
        "title": "Made items",
        "version": "1.0",
        "source": "made by this benchmark",
        "level_rules": [{"weights": {"high": 1}}],
        "abilities": [{"id": "choosing", "title": "Choosing", "tasks": tasks}],
        "datasets": {name: {"title": name, "source": {"path": f"{name}.jsonl"}, "methods": methods} for name in names},
    }
    (folder / "orchestration.yaml").write_text(yaml.safe_dump(blueprint, sort_keys=False), encoding="utf-8")
    for place, name in enumerate(names):
        lines = [json.dumps(made_item(name, place * size.items + number)) for number in range(size.items)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def made_item(name: str, number: int) -> dict[str, Any]:
    """A single choice of four; every fourth has the letter that the stub answers."""
    return {
        "item_id": f"{name}-{number:06d}",
        "language": "en",
        "question_type": "single_choice",
        "context": f"Conversation {number}. " + "They talked for a while, and one of them said how the day had been. " * 9,
        "question": f"What does the speaker of conversation {number} most likely feel at the end of it?",
        "options": [f"{mood} about what was said in conversation {number}" for mood in ("glad", "sad", "angry", "afraid")],
        "gold_indices": [number % 4],
        "references": None,
        "option_points": None,
    }


async def measure_flows(size: Size, folder: Path, base_url: str) -> Timed:
    """Both stages as a run does them."""
    from flows.infer import run_inference  # noqa: PLC0415  after the environment is set
    from flows.planning.resolve import resolve  # noqa: PLC0415
    from flows.planning.usage import open_budget  # noqa: PLC0415
    from flows.score import score  # noqa: PLC0415

    plan = await prepared_plan(size, folder, base_url)
    started = time.perf_counter()
    resolved = resolve(plan)
    await run_inference(resolved, open_budget(resolved.plan))
    asked = time.perf_counter()
    scored = await score(resolved)
    return Timed(asked - started, time.perf_counter() - asked, read_total(plan, scored.refs))


async def measure_plain(size: Size, folder: Path, base_url: str) -> Timed:
    """The functions under the same steps."""
    from flows.planning.jobs import scorable  # noqa: PLC0415  after the environment is set
    from flows.planning.resolve import resolve  # noqa: PLC0415
    from flows.planning.score_jobs import aggregate_job  # noqa: PLC0415
    from flows.runtime.endpoints import Endpoint, open_endpoints  # noqa: PLC0415
    from tasks.metrics.steps import score_partition  # noqa: PLC0415
    from tasks.models.cost import Budget  # noqa: PLC0415
    from tasks.scoring.steps import aggregate  # noqa: PLC0415
    from tasks.solvers.infer_job import InferJob  # noqa: PLC0415
    from tasks.solvers.state import RoleModel, SolverResources  # noqa: PLC0415
    from tasks.solvers.steps import infer_partition  # noqa: PLC0415

    plan = await prepared_plan(size, folder, base_url)
    started = time.perf_counter()
    resolution = resolve(plan)
    lake = resolution.lake

    async def ask(job: InferJob, endpoint: Endpoint) -> None:
        resources = SolverResources({"tested": RoleModel(job.entry, endpoint.chat)})
        await infer_partition.fn(job, lake, resources, endpoint.pool.do_all, {"tested": Silent()})

    async with open_endpoints(resolution.plan, lake, Budget()) as endpoints:
        jobs = [infer for job in resolution.jobs if (infer := job.infer_job())]
        await asyncio.gather(*(ask(job, endpoints[job.entry]) for job in jobs))
    asked = time.perf_counter()
    scores = [one.score_job for one in scorable(resolution.jobs)]
    refs = await asyncio.gather(*(score_partition.fn(job, lake) for job in scores))
    layers = await aggregate.fn(aggregate_job(resolution, list(refs)), lake)
    return Timed(asked - started, time.perf_counter() - asked, read_total(plan, layers))


MEASURES = {"flows": measure_flows, "plain": measure_plain}


async def prepared_plan(size: Size, folder: Path, base_url: str) -> Any:
    """The plan, its items built and its model probed in a lake of its own."""
    from flows.build import build_datasets  # noqa: PLC0415  after the environment is set
    from flows.planning.resolve import resolve  # noqa: PLC0415
    from flows.runtime.probing import ensure_probed  # noqa: PLC0415
    from schemas.chat import ModelEntry  # noqa: PLC0415
    from schemas.plan import Plan  # noqa: PLC0415
    from tasks.models.cost import Budget  # noqa: PLC0415

    entry = ModelEntry(name="stub", base_url=base_url, concurrency=size.concurrency)
    lake = Path(tempfile.mkdtemp(prefix="lake-", dir=folder))
    plan = Plan(benchmark=str(folder / "orchestration.yaml"), models=(entry,), lake=lake, sample=size.items)
    await build_datasets(resolve(plan))
    await ensure_probed(lake, list(plan.models), Budget())
    return plan


def read_total(plan: Any, refs: Any) -> float:
    """The one total among the partitions of the score stage."""
    path = next(ref.path for ref in refs if ref.layer == "totals")
    return float(pl.read_parquet(plan.lake / path, hive_partitioning=False)["total"].item())


if __name__ == "__main__":
    main()
