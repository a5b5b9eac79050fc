"""How fast the calls about annotated conversations go out, against those of MoodBench's single choices in the same run.

200 generated conversations of three to eight turns are asked in the four modes, and as many single choices, of a stub that
answers at once, over 64 connections; each measurement has a fresh process and a fresh stub. Prompts about a conversation hold all
turns before: 9,400 characters on average, where those of the single choices have 960.

Usage: python benchmarks/annotate.py [--conversations 200] [--connections 64] [--repeats 3]
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import get_args

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dataframely as dy  # noqa: E402  the project is imported from its folder

from benchmarks.inference import CallCell, Measured, measure_ours, measure_partitions  # noqa: E402
from benchmarks.peers.servers import stub_server  # noqa: E402
from schemas.tables.items import Items  # noqa: E402
from tasks.benchmarks.attunebench.annotate import AnnotateOptions  # noqa: E402
from tasks.benchmarks.attunebench.datasets.conversations import ATTUNEBENCH  # noqa: E402
from tasks.datasets.building import build_items  # noqa: E402
from tasks.datasets.own_items import in_folder  # noqa: E402
from tasks.solvers.state import SolverOptions  # noqa: E402
from tests.tasks.benchmarks.attunebench.datasets.conversations import varied, write_folder  # noqa: E402

AIM = 0.8
MODES = [AnnotateOptions(mode=mode) for mode in get_args(AnnotateOptions.model_fields["mode"].annotation)]


def main() -> None:
    """Measure both in turns, print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--measure", choices=("annotated", "choices"), help=argparse.SUPPRESS)
    parser.add_argument("--base-url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    turns = sum(len(varied(number)["turns"]) for number in range(options.conversations))
    cell = CallCell(0, options.connections, len(MODES) * (4 * turns + options.conversations))
    if options.measure:
        annotated = options.measure == "annotated"
        run = (
            measure_annotated(cell, options.base_url, options.conversations)
            if annotated
            else measure_ours(cell, options.base_url)
        )
        print(json.dumps(asyncio.run(run)))
        return
    print(f"{cell.calls:,} calls each, {cell.connections} connections, 0 ms")
    ratios = []
    for _ in range(options.repeats):
        annotated, choices = (fresh(what, cell, options.conversations) for what in ("annotated", "choices"))
        ratios.append(annotated.calls_s / choices.calls_s)
        print(
            f"annotated {annotated.calls_s:.0f} calls/s, single choices {choices.calls_s:.0f} calls/s: {ratios[-1]:.2f}",
            flush=True,
        )
    print(f"median of {options.repeats}: {median(ratios):.2f} (aim at least {AIM:g})")


def fresh(what: str, cell: CallCell, conversations: int) -> Measured:
    """Measure in a fresh process against a fresh stub.

    Raises:
        RuntimeError: if the stub did not get exactly the cell's calls.
    """
    with stub_server(cell.latency_ms) as (stub, base_url):
        command = [sys.executable, __file__, "--measure", what, "--base-url", base_url]
        command += ["--conversations", str(conversations), "--connections", str(cell.connections)]
        client = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        answered = json.loads(stub.communicate()[0])["answered"]
    if answered != cell.calls:
        raise RuntimeError(f"{what}: expected {cell.calls} calls at the stub, got {answered}")
    return Measured(*json.loads(client.stdout))


async def measure_annotated(cell: CallCell, base_url: str, conversations: int) -> Measured:
    """Ask the conversations in each mode."""
    items = made_conversations(conversations)
    return await measure_partitions(cell, base_url, [(items, SolverOptions("annotate", own=own)) for own in MODES])


def made_conversations(number: int) -> dy.DataFrame[Items]:
    """Return the items of so many conversations."""
    with tempfile.TemporaryDirectory(prefix="moodflow-annotate-") as folder:
        records = write_folder(Path(folder), {str(one): varied(one) for one in range(number)})
        return build_items(in_folder(ATTUNEBENCH, records), [records], None, 0).items


if __name__ == "__main__":
    main()
