"""How long `moodflow export` takes, and how much memory it holds, for a lake with a million rows of item scores.

The lake is written by the layers' own writer, without a model: one run of 25 models over 40 datasets of 1,000 items, with prompts
of some 1,000 characters. Each export is a process of its own, from start to exit; its memory is the most that it held at once.

Usage: python benchmarks/export.py [--models 25] [--datasets 40] [--items 1000] [--forms parquet,csv,sqlite,xlsx] [--lake FOLDER]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.load import ENTRY_POINT  # noqa: E402  the project is imported from its folder
from schemas.blueprint import Ability, Blueprint, BlueprintDataset, LevelRule, MethodSpec, MetricSpec, Task  # noqa: E402
from schemas.lineage import CallCounts, PartitionRef, RunManifest  # noqa: E402
from schemas.tables.layers import AGGREGATED, LAYERS  # noqa: E402
from tasks.lake.lake import Lake  # noqa: E402
from tasks.lake.manifest import list_runs, read_code_version, write_manifest  # noqa: E402
from tasks.lake.partitions import canonical_json, partition_key  # noqa: E402
from tasks.scoring.benchmark import ScoreSettings, score_benchmark  # noqa: E402

MOST_MB = 600
"""Aim: about three times what the command holds before it reads a row."""

SENTENCE = "Mira told her friend that the day at the lake had been the best of the summer, although it rained from noon on. "
METHOD = MethodSpec(id="choice", metrics=(MetricSpec(metric="accuracy"),))


def main() -> None:
    """Make the lake, export it in each form, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=25)
    parser.add_argument("--datasets", type=int, default=40)
    parser.add_argument("--items", type=int, default=1000, help="of a dataset")
    parser.add_argument("--forms", default="parquet,csv,sqlite,xlsx", help="comma-separated")
    parser.add_argument("--lake", type=Path, help="keep the lake here, and take the one that is there")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    with tempfile.TemporaryDirectory(prefix="moodflow-export-") as folder:
        lake = options.lake or Path(folder) / "lake"
        if not list_runs(lake):
            began = time.perf_counter()
            make_run(Lake(lake, read_code_version()), options.models, options.datasets, options.items)
            print(
                f"lake of {options.models * options.datasets * options.items:,} rows made in {time.perf_counter() - began:.0f} s"
            )
        for form in options.forms.split(","):
            print(export(lake, Path(folder) / f"results.{form}"), flush=True)


def export(lake: Path, file: Path) -> str:
    """Export the run of a lake and say what that took."""
    arguments = ["export", *list_runs(lake), "--to", str(file), "--lake", str(lake), "--json"]
    command = [sys.executable, __file__, "--measure", " ".join(arguments)]
    took = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    size = f"{file.stat().st_size / 1e6:,.0f} MB"
    wall, cpu, memory = (took[name] for name in ("wall_s", "cpu_s", "peak_mb"))
    return (
        f"{file.suffix:8s} {wall:6.1f} s (CPU {cpu:.1f} s), at most {memory:,.0f} MB in memory (aim {MOST_MB:,} MB), file {size}"
    )


