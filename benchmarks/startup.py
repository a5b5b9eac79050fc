"""What a command costs beside its work: CPU and wall seconds, with its Prefect server, of those that have next to none.

    help            `moodflow --help`
    list, explain   `moodflow runs list` and `moodflow explain latest`, of the runs below
    up to date      a run of 8 calls that are all in the lake
    first run       the same in an empty lake on a machine that has no database of Prefect

Usage: python benchmarks/startup.py [--repeats 5] [CHECKOUT ...]

Each CHECKOUT is a folder with sources and their `.venv`, such as one of the commit before; they are measured in turn.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.peers.servers import stub_server  # noqa: E402

ENTRY_POINT = "from flows.cli import main; main()"
RUN = ("run", "moodbench-mini", "--datasets", "mini_text_classification", "--set", "bootstrap=0", "--model", "stub")


def main() -> None:
    """Measure each case of each checkout in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path, default=[ROOT])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    timed: dict[tuple[str, Path], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="moodflow-startup-") as folder, stub_server(0) as (_, base_url):
        run = (*RUN, "--base-url", base_url, "--lake", "lake")
        for _ in range(options.repeats):
            for number, checkout in enumerate(options.checkouts):
                place = Path(folder) / str(number)
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                reads = {"list": ("runs", "list"), "explain": ("explain", "latest")}
                cases = {"first run": run, "up to date": run, **{case: (*read, "--lake", "lake") for case, read in reads.items()}}
                for case, command in (*cases.items(), ("help", ("--help",))):
                    timed.setdefault((case, checkout), []).append(time_command(checkout, place, command))
    for (case, checkout), seconds in sorted(timed.items()):
        cpu_s, wall_s = map(statistics.median, zip(*seconds, strict=True))
        print(f"{case:12s} CPU {cpu_s:6.2f} s  wall {wall_s:6.2f} s  {checkout}")


def time_command(checkout: Path, place: Path, command: Sequence[str]) -> tuple[float, float]:
    """Return CPU seconds, with those of the processes that it waited for, and wall seconds of a command.

    Raises:
        CalledProcessError: if it fails.
    """
    environ = {**os.environ, "PYTHONPATH": str(checkout), "PREFECT_HOME": str(place / "prefect")}
    before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    python = checkout / ".venv" / "bin" / "python"
    subprocess.run([python, "-c", ENTRY_POINT, *command], check=True, capture_output=True, env=environ, cwd=place)
    wall_s, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s


if __name__ == "__main__":
    main()
