"""How fast calls go out and replies come in, against what the server allows and against a bare aiohttp loop.

A stub of a model server in a process of its own answers each call after 0, 20 or 200 ms, over 16, 64 or 256 connections. Each
measurement has a fresh process and a fresh stub:

    ours    items as prompts through the client and the journal, 300 per partition and all partitions at once as in a run,
            every reply on disk before it is used, rows of `responses` written to Parquet
    peer    aiohttp alone: one task per connection posts ready bodies and parses the answers; nothing is kept

The ceiling is connections / latency; at 0 ms it is what the peer reaches, since nothing else bounds the stub. Calls are a
multiple of the connections, and fewer in slow cells, so that none takes more than about 20 s.

Usage: python benchmarks/inference.py [--calls 6000] [--cells 0x64,20x64,200x256]
"""

import argparse
import asyncio
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp  # noqa: E402  the project is imported from its folder
import dataframely as dy  # noqa: E402
import polars as pl  # noqa: E402

from benchmarks.peers.servers import stub_server  # noqa: E402
from benchmarks.silent_listener import Silent  # noqa: E402
from flows.cli import THRESHOLDS  # noqa: E402
from flows.runtime.endpoints import Endpoint, open_endpoints  # noqa: E402
from schemas.api_capabilities import Sampling  # noqa: E402
from schemas.chat import ChatRequest, ModelEntry  # noqa: E402
from schemas.lineage import CodeVersion, PartitionRef  # noqa: E402
from schemas.plan import Plan  # noqa: E402
from schemas.tables.items import Items  # noqa: E402
from schemas.tables.responses import Responses  # noqa: E402
from tasks.lake.lake import Lake  # noqa: E402
from tasks.lake.partitions import partition_key  # noqa: E402
from tasks.models.cost import Budget  # noqa: E402
from tasks.solvers.presentation import plan_epochs  # noqa: E402
from tasks.solvers.prompts import Prompts, build_messages  # noqa: E402
from tasks.solvers.run import BuiltContexts, ItemRows, Listeners, make_tables, read_item, run_solver  # noqa: E402
from tasks.solvers.state import RoleModel, SolverOptions, SolverResources  # noqa: E402

CELLS = ",".join(f"{latency}x{connections}" for latency in (0, 20, 200) for connections in (16, 64, 256))
PARTITION = 300
"""Items of a dataset of moodbench."""

LONGEST_S = 20.0
AIM_CEILING, AIM_CALLS_S = 0.85, 1500


class CallCell(NamedTuple):
    """A server's pause before each answer, the connections to it and the calls made."""

    latency_ms: int
    connections: int
    calls: int

    @property
    def name(self) -> str:
        """Such as `200x256`."""
        return f"{self.latency_ms}x{self.connections}"

    @property
    def ceiling(self) -> float | None:
        """Calls per second that no client can exceed; None if the pause does not bound them."""
        return self.connections * 1000 / self.latency_ms if self.latency_ms else None


Partition = tuple[dy.DataFrame[Items], SolverOptions[Any]]
"""Items, and how they are asked."""


