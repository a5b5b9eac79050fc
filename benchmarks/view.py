"""How long the rows of a run take to find, for a lake of a million item rows and more, and in how much memory.

The lake is written by the layers' own writer, without a model: one run over 60 datasets, ten of them judged by two judges, of
eight models in two settings, with questions and replies of some 300 characters. Each question is put to a process of its own, the
first time and again; its memory is the most that it held at once. `--inspect` asks Inspect's `inspect view` the
same, as far as it answers, over its own log of so many samples.

Usage: python benchmarks/view.py [--rows 1000000] [--lake FOLDER] [--inspect SAMPLES]
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.export import keep  # noqa: E402  the project is imported from its folder
from benchmarks.peers.programs import PEERS, install_peer  # noqa: E402
from schemas.blueprint import Ability, Blueprint, BlueprintDataset, Gate, LevelRule, MethodSpec, MetricSpec, Task  # noqa: E402
from schemas.documents.rows import RowFilter  # noqa: E402
from schemas.lineage import CallCounts, PartitionRef, RunManifest  # noqa: E402
from schemas.tables.layers import AGGREGATED  # noqa: E402
from tasks.explain.rows import explain_item  # noqa: E402
from tasks.lake.lake import Lake  # noqa: E402
from tasks.lake.manifest import list_runs, read_code_version, write_manifest  # noqa: E402
from tasks.rows.index import FOLDER, open_rows  # noqa: E402
from tasks.rows.query import find_rows  # noqa: E402
from tasks.runs.past_run import PastRun, reopen  # noqa: E402
from tasks.runs.run_tables import System  # noqa: E402
from tasks.scoring.benchmark import ScoreSettings, score_benchmark  # noqa: E402

DATASETS, JUDGED, MODELS, SETTINGS = 60, 10, 8, ("base", "repeat")
AIMS_S = {"first page": 0.2, "filtered page": 0.5, "ordered page": 0.5, "rare word": 3.0, "common word": 3.0, "one row": 0.2}
MOST_MB = 500
SCORED = 30
"""Of 100 replies, those that are wrong; five more cannot be read, and of two the call failed."""

RARE = "quixotic"
WORDS = (
    "the and she felt that when friend morning could not sleep because work had been heavy all week talk about it with someone "
    "who listens perhaps a walk would help before dinner I understand how hard this is for you take your time nobody expects an "
    "answer today remember last summer at lake we laughed so much even when rain came small steps are steps too"
)

JUDGES = ("judge", "second")
DIMENSIONS = ("empathy", "fluency")


def main() -> None:
    """Make the lake, put each question to a process of its own, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--lake", type=Path, help="keep the lake here, and take the one that is there")
    parser.add_argument("--inspect", type=int, metavar="SAMPLES", help="compare with Inspect's view of so many samples")
    parser.add_argument("--questions", default=",".join(QUESTIONS), help="comma-separated")
    parser.add_argument("--ask", choices=QUESTIONS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        print(json.dumps(ask(options.lake, options.ask)))
        return
    with tempfile.TemporaryDirectory(prefix="moodflow-view-") as folder:
        lake = options.lake or Path(folder) / "lake"
        if not list_runs(lake):
            began = time.perf_counter()
            rows = make_run(Lake(lake, read_code_version()), options.rows)
            print(f"lake of {rows:,} rows made in {time.perf_counter() - began:.0f} s")
        shutil.rmtree(lake / FOLDER, ignore_errors=True)
        for question in options.questions.split(","):
            print(put(lake, question), flush=True)
        if options.inspect:
            print(inspect_view(options.inspect, Path(folder)))


def put(lake: Path, question: str) -> str:
    """Put a question to a new process and say what that took."""
    command = [sys.executable, __file__, "--ask", question, "--lake", str(lake)]
    took = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    aim = f" (aim {AIMS_S[question]} s)" if question in AIMS_S else ""
    return (
        f"{question:14s} {took['first'][0]:7.3f} s (CPU {took['first'][1]:.3f}), again {took['again'][0]:7.3f} s"
        f" (CPU {took['again'][1]:.3f}){aim}, at most {took['peak_mb']:,.0f} MB"
        f" (aim {MOST_MB}, {took['before_mb']:,.0f} before): {took['answer']}"
    )


def ask(lake: Path, question: str) -> dict[str, object]:
    """Answer a question twice and say what that took."""
    run = reopen(lake, list_runs(lake)[0])
    before = peak_mb()
    times = []
    for _ in range(2):
        began, cpu = time.perf_counter(), time.process_time()
        answer = QUESTIONS[question](run)
        times.append((time.perf_counter() - began, time.process_time() - cpu))
    return {"first": times[0], "again": times[1], "before_mb": before, "peak_mb": peak_mb(), "answer": answer}


def inspect_view(samples: int, folder: Path) -> str:
    """Return what Inspect's viewer takes, and its ratio to what the same takes here where there is such a thing."""
    command = [str(install_peer("inspect") / "python"), str(PEERS / "inspect_view.py"), str(folder), str(samples)]
    took = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return f"inspect view, {samples:,} samples: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in took.items())


def peak_mb() -> float:
    """Return the most that this process held at once; what `getrusage` says holds what its parent had when it was forked."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def make_index(run: PastRun) -> str:
    """Make the index, or open the one that was made before."""
    rows = open_rows(run).counts["rows"].sum()
    return f"{rows:,} rows, {(run.lake.state / FOLDER / run.name).stat().st_size / 1e6:.1f} MB"


def page(**wanted: object) -> Callable[[PastRun], str]:
    """Return what finds the first page of a filter."""

    def find(run: PastRun) -> str:
        found = find_rows(run, open_rows(run), RowFilter.model_validate(wanted))
        return f"{len(found.rows)} shown of " + ("those with the text" if found.matches is None else f"{found.matches:,}")

    return find


def one_row(run: PastRun) -> str:
    """Explain an item of which the calls are in the lake."""
    item = explain_item(run, "dataset_03", System("model-2", "base"), "dataset_03-00017")
    return f"{len(item.asked)} asked, {len(item.stored)} partitions"


QUESTIONS: dict[str, Callable[[PastRun], str]] = {
    "index": make_index,
    "first page": page(),
    "filtered page": page(status="wrong", model="model-5"),
    "deep filter": page(shortest=320, group="subset=c"),
    "ordered page": page(order="score"),
    "rare word": page(text=RARE),
    "common word": page(text="Lake"),
    "one row": one_row,
}


def make_run(lake: Lake, rows: int) -> int:
    """Write a run of about so many rows; the calls are there of one dataset and model, as `one row` needs them."""
    names = [f"dataset_{number:02}" for number in range(DATASETS)]
    blueprint = make_blueprint(names)
    items = round(rows / (DATASETS * MODELS * len(SETTINGS)))
    refs = [ref for number, name in enumerate(names) for ref in dataset_partitions(lake, name, items, number)]
    paths = [Path(str(lake.path(ref))) for ref in refs if ref.layer == "item_scores"]
    scores = pl.scan_parquet(paths, hive_partitioning=False, glob=False)
    scored = score_benchmark(scores, blueprint, ScoreSettings())
    refs += [keep(lake, layer, scored.layer(layer), benchmark=blueprint.name) for layer in AGGREGATED]
    about = {"benchmark": blueprint.name, "blueprint_sha256": "0" * 64, "package_version": "0", "git_commit": None}
    times = dict.fromkeys(("started_at", "finished_at"), "2026-01-01T00:00:00+00:00")
    plan = {"models": [{"name": f"model-{number}"} for number in range(MODELS)], "settings": list(SETTINGS)}
    fields = {"run": "20260101T000000000000Z.1-many", "blueprint": blueprint.model_dump(mode="json"), "plan": plan, "missing": ()}
    write_manifest(lake.root, RunManifest(**fields, **about, **times, partitions=tuple(refs), calls=CallCounts()))
    return items * DATASETS * MODELS * len(SETTINGS)


def make_blueprint(names: list[str]) -> Blueprint:
    """Return a blueprint with six datasets to an ability, one of which can veto; every sixth dataset is judged."""
    choice = MethodSpec(id="choice", metrics=(MetricSpec(metric="accuracy"),))
    judged = MethodSpec(id="judge", judged=True, rubric="summary", metrics=(MetricSpec(metric="mean_rating"),))
    abilities = tuple(
        Ability(
            id=f"ability_{first // 6}",
            title=f"Ability {first // 6}",
            tasks=tuple(Task(id=f"task_{name}", title=name, level="low", datasets=(name,)) for name in names[first : first + 6]),
        )
        for first in range(0, len(names), 6)
    )
    return Blueprint(
        name="many",
        title="Many",
        version="1",
        source="none",
        abilities=abilities,
        datasets={
            name: BlueprintDataset(title=name, methods=(judged if number % (DATASETS // JUDGED) == 0 else choice,))
            for number, name in enumerate(names)
        },
        level_rules=(LevelRule(weights={"low": 1.0}),),
        gate=Gate(ability="ability_9", threshold=60),
    )


def dataset_partitions(lake: Lake, name: str, items: int, seed: int) -> Iterator[PartitionRef]:
    """Yield the partitions of a dataset: its items, and what each model answered in each setting."""
    numbers = pl.DataFrame({"source_row": range(items)})
    subset = pl.Series("subset", ["a", "b", "c", None]).gather((numbers["source_row"] % 4).to_list())
    asked = numbers.with_columns(
        subset,
        text(items, seed).alias("question"),
        item_id=pl.format(f"{name}-{{}}", pl.col("source_row").cast(pl.String).str.zfill(5)),
        language=pl.when(pl.col("source_row") % 3 == 0).then(pl.lit("zh")).otherwise(pl.lit("en")),
        options=pl.lit(["yes", "no"], pl.List(pl.String)),
        gold_indices=pl.lit([0], pl.List(pl.Int64)),
        **{
            key: pl.lit(value) for key, value in {"dataset": name, "question_type": "single_choice", "fixed_order": False}.items()
        },
        source_file=pl.lit("many.jsonl"),
        source_row_sha256=pl.lit("0" * 64),
    ).with_columns(cluster="item_id")
    yield keep(lake, "items", asked, dataset=name)
    for system in range(MODELS * len(SETTINGS)):
        place = {"dataset": name, "model": f"model-{system % MODELS}", "setting": SETTINGS[system // MODELS]}
        for layer, frame, more in answered(asked, place, 1000 * seed + system):
            yield keep(lake, layer, frame, **place, **more)


@cache
def sentences() -> pl.Series:
    """Return sentences of some 100 characters."""
    return pl.Series([" ".join(pl.Series(WORDS.split()).sample(18, seed=number)) + "." for number in range(500)])


def text(rows: int, seed: int) -> pl.Series:
    """Return texts of some 300 characters, of which one in 300,000 has the rare word."""
    parts = [
        sentences().gather(pl.Series(range(500)).sample(rows, with_replacement=True, seed=3 * seed + part)) for part in range(3)
    ]
    joined = pl.select(pl.concat_str(*parts, separator=" ")).to_series()
    return joined.set(pl.Series(range(rows)) == rows // 2, f"{joined[rows // 2]} {RARE}") if seed % 300 == 7 else joined


def answered(items: pl.DataFrame, place: dict[str, str], seed: int) -> Iterator[tuple[str, pl.DataFrame, dict[str, str]]]:
    """Yield the layers of what a model answered: 30 % wrong, 5 % unread, 2 % lost; and their further keys."""
    about = {name: pl.lit(value) for name, value in place.items()}
    luck = pl.Series("luck", range(100)).sample(items.height, with_replacement=True, seed=seed)
    rows = items.select("item_id", "cluster").with_columns(luck, text(items.height, seed + 100_000).alias("said"), **about)
    rows = rows.with_columns(part=pl.lit(""), repetition=pl.lit(0), lost=pl.col("luck") < 2, call_key=pl.lit("0" * 64))
    lost, failure = pl.col("lost"), pl.when("lost").then(pl.lit("timeout_total"))
    status = pl.when("lost").then(pl.lit("failed")).otherwise(pl.lit("answered"))
    ended = rows.with_columns(status=status, failure=failure, text=pl.when(~lost).then("said"))
    if place["dataset"] == "dataset_03" and place["model"] == "model-2":
        sent = {"turn": 0, "role": "tested", "asked_model": "m", "step": "answer", "messages": "[]", "messages_sha256": "0" * 64}
        call = {name: pl.lit(value) for name, value in {**sent, "attempts": 1, "left_out_characters": 0}.items()}
        yield "responses", ended.with_columns(reply="text", **call), {}
    role = pl.when("lost").then(pl.lit("tested"))
    yield "answers", ended.with_columns(failed_role=role, call_keys=pl.concat_list("call_key")), {}
    is_judged = int(place["dataset"][-2:]) % (DATASETS // JUDGED) == 0
    outcome = (
        pl.when("lost")
        .then(pl.lit("call_failed"))
        .when((pl.col("luck") < 7) & (not is_judged))
        .then(pl.lit("unparsed"))
        .otherwise(pl.lit("scored"))
    )
    share = (pl.col("luck") % 5 / 4) if is_judged else (pl.col("luck") >= 7 + SCORED).cast(pl.Float64)
    scored = rows.with_columns(status=outcome, value=pl.when(~lost).then(share), parsed_answer=pl.lit("A"))
    method, metric = ("judge", "mean_rating") if is_judged else ("choice", "accuracy")
    yield "item_scores", scored.with_columns(method=pl.lit(method), metric=pl.lit(metric)), {}
    for number, judge in enumerate(JUDGES if is_judged else ()):
        given = rows.filter(~lost).join(pl.DataFrame({"dimension": DIMENSIONS}), how="cross")
        rating = (1 + (pl.col("luck") * (number + 1)) % 5).cast(pl.Int64)
        fixed = {"judge": judge, "judge_repetition": 0, "rubric": "summary", "lowest": 1, "highest": 5, "parse_status": "parsed"}
        yield (
            "judgements",
            given.with_columns(rating=rating, **{name: pl.lit(value) for name, value in fixed.items()}),
            {"judge": judge, "rubric": "summary"},
        )


if __name__ == "__main__":
    main()
