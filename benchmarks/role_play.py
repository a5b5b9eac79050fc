"""How long 331 dialogues of five turns take, against what their longest chain and the server's rate allow.

Each line of a dialogue waits for the one before it; dialogues do not wait for each other. A stub of a model server in a process
of its own answers each call after 200 ms, over 64 connections, no two alike; the model plays the seeker itself, so that both
share them. Each measurement has a fresh process and a fresh stub:

    ours        items as dialogues through solver, pool, client and journal, every reply on disk before it is used, rows of
                `responses` and `answers` written to Parquet
    sequential  the same solver and client, one dialogue after the other, as the released code of ESC-Eval does; a few dialogues,
                and the time of all is extrapolated from theirs

The aim is 1.3 times (calls of a dialogue x latency + all calls / (connections / latency)).

Usage: python benchmarks/role_play.py [--dialogues 331] [--turns 5] [--latency-ms 200] [--connections 64] [--sequential 3]
"""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dataframely as dy  # noqa: E402  the project is imported from its folder
import polars as pl  # noqa: E402

from benchmarks.peers.servers import stub_server  # noqa: E402
from benchmarks.silent_listener import Silent  # noqa: E402
from flows.cli import THRESHOLDS  # noqa: E402
from flows.runtime.endpoints import open_endpoints  # noqa: E402
from schemas.chat import ModelEntry  # noqa: E402
from schemas.lineage import CodeVersion  # noqa: E402
from schemas.plan import Plan  # noqa: E402
from schemas.tables.items import Items  # noqa: E402
from schemas.tables.responses import Answers, Responses  # noqa: E402
from tasks.benchmarks.esc_eval.role_play import RolePlayOptions, RolePlayPrompts  # noqa: E402
from tasks.lake.lake import Lake  # noqa: E402
from tasks.lake.partitions import partition_key  # noqa: E402
from tasks.models.cost import Budget  # noqa: E402
from tasks.solvers.presentation import plan_epochs  # noqa: E402
from tasks.solvers.run import BuiltContexts, item_rows, make_tables, run_solver, solve_item  # noqa: E402
from tasks.solvers.state import RoleModel, SolverOptions, SolverResources  # noqa: E402

AIM = 1.3


class Talks(NamedTuple):
    """What is played over which server."""

    dialogues: int
    turns: int
    latency_ms: int
    connections: int

    @property
    def chain(self) -> int:
        """Calls of a dialogue, each after the one before it."""
        return 2 * self.turns

    @property
    def calls(self) -> int:
        """Of all dialogues."""
        return self.dialogues * self.chain

    @property
    def least_s(self) -> float:
        """The longest chain, and what the server's rate allows for all calls."""
        return (self.chain + self.calls / self.connections) * self.latency_ms / 1000


def main() -> None:
    """Measure both, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=331)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--latency-ms", type=int, default=200, help="of every answer")
    parser.add_argument("--connections", type=int, default=64, help="calls in flight")
    parser.add_argument("--sequential", type=int, default=3, help="dialogues played one after the other")
    parser.add_argument("--measure", choices=("ours", "sequential"), help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    talks = Talks(options.dialogues, options.turns, options.latency_ms, options.connections)
    if options.measure:
        print(json.dumps(asyncio.run(measure(talks, options.base_url, side_by_side=options.measure == "ours"))))
        return
    ours_s, few = fresh("ours", talks), talks._replace(dialogues=options.sequential)
    print(f"{talks.dialogues} dialogues of {talks.chain} calls x {talks.latency_ms} ms, {talks.connections} connections")
    bound = f"({talks.chain} x latency + {talks.calls:,} calls / rate) = {talks.least_s:.1f} s"
    print(f"ours: {ours_s:.1f} s, {ours_s / talks.least_s:.2f} x {bound} (aim at most {AIM:g})", flush=True)
    few_s = fresh("sequential", few)
    whole_s = few_s * talks.dialogues / few.dialogues
    print(f"sequential: {few_s:.1f} s for {few.dialogues} dialogues;", end=" ")
    print(f"extrapolated, not measured, to all: {whole_s:.0f} s, {whole_s / ours_s:.0f} x ours")


def fresh(what: str, talks: Talks) -> float:
    """Seconds of one measurement in a fresh process against a fresh stub.

    Raises:
        RuntimeError: if the stub did not get exactly the calls of the dialogues.
    """
    with stub_server(talks.latency_ms, "--numbered") as (stub, base_url):
        given = {name.replace("_", "-"): value for name, value in talks._asdict().items()}
        options = [f"--{name}={value}" for name, value in given.items()]
        command = [sys.executable, __file__, f"--measure={what}", f"--base-url={base_url}", *options]
        client = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        answered = json.loads(stub.communicate()[0])["answered"]
    if answered != talks.calls:
        raise RuntimeError(f"{what}: expected {talks.calls} calls at the stub, got {answered}")
    return float(json.loads(client.stdout))


async def measure(talks: Talks, base_url: str, *, side_by_side: bool) -> float:
    """Seconds from items to Parquet; imports, the items and the texts of the prompts are not timed.

    Raises:
        RuntimeError: if a dialogue has not all its turns.
    """
    entry, items = ModelEntry(name="stub", base_url=base_url, concurrency=talks.connections), made_cards(talks.dialogues)
    options = SolverOptions("role_play", own=RolePlayOptions(turns=talks.turns))
    RolePlayPrompts.load()
    with tempfile.TemporaryDirectory(prefix="moodflow-role-play-") as folder:
        lake = Lake(Path(folder), CodeVersion("benchmark", None))
        # As every command does after its imports.
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)
        started = time.perf_counter()
        async with open_endpoints(Plan(benchmark="moodbench", models=(entry,)), lake, Budget()) as endpoints:
            model = RoleModel(entry, endpoints[entry].chat)
            resources, shown = SolverResources({"tested": model, "seeker": model}), plan_epochs(items)
            if side_by_side:
                listeners = {"tested": Silent(), "seeker": Silent()}
                solved = await run_solver(shown, BuiltContexts(), options, resources, endpoints[entry].pool.do_all, listeners)
            else:
                system, built = (entry.name, options.setting), BuiltContexts()
                solved = [item_rows(one, system, await solve_item(built.item_of(one), options, resources, 0)) for one in shown]
            tables = make_tables(solved)
        for layer, schema in (("responses", Responses), ("answers", Answers)):
            lake.write(partition_key(layer, {"model": entry.name}, {}, parents=[], version="1"), tables[layer], schema)
        took_s = time.perf_counter() - started
    if set(tables["answers"]["turns"].list.len()) != {talks.chain}:
        raise RuntimeError(
            f"expected {talks.chain} lines of every dialogue, got {tables['answers']['turns'].list.len().to_list()}"
        )
    return took_s


def made_cards(number: int) -> dy.DataFrame[Items]:
    """Role cards of about 300 characters, all different."""
    rows = [
        {
            "dataset": "cards",
            "item_id": f"card-{index:04d}",
            "cluster": f"card-{index:04d}",
            "fixed_order": False,
            "source_file": "cards.jsonl",
            "source_row": index,
            "source_row_sha256": sha256(str(index).encode()).hexdigest(),
            "language": "en",
            "question_type": "role_play",
            "question": f"The worry of person {index}.",
            "context": f"Age: {20 + index % 50}\nGender: female\nProblem: worry {index}. " + "It does not end. " * 15,
        }
        for index in range(number)
    ]
    return Items.validate(pl.DataFrame(rows, schema=Items.create_empty().schema))


if __name__ == "__main__":
    main()
