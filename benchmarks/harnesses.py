"""The same items through `moodflow run`, lm-evaluation-harness and Inspect: wall time of the whole command, start to exit.

Ten datasets of MoodBench, single choice asked by letter, 300 items each; a stub of a model server in a process of its own answers
every call with `B` after 200 ms. Each command may hold 256 connections and starts with an empty folder and without a cache:

    moodflow          builds, asks, scores with 1,000 bootstrap resamples, writes every layer and the report; starts and ends a
                      temporary Prefect server
    moodflow-served   the same with a Prefect server that runs already (PREFECT_API_URL), as a nightly job has it
    lm-eval           generate_until on local-chat-completions, exact match, samples stored
    inspect           generate() with match(), its log of all samples

The peers get the very prompts as a file. The stub must have answered each item once (MoodFlow probes a model that is new to a
lake with one call more), and every command must find the same share of right answers; otherwise the benchmark ends with an error.
Peers are installed into benchmarks/.peers on first use, in the versions of benchmarks/peers/*.txt, a minute each.

Usage: python benchmarks/harnesses.py --mirror FOLDER [--items 3000] [--peers lm-eval,inspect] [--repeats 1]
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import polars as pl  # noqa: E402  the project is imported from its folder

from benchmarks.peers.programs import CONNECTIONS, NAMES, PEERS, Contestant, install_peer, peer  # noqa: E402
from benchmarks.peers.servers import prefect_server, stub_server  # noqa: E402
from schemas.item import option_letters  # noqa: E402
from tasks.solvers.prompts import Prompts, build_messages  # noqa: E402
from tasks.solvers.run import read_item  # noqa: E402

DATASETS = (
    "ag_news",
    "bbq",
    "cosmos_qa",
    "hellaswag",
    "logiqa",
    "mmlu_pro",
    "mnli",
    "mutual",
    "moodbench2",
    "safetybench_mental_health",
)
"""Single choice with 300 items or more, no two of them asked in the same words."""

LATENCY_MS = 200
PROBES = 1


class Settings(NamedTuple):
    """What is measured: items per dataset, and where the source files are."""

    sample: int
    mirror: Path

    @property
    def items(self) -> int:
        """Of all datasets."""
        return self.sample * len(DATASETS)


class Measured(NamedTuple):
    """One measurement; `cpu_s` is of the command and what it started, `load` the machine's load average of the minute before."""

    seconds: float
    cpu_s: float
    accuracy: float
    load: float


def main() -> None:
    """Install the peers, build the items, measure each command, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, default=os.environ.get("MOODFLOW_MIRROR"), help="as of moodflow run")
    parser.add_argument("--items", type=int, default=300 * len(DATASETS), help=f"a multiple of {len(DATASETS)}")
    parser.add_argument("--peers", default=",".join(NAMES), help="separated by commas; may be empty")
    parser.add_argument("--repeats", type=int, default=1, help="measure so often, print medians")
    options = parser.parse_args()
    if options.mirror is None:
        parser.error("name the folder with the source files: --mirror FOLDER")
    if options.items < len(DATASETS) or options.items % len(DATASETS):
        parser.error(f"--items: expected a multiple of {len(DATASETS)}, got {options.items}")
    if unknown := {name for name in options.peers.split(",") if name} - {*NAMES}:
        parser.error(f"--peers: expected {' or '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    settings = Settings(options.items // len(DATASETS), options.mirror.resolve())
    peers = [peer(name, install_peer(name)) for name in options.peers.split(",") if name]
    with tempfile.TemporaryDirectory(prefix="moodflow-harnesses-") as folder:
        measure_all([*ours(settings), *peers], settings, Path(folder), options.repeats)


def ours(settings: Settings) -> list[Contestant]:
    """`moodflow run` with a temporary Prefect server, and with one that runs already."""

    def command(base_url: str) -> Sequence[str]:
        return [*moodflow("run", settings, base_url), "--concurrency", str(CONNECTIONS), "--lake", "lake"]

    return [
        Contestant("moodflow", command, lake_accuracy, PROBES),
        Contestant("moodflow-served", command, lake_accuracy, PROBES, served=True),
    ]


def moodflow(stage: str, settings: Settings, base_url: str) -> list[str]:
    """Start of a command line over the datasets."""
    program = [str(Path(sys.executable).with_name("moodflow")), stage, "moodbench", "--datasets", ",".join(DATASETS)]
    return [
        *program,
        "--sample",
        str(settings.sample),
        "--mirror",
        str(settings.mirror),
        "--model",
        "stub",
        "--base-url",
        base_url,
    ]


def measure_all(contestants: Sequence[Contestant], settings: Settings, folder: Path, repeats: int) -> None:
    """Measure each command so often in turn, print a line for each measurement, then the medians and ratios.

    Raises:
        RuntimeError: if a command fails, makes more or fewer calls than there are items, or scores the answers differently.
    """
    environ = environment(folder)
    items = folder / "items.jsonl"
    expected = write_items(settings, folder, items, environ)
    print(f"{settings.items} items, {LATENCY_MS} ms, {CONNECTIONS} connections; at best {floor_s(settings):.1f} s of waiting")
    found: dict[str, list[Measured]] = {contestant.name: [] for contestant in contestants}
    for number in range(repeats):
        for contestant in contestants:
            place = folder / f"{number}-{contestant.name}"
            place.mkdir()
            shutil.copy(items, place)
            shutil.copy(PEERS / "inspect_task.py", place)
            with prefect_server(folder, environ) if contestant.served else nullcontext(environ) as served:
                measured = measure(contestant, settings.items, place, served)
            if abs(measured.accuracy - expected) > 1e-6:
                raise RuntimeError(
                    f"{contestant.name}: expected {expected:.6f} of the answers right, got {measured.accuracy:.6f}"
                )
            found[contestant.name].append(measured)
            about = f"CPU {measured.cpu_s:.1f} s, load before {measured.load:.1f}"
            print(f"  {contestant.name:16s} {measured.seconds:6.1f} s  ({about})", flush=True)
    print_ratios({name: statistics.median(each.seconds for each in taken) for name, taken in found.items()}, settings.items)


def floor_s(settings: Settings) -> float:
    """Seconds that the stub alone takes."""
    return -(-settings.items // CONNECTIONS) * LATENCY_MS / 1000


def print_ratios(medians: Mapping[str, float], items: int) -> None:
    """Print wall time, calls per second of the whole command, and ours as a share of each peer's."""
    mine = [name for name in medians if name.startswith("moodflow")]
    print(f"{'command':16s} {'wall s':>7s} {'calls/s':>8s}", *(f"{f'{name} / it':>20s}" for name in mine))
    for name, seconds in medians.items():
        ratios = [f"{medians[own] / seconds:20.2f}" if name not in mine else f"{'':20s}" for own in mine]
        print(f"{name:16s} {seconds:7.1f} {items / seconds:8.0f}", *ratios)
    print("aim: below 1.00 against both peers")