def measure(arguments: list[str]) -> None:
    """Run a command in a child of this process and print, as JSON, what it took."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", ENTRY_POINT, *arguments[0].split()], check=True, capture_output=True, env=environ)
    wall, usage = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}))


def make_run(lake: Lake, models: int, datasets: int, items: int) -> None:
    """Write a run of so many models, datasets and items of each, with everything that an export reads."""
    names = [f"dataset_{number:02}" for number in range(datasets)]
    blueprint = make_blueprint(names)
    refs: list[PartitionRef] = []
    for name in names:
        rows = item_rows(name, items)
        refs.append(keep(lake, "items", rows, dataset=name))
        for number in range(models):
            model = f"model-{number:02}"
            about = {"dataset": name, "model": model, "setting": "base"}
            refs += [keep(lake, layer, frame, **about) for layer, frame in answered(rows, model)]
    scores = (lake.read(ref, LAYERS["item_scores"].schema) for ref in refs if ref.layer == "item_scores")
    scored = score_benchmark(pl.concat(scores).lazy(), blueprint, ScoreSettings())
    refs += [keep(lake, layer, scored.layer(layer), benchmark=blueprint.name) for layer in AGGREGATED]
    plan = {"models": [{"name": f"model-{number:02}"} for number in range(models)]}
    about_run = {"benchmark": blueprint.name, "blueprint_sha256": "0" * 64, "package_version": "0", "git_commit": None}
    times = dict.fromkeys(("started_at", "finished_at"), "2026-01-01T00:00:00+00:00")
    fields = {"run": "20260101T000000000000Z.1-many", "blueprint": blueprint.model_dump(mode="json"), "plan": plan, "missing": ()}
    write_manifest(lake.root, RunManifest(**fields, **about_run, **times, partitions=tuple(refs), calls=CallCounts()))


def make_blueprint(names: list[str]) -> Blueprint:
    """Return a blueprint with a task for each dataset."""
    tasks = tuple(Task(id=f"task_{name}", title=name, level="low", datasets=(name,)) for name in names)
    return Blueprint(
        name="many",
        title="Many",
        version="1",
        source="none",
        abilities=(Ability(id="all", title="All", tasks=tasks),),
        datasets={name: BlueprintDataset(title=name, methods=(METHOD,)) for name in names},
        level_rules=(LevelRule(weights={"low": 1.0}),),
    )


def keep(lake: Lake, layer: str, rows: pl.DataFrame, **place: str) -> PartitionRef:
    """Write a partition of a layer; columns that the rows lack are null."""
    schema = LAYERS[layer].schema
    columns = schema.create_empty().schema
    missing = [pl.lit(None, kind).alias(name) for name, kind in columns.items() if name not in rows.columns]
    return lake.write(partition_key(layer, place, {}, [], "1"), rows.with_columns(missing).select(*columns).cast(columns), schema)


def item_rows(dataset: str, items: int) -> pl.DataFrame:
    """Return items of a dataset, questions of two options each."""
    ids = pl.Series("item_id", [f"{dataset}-{number:05}" for number in range(items)])
    asked = {"question_type": "single_choice", "language": "en", "question": "Did it rain?", "fixed_order": False}
    source = {"source_file": "many.jsonl", "source_row_sha256": "0" * 64, "context": SENTENCE * 8}
    given = {name: pl.lit(value) for name, value in {"dataset": dataset, **asked, **source}.items()}
    choice = {"options": pl.lit(["yes", "no"], pl.List(pl.String)), "gold_indices": pl.lit([0], pl.List(pl.Int64))}
    return ids.to_frame().with_row_index("source_row").with_columns(cluster="item_id", **given, **choice)


def answered(items: pl.DataFrame, model: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the layers of what a model answered to items: every third answer is wrong."""
    about = {"model": pl.lit(model), "setting": pl.lit("base"), "repetition": pl.lit(0)}
    ids = items.select("dataset", "item_id", "cluster", right=pl.col("source_row") % 3 != 0).with_columns(**about)
    keys = [sha256(f"{model} {name}".encode()).hexdigest() for name in ids["item_id"]]
    prompts = [canonical_json([{"role": "user", "content": f"{SENTENCE * 8}\n{name}: A. yes B. no"}]) for name in ids["item_id"]]
    letter = pl.when("right").then(pl.lit("A")).otherwise(pl.lit("B"))
    ids = ids.with_columns(call_key=pl.Series(keys), messages=pl.Series(prompts), reply=letter, part=pl.lit(""))
    call = {"turn": 0, "role": "tested", "asked_model": model, "step": "answer", "messages_sha256": "0" * 64, "attempts": 1}
    sent = {name: pl.lit(value) for name, value in {**call, "status": "answered", "left_out_characters": 0}.items()}
    yield "responses", ids.with_columns(**sent)
    yield "answers", ids.with_columns(text="reply", status=pl.lit("answered"), call_keys=pl.concat_list("call_key"))
    scored = {"method": pl.lit("choice"), "metric": pl.lit("accuracy"), "status": pl.lit("scored")}
    yield "item_scores", ids.with_columns(**scored, value=pl.col("right").cast(pl.Float64), parsed_answer="reply")


if __name__ == "__main__":
    main()
