"""How long the scores of a large leaderboard take, against a plain mean over the same rows.

Writes item scores of 1,000 models on the 60 datasets of moodbench with 300 items each (18.9 million rows: four of them have two
metrics) to Parquet, with the columns, statuses and gaps of real ones, and measures, each in a fresh process:

    scores      reading the files to the ranked leaderboard with its intervals, by the function that runs use
    peer        polars alone: scan, group by model and dataset, mean of the values

Usage: python benchmarks/scoring.py [--models 1000] [--repeats 3]
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402  the project is imported from its folder
import polars as pl  # noqa: E402

from schemas.blueprint import Blueprint, MethodSpec  # noqa: E402
from schemas.metrics import METRICS, Metric  # noqa: E402
from schemas.tables.scores import ItemScores  # noqa: E402
from schemas.vocabulary import ITEM_STATUSES  # noqa: E402
from tasks.scoring.benchmark import ScoreSettings, score_benchmark  # noqa: E402
from tasks.scoring.blueprints import load_blueprint  # noqa: E402
from tasks.scoring.reduction import label_metrics  # noqa: E402

ITEMS = 300
LABELS = {"goemotions": 28}
"""Labels to choose from in datasets scored by F1 over labels; in others there are four."""

SHARES = ("token_f1", "rouge_1", "rouge_l", "bleu", "judged_rating", "questionnaire_points", "mrr", "recall_at_k")
"""Metrics whose item values are not only 0 and 1."""

AIM_S, AIM_MB = 30.0, 2048


class Measured(NamedTuple):
    """One measurement in a fresh process."""

    seconds: float
    peak_mb: float


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3, help="fresh processes per measurement; the fastest counts")
    parser.add_argument("--measure", choices=("scores", "peer"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure_here(options.measure, options.folder)))
        return
    with tempfile.TemporaryDirectory(prefix="moodflow-scoring-") as name:
        rows = generate(Path(name), options.models)
        print(f"{rows:,} item scores of {options.models:,} models; fastest of {options.repeats} fresh processes each")
        found = {what: measure(what, name, options.repeats) for what in ("peer", "scores")}
    report(found)


def report(found: dict[str, Measured]) -> None:
    """Print the measurements and how they stand to the aims."""
    for what, measured in found.items():
        print(f"{what:10s} {measured.seconds:7.2f} s {measured.peak_mb:7.0f} MB peak")
    print(f"scores / peer: {found['scores'].seconds / found['peer'].seconds:.2f}")
    print(
        f"scores: {found['scores'].seconds:.1f} s (aim below {AIM_S:.0f}), {found['scores'].peak_mb:.0f} MB (aim below {AIM_MB})"
    )


def measure(what: str, folder: str, repeats: int) -> Measured:
    """The fastest of several fresh processes."""
    command = [sys.executable, __file__, "--measure", what, "--folder", folder]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(repeats)]
    return min(Measured(*json.loads(run.stdout)) for run in runs)


def measure_here(what: str, folder: Path) -> Measured:
    """Run one of the measured jobs in this process; imports are not timed."""
    source = str(folder / "*.parquet")
    blueprint = load_blueprint("moodbench")

    jobs: dict[str, Callable[[], pl.DataFrame]] = {
        "scores": lambda: score_benchmark(pl.scan_parquet(source), blueprint, ScoreSettings()).totals,
        "peer": lambda: pl.scan_parquet(source).group_by("model", "dataset").agg(pl.col("value").mean()).collect(),
    }
    started = time.perf_counter()
    jobs[what]()
    seconds = time.perf_counter() - started
    return Measured(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def generate(folder: Path, models: int) -> int:
    """Write one file of item scores per dataset; returns the number of rows."""
    blueprint, rows = load_blueprint("moodbench"), 0
    rng = np.random.default_rng(0)
    names = pl.Series("model", [f"vendor-{number % 40}/model-{number:04d}-instruct" for number in range(models)])
    skill = rng.normal(0.65, 0.12, models).clip(0.05, 0.95)
    for position, dataset in enumerate(blueprint.datasets):
        # Every fiftieth model lacks some datasets.
        asked = np.flatnonzero((np.arange(models) % 50 != position % 50) | (np.arange(models) < models // 2))
        frame = _dataset_rows(blueprint, dataset, names.gather(asked), skill[asked], rng)
        if position == 0:
            ItemScores.validate(frame)
        frame.write_parquet(folder / f"{dataset}.parquet")
        rows += frame.height
    return rows


def _dataset_rows(
    blueprint: Blueprint, dataset: str, names: pl.Series, skill: np.ndarray, rng: np.random.Generator
) -> pl.DataFrame:
    parts = [
        _metric_rows(dataset, method, spec.metric, names, skill, rng)
        for method in blueprint.datasets[dataset].methods
        for spec in method.metrics
    ]
    return pl.concat(parts).sort(ItemScores.primary_key())


def _metric_rows(
    dataset: str, method: MethodSpec, metric: Metric, names: pl.Series, skill: np.ndarray, rng: np.random.Generator
) -> pl.DataFrame:
    rows = len(names) * ITEMS
    right = rng.random(rows) < np.repeat(skill, ITEMS)
    share = rng.beta(4, 2, rows).round(4) if metric in SHARES else right.astype(float)
    weights = [0.96, 0.03, 0.005, 0.005 if method.judged else 0.0, 0.0 if method.judged else 0.005]
    status = pl.Series(ITEM_STATUSES, dtype=pl.Enum(list(ITEM_STATUSES))).gather(rng.choice(len(ITEM_STATUSES), rows, p=weights))
    none = pl.Series([None], dtype=pl.List(pl.String)).new_from_index(0, rows)
    predicted, gold = _labels(metric, LABELS.get(dataset, 4), right, rng) if metric in label_metrics() else (none, none)
    frame = pl.DataFrame(
        {
            "model": names.gather(np.repeat(np.arange(len(names)), ITEMS)),
            "item_id": pl.Series([f"{dataset}-{item:05d}" for item in range(ITEMS)]).gather(
                np.tile(np.arange(ITEMS), len(names))
            ),
            "value": share,
            "status": status,
            "parsed_answer": pl.Series(["A", "B", "C", "D"]).gather(rng.integers(0, 4, rows)),
            "predicted": predicted,
            "gold": gold,
        }
    )
    return _finished(frame, dataset, method.id, metric)


def _finished(frame: pl.DataFrame, dataset: str, method: str, metric: Metric) -> pl.DataFrame:
    scored, unparsed = pl.col("status") == "scored", pl.col("status") == "unparsed"
    columns = frame.with_columns(
        dataset=pl.lit(dataset),
        method=pl.lit(method),
        metric=pl.lit(metric),
        setting=pl.lit("base"),
        part=pl.lit(""),
        repetition=pl.lit(0, pl.Int64),
        cluster="item_id",
        chosen_place=pl.when(scored).then(pl.lit(0, pl.Int64)),
        gold_place=pl.lit(0, pl.Int64),
        error=pl.lit(None, pl.String),
        parsed_answer=pl.when(scored).then("parsed_answer"),
        predicted=pl.when(scored).then("predicted"),
        value=pl.when(scored).then("value").when(unparsed).then(0.0),
    )
    return columns.select(ItemScores.column_names())


def _labels(metric: Metric, known: int, right: np.ndarray, rng: np.random.Generator) -> tuple[pl.Series, pl.Series]:
    """Label sets of one or (with more than two labels) up to two labels; a wrong answer draws anew. Roles, for scores of bias."""
    if metric == "binary_f1":
        truth = rng.integers(0, 2, len(right))
        return _picked([["positive"], []], np.where(right, truth, 1 - truth)), _picked([["positive"], []], truth)
    if METRICS[metric].reduction == "bias":
        said = np.where(right, 0, rng.integers(1, 3, len(right)))
        return _picked([["unknown"], ["target"], ["other"]], said), _picked([["unknown"]], np.zeros(len(right), dtype=int))
    if METRICS[metric].reduction == "preference":
        orders = [list(order) for order in permutations(("stereotype", "anti_stereotype", "unrelated"))]
        terms = np.tile(np.arange(ITEMS) % 80, len(right) // ITEMS)
        return _picked(orders, rng.integers(0, 6, len(right))), _picked([[f"term {term}"] for term in range(80)], terms)
    names = pl.Series([f"label_{label}" for label in range(known)])
    gold = _drawn(names, len(right), rng)
    other = _drawn(names, len(right), rng)
    chosen = pl.DataFrame({"gold": gold, "other": other, "right": right}).select(pl.when("right").then("gold").otherwise("other"))
    return chosen.to_series(), gold


def _picked(kinds: list[list[str]], places: np.ndarray) -> pl.Series:
    return pl.Series(kinds, dtype=pl.List(pl.String)).gather(places)


def _drawn(names: pl.Series, rows: int, rng: np.random.Generator) -> pl.Series:
    several = rng.random(rows) < 0.3 if len(names) > 2 else np.zeros(rows, dtype=bool)
    first = names.gather(rng.integers(0, len(names), rows))
    second = names.gather(rng.integers(0, len(names), rows))
    drawn = pl.DataFrame({"first": first, "second": second, "several": several})
    pair = pl.concat_list("first", "second").list.unique()
    return drawn.select(pl.when("several").then(pair).otherwise(pl.concat_list("first"))).to_series()


if __name__ == "__main__":
    main()