def measure(contestant: Contestant, items: int, place: Path, environ: Mapping[str, str]) -> Measured:
    """One command in an empty folder against a fresh stub.

    Raises:
        RuntimeError: if it fails, or the stub did not get exactly the calls of the items.
    """
    load = os.getloadavg()[0]
    with stub_server(LATENCY_MS) as (stub, base_url):
        started, cpu_s = time.perf_counter(), children_cpu_s()
        ended = subprocess.run(
            contestant.command(base_url),
            cwd=place,
            env=environ,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        seconds, cpu_s = time.perf_counter() - started, children_cpu_s() - cpu_s
        answered = json.loads(stub.communicate()[0])["answered"]
    if ended.returncode:
        raise RuntimeError(f"{contestant.name}: expected exit status 0, got {ended.returncode}:\n{ended.stdout[-4000:]}")
    if answered != items + contestant.probes:
        raise RuntimeError(f"{contestant.name}: expected {items + contestant.probes} calls at the stub, got {answered}")
    return Measured(seconds, cpu_s, contestant.accuracy(place), load)


def children_cpu_s() -> float:
    """CPU seconds of every process that this one or its children waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def environment(folder: Path) -> dict[str, str]:
    """The environment of every command: nothing that would configure one of them, folders of their own, no look at a hub."""
    # Without byte code, modules of an editable install would be compiled by every command.
    dropped = ("PREFECT_", "MOODFLOW_", "INSPECT_", "HF_", "LMEVAL_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    homes = {"PREFECT_HOME": "prefect", "HF_HOME": "hub", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "data"}
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "STUB_API_KEY": "none"}
    return {**kept, **{name: str(folder / home) for name, home in homes.items()}, **offline}


def write_items(settings: Settings, folder: Path, path: Path, environ: Mapping[str, str]) -> float:
    """Build the items, write prompts and letters of the right options as JSON lines; the share of them that is `B`.

    Raises:
        RuntimeError: if the mirror does not hold them all.
    """
    build = [*moodflow("build", settings, "http://127.0.0.1:9/v1"), "--lake", str(folder / "built")]
    subprocess.run(build, env=environ, check=True, stdout=subprocess.DEVNULL)
    prompts, lines = Prompts.load(), []
    for file in sorted((folder / "built" / "items").rglob("*.parquet")):
        for row in pl.read_parquet(file, hive_partitioning=False).iter_rows(named=True):
            item = read_item(row)
            if item.question_type != "single_choice" or not item.options or not item.gold_indices:
                raise RuntimeError(f"{row['item_id']}: expected a single choice, got {item.question_type}")
            (message,) = build_messages(item, prompts)
            lines.append({"prompt": message.content, "letter": option_letters(len(item.options))[item.gold_indices[0]]})
    if len({line["prompt"] for line in lines}) != settings.items:
        raise RuntimeError(f"expected {settings.items} different prompts, got {len({line['prompt'] for line in lines})}")
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return sum(line["letter"] == "B" for line in lines) / len(lines)


def lake_accuracy(folder: Path) -> float:
    """Mean accuracy of the items in a lake."""
    rows = pl.concat(
        pl.read_parquet(file, hive_partitioning=False).filter(pl.col("metric") == "accuracy").select("value")
        for file in (folder / "lake" / "item_scores").rglob("*.parquet")
    )
    return float(rows["value"].sum()) / rows.height


if __name__ == "__main__":
    main()
