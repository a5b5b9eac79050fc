"""How long commands take that look at every run of a lake, when it holds thousands.

One run of a small dataset is made with the stub of a model server. Its folder and its partitions are then cloned, each clone with
a name, a time, a model and fingerprints of its own, so that a lake of 3,000 runs takes a minute and not a day. Each command is a
process of its own, from start to exit: first without an index of the runs, which it then makes, and once more with it.

Usage: python benchmarks/many_runs.py [--runs 3000] [--models 40] [--lake FOLDER]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.load import ENTRY_POINT, time_command  # noqa: E402  the project is imported from its folder
from benchmarks.peers.servers import stub_server  # noqa: E402
from schemas.lineage import PartitionKey, PartitionRef, RunManifest  # noqa: E402
from schemas.tables.layers import LAYERS  # noqa: E402
from tasks.lake.lake import Lake  # noqa: E402
from tasks.lake.manifest import list_runs, read_code_version, read_manifest, run_folder, write_manifest  # noqa: E402
from tasks.lake.run_index import INDEX  # noqa: E402

LIMIT_S = 3.0
"""CPU seconds of a command at 3,000 runs, its imports among them."""

COMMANDS = ("runs list", "leaderboard moodbench-mini", "gc --dry-run")

RENAMED = frozenset({"totals", "ability_scores"})
"""Layers of which each clone has rows of its own."""


def main() -> None:
    """Make the lake, measure each command twice, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("--models", type=int, default=40, help="that the runs are about, in turn")
    parser.add_argument("--lake", type=Path, help="keep the lake here, and take the one that is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="moodflow-many-runs-") as folder:
        lake = options.lake or Path(folder) / "lake"
        if not list_runs(lake):
            make_first_run(lake, Path(folder))
            clone(lake, options.runs, options.models)
        for command in COMMANDS:
            (lake / INDEX).unlink(missing_ok=True)
            first, again = (time_command([*command.split(), "--lake", str(lake)]) for _ in range(2))
            print(f"{command:28s} CPU {again.cpu_s:5.2f} s (at most {LIMIT_S:g} s), wall {again.wall_s:.1f} s;", end=" ")
            print(f"without an index CPU {first.cpu_s:.2f} s, wall {first.wall_s:.1f} s", flush=True)


def make_first_run(lake: Path, folder: Path) -> None:
    """Run moodbench-mini over one dataset.

    Raises:
        CalledProcessError: if that fails.
    """
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PREFECT_HOME": str(folder / "prefect")}
    with stub_server(0) as (_, base_url):
        asked = ["run", "moodbench-mini", "--datasets", "mini_text_classification", "--set", "bootstrap=100"]
        asked += ["--model", "stub", "--base-url", base_url, "--lake", str(lake)]
        subprocess.run([sys.executable, "-c", ENTRY_POINT, *asked], check=True, capture_output=True, env=environ)


def clone(lake: Path, runs: int, models: int) -> None:
    """Clone the one run of a lake until there are so many."""
    (run,) = list_runs(lake)
    manifest = read_manifest(lake, run)
    rest = run.partition(".1-")[2]
    started = datetime.fromisoformat(manifest.started_at)
    for number in range(2, runs + 1):
        at = started + timedelta(hours=number)
        name = f"{at:%Y%m%dT%H%M%S%fZ}.{number}-{rest}"
        model = f"stub-{number % models:02d}"
        refs = tuple(cloned_partitions(Lake(lake, read_code_version()), manifest, number, model))
        fields = {"run": name, "started_at": at.isoformat(), "partitions": refs, "report": f"runs/{name}/report.html"}
        own = run_folder(lake, name)
        own.mkdir()
        for file in ("report.html", "report.md"):
            (own / file).hardlink_to(str(run_folder(lake, run) / file))
        changes = (run_folder(lake, run) / "changes.json").read_text(encoding="utf-8").replace(run, name)
        (own / "changes.json").write_text(changes, encoding="utf-8")
        write_manifest(lake, manifest.model_copy(update=fields))


def cloned_partitions(lake: Lake, manifest: RunManifest, number: int, model: str) -> Iterator[PartitionRef]:
    """Write partitions like those of a run under other fingerprints; rows of the totals are about another model."""
    for ref in manifest.partitions:
        fingerprint = sha256(f"{ref.fingerprint} {number}".encode()).hexdigest()
        if ref.layer in RENAMED:
            schema = LAYERS[ref.layer].schema
            rows: pl.DataFrame = lake.read(ref, schema)
            named = rows.with_columns(model=rows["model"].str.replace("^stub$", model).cast(rows["model"].dtype))
            yield lake.write(
                PartitionKey(layer=ref.layer, place=ref.place, fingerprint=fingerprint), named, LAYERS[ref.layer].schema
            )
        else:
            copy = ref.model_copy(update={"fingerprint": fingerprint, "path": ref.path.replace(ref.fingerprint, fingerprint)})
            lake.path(copy).hardlink_to(str(lake.path(ref)))
            yield copy


if __name__ == "__main__":
    main()