class Measured(NamedTuple):
    """One measurement in a fresh process; `cpu_s` and `peak_mb` are those of the client."""

    calls_s: float
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Measure each cell, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=6000, help="most calls per cell")
    parser.add_argument("--cells", default=CELLS, help="comma-separated, each <latency in ms>x<connections>; default: all nine")
    parser.add_argument("--measure", choices=("ours", "peer"), help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cells = [read_cell(name, options.calls) for name in options.cells.split(",")]
    if options.measure:
        run = measure_ours if options.measure == "ours" else measure_peer
        print(json.dumps(asyncio.run(run(cells[0], options.base_url))))
        return
    print(
        f"{'ms x connections':>16s} {'calls':>6s} {'calls/s':>8s} {'ceiling':>8s} {'/ceiling':>8s} {'peer':>8s} {'/peer':>6s}",
        end="",
    )
    print(f" {'CPU s/1,000':>11s} {'peer':>6s} {'stub':>6s} {'peak MB':>8s}")
    found = {cell: measure_cell(cell) for cell in cells}
    report_aims(found)


def read_cell(name: str, calls: int) -> CallCell:
    """A cell by its name, with as many calls as its ceiling leaves time for."""
    latency_ms, connections = (int(part) for part in name.split("x"))
    bound = CallCell(latency_ms, connections, calls).ceiling
    fitting = calls if bound is None else min(calls, int(bound * LONGEST_S))
    return CallCell(latency_ms, connections, max(1, fitting // connections) * connections)


def measure_cell(cell: CallCell) -> Measured:
    """Measure a cell, print its line."""
    peer, _ = fresh("peer", cell)
    ours, stub_cpu_s = fresh("ours", cell)
    ceiling = cell.ceiling or peer.calls_s
    shown = [
        f"{cell.name:>16s} {cell.calls:6d} {ours.calls_s:8.0f}",
        f"{ceiling:8.0f} {ours.calls_s / ceiling:8.0%}",
        f"{peer.calls_s:8.0f} {ours.calls_s / peer.calls_s:6.0%}",
        f"{ours.cpu_s * 1000 / cell.calls:11.2f} {peer.cpu_s * 1000 / cell.calls:6.2f}",
        f"{stub_cpu_s * 1000 / cell.calls:6.2f} {ours.peak_mb:8.0f}",
    ]
    print(*shown, flush=True)
    return ours


def report_aims(found: Mapping[CallCell, Measured]) -> None:
    """Print how the measurements stand to the aims, of the cells that have one."""
    for cell, ours in found.items():
        if cell.name == "200x256" and cell.ceiling:
            print(f"200 ms x 256: {ours.calls_s / cell.ceiling:.0%} of the ceiling (aim at least {AIM_CEILING:.0%})")
        if cell.latency_ms == 0:
            aim = f"aim at least {AIM_CALLS_S:,}, 2 cores shared with the stub"
            print(f"0 ms x {cell.connections}: {ours.calls_s:,.0f} calls/s ({aim})")


def fresh(what: str, cell: CallCell) -> tuple[Measured, float]:
    """Measure in a fresh process against a fresh stub; the second number is the stub's CPU time in seconds.

    Raises:
        RuntimeError: if the stub did not get exactly the cell's calls.
    """
    with stub_server(cell.latency_ms) as (stub, base_url):
        command = [
            sys.executable,
            __file__,
            "--measure",
            what,
            "--calls",
            str(cell.calls),
            "--cells",
            cell.name,
            "--base-url",
            base_url,
        ]
        client = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        tally = json.loads(stub.communicate()[0])
    if tally["answered"] != cell.calls:
        raise RuntimeError(f"cell {cell.name}, {what}: expected {cell.calls} calls at the stub, got {tally['answered']}")
    return Measured(*json.loads(client.stdout)), tally["cpu_s"]


async def measure_ours(cell: CallCell, base_url: str) -> Measured:
    """Ask items of single choice."""
    datasets = [made_items(number, first, cell.calls) for number, first in enumerate(range(0, cell.calls, PARTITION))]
    Prompts.load()
    return await measure_partitions(cell, base_url, [(items, SolverOptions("base")) for items in datasets])


async def measure_partitions(cell: CallCell, base_url: str, asked: Sequence[Partition]) -> Measured:
    """From items to Parquet; imports, the items and the texts of the prompts are not timed.

    Raises:
        RuntimeError: if a call failed.
    """
    entry = model_entry(cell, base_url)

    async def ask(number: int, items: dy.DataFrame[Items], options: SolverOptions[Any], endpoint: Endpoint) -> PartitionRef:
        presentations, resources = plan_epochs(items), SolverResources({"tested": RoleModel(entry, endpoint.chat)})
        listeners: Listeners = {"tested": Silent()}
        outputs = await run_solver(presentations, BuiltContexts(), options, resources, endpoint.pool.do_all, listeners)
        return await asyncio.to_thread(write, number, outputs)

    def write(number: int, outputs: Iterable[ItemRows]) -> PartitionRef:
        rows = make_tables(outputs)["responses"]
        key = partition_key("responses", {"dataset": f"dataset_{number}", "model": entry.name}, {}, parents=[], version="1")
        return lake.write(key, rows, Responses, complete=not (rows["status"] == "failed").any())

    with tempfile.TemporaryDirectory(prefix="moodflow-inference-") as folder:
        lake = Lake(Path(folder), CodeVersion("benchmark", None))
        # As every command does after its imports.
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        started, cpu_s = time.perf_counter(), time.process_time()
        async with open_endpoints(Plan(benchmark="moodbench", models=(entry,)), lake, Budget()) as endpoints:
            refs = await asyncio.gather(*(ask(number, *one, endpoints[entry]) for number, one in enumerate(asked)))
        measured = _measured(cell, started, cpu_s)
    if (answered := sum(ref.rows for ref in refs if ref.complete)) != cell.calls:
        raise RuntimeError(f"cell {cell.name}: expected {cell.calls} answered calls, got {answered}; is the stub overloaded?")
    return measured


async def measure_peer(cell: CallCell, base_url: str) -> Measured:
    """The same bodies through aiohttp alone."""
    entry, prompts = model_entry(cell, base_url), Prompts.load()
    items = [read_item(row) for row in made_items(0, 0, cell.calls, size=cell.calls).iter_rows(named=True)]
    bodies = [ChatRequest(entry.name, entry.identity, build_messages(item, prompts), entry.sampling).body() for item in items]
    url, left = f"{base_url}/chat/completions", iter(bodies)

    async def post_what_is_left(session: Any) -> None:
        for body in left:
            async with session.post(url, json=body) as response:
                (await response.json())["choices"][0]["message"]["content"]

    started, cpu_s = time.perf_counter(), time.process_time()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=cell.connections)) as session:
        await asyncio.gather(*(post_what_is_left(session) for _ in range(cell.connections)))
    return _measured(cell, started, cpu_s)


def _measured(cell: CallCell, started: float, cpu_s: float) -> Measured:
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu_s
    return Measured(cell.calls / seconds, cpu_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def model_entry(cell: CallCell, base_url: str) -> ModelEntry:
    """The model behind the stub."""
    return ModelEntry(name="stub", base_url=base_url, sampling=Sampling(max_tokens=512), concurrency=cell.connections)


def made_items(number: int, first: int, total: int, size: int = PARTITION) -> dy.DataFrame[Items]:
    """A dataset of single choices with four options and a context, prompts of about 900 characters, all different."""
    rows = [
        {
            "dataset": f"dataset_{number:03d}",
            "item_id": f"item-{index:06d}",
            "cluster": f"item-{index:06d}",
            "source_file": "items.jsonl",
            "source_row": index,
            "source_row_sha256": sha256(str(index).encode()).hexdigest(),
            "language": "en",
            "question_type": "single_choice",
            "context": f"Conversation {index}. " + "They talked for a while, and one of them said how the day had been. " * 9,
            "question": f"What does the speaker of conversation {index} most likely feel at the end of it?",
            "options": [f"{mood} about what was said in conversation {index}" for mood in ("glad", "sad", "angry", "afraid")],
            "gold_indices": [1],
            "fixed_order": False,
        }
        for index in range(first, min(first + size, total))
    ]
    return Items.validate(pl.DataFrame(rows, schema=Items.create_empty().schema))


if __name__ == "__main__":
    main()
