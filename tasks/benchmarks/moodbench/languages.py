"""The section of the report on languages: Chinese and English items of the same tasks side by side.

FDAEF names a category Supporting that version 1.0 does not measure; of its parts this is the one that texts can show today.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from schemas.blueprint import Ability, Blueprint
from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.benchmarks.moodbench.catalogue import DATASETS
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row, System
from tasks.runs.sections import Block, RunSection
from tasks.scoring.aggregation import aggregate_scores, metric_contributions
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.gains import MARGIN, MOST, Paired, Spec, difference_cell, score_together, strata_of
from tasks.scoring.reduction import COUNTED, SPEC
from tasks.scoring.tree import Tree, tree_tables
from tasks.statistics.paired import compare_strata
from tasks.text.number_format import counted

LANGUAGES = {"zh": "Chinese", "en": "English"}
SIGNS = {"zh": 1.0, "en": -1.0}
ALL = ""
"""In place of a task: the mean over all of them."""

VALUES = ["score", "ci_low", "ci_high", "n"]
PART, SHARED = ["model", "language", "task"], ["model", "setting", "task"]
_APART = "\x1f"


def read_languages(run: PastRun) -> tuple[Row, ...]:
    """Compare both languages in each task of the benchmark that is asked in both, ALL first; nothing where there is none.

    Returns:
        Model, setting, `task`; `score_zh`, on 0-100, with its 95 % interval and `n_zh` items scored, and the same of `en`;
        `difference`, Chinese less English, with its interval; `shared`: datasets of the task that are in both languages;
        `tasks` scored in both, of which ALL is the mean.
    """
    names = [spec.id for spec in DATASETS if spec.id in run.blueprint.datasets]
    if not names:
        return ()
    language = pl.col("language").cast(pl.String)
    own = run.read("items").filter(pl.col("dataset").is_in(names), language.is_in([*LANGUAGES]))
    rows = run.read("item_scores").join(own.select("dataset", "item_id", language), on=["dataset", "item_id"])
    spoken = dict(rows.group_by("dataset").agg(pl.col("language").unique()).iter_rows())
    tasks = [
        task for _, task in run.blueprint.tasks() if len({of for entry in task.datasets for of in spoken.get(entry.id, ())}) > 1
    ]
    if not tasks:
        return ()
    ability = Ability(id="tasks", title="", tasks=tuple(task.model_copy(update={"level": tasks[0].level}) for task in tasks))
    datasets = {name: run.blueprint.datasets[name] for name in ability.dataset_ids}
    blueprint = run.blueprint.model_copy(update={"abilities": (ability,), "gate": None, "datasets": datasets})
    places = [(entry.id, task.id) for task in tasks for entry in task.datasets]
    spread = rows.join(pl.DataFrame(places, {"dataset": pl.String, "task": pl.String}, orient="row"), on="dataset")
    of_tasks = compare_languages(spread, blueprint).with_columns(tasks=pl.col("difference").is_not_null().cast(pl.Int64))
    both = spread.join(of_tasks.filter(tasks=1), on=SHARED, how="semi").with_columns(task=pl.lit(ALL))
    means = of_tasks.group_by("model", "setting").agg(pl.col("tasks").sum(), task=pl.lit(ALL))
    if both.height:
        means = means.join(compare_languages(both, blueprint), on=SHARED, how="left")
    scores = pl.concat([of_tasks, means], how="diagonal")
    shared = {task.id: [entry.id for entry in task.datasets if len(spoken.get(entry.id, ())) > 1] for task in tasks}
    return tuple({**row, "shared": shared.get(row["task"], [])} for row in scores.sort("model", "setting", "task").to_dicts())


def compare_languages(rows: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Return scores by model, setting and task, one language beside the other, and the difference with its interval.

    Items of a cluster are drawn together, whatever their language: a text and its translation.

    Args:
        rows: rows of `item_scores` with `language` and `task`.
        blueprint: of one ability with these tasks.
    """
    # What a model made of a task in a language is a model of its own, whose total is the mean of its tasks.
    models = rows.with_columns(model=pl.concat_str(PART, separator=_APART)).drop("language", "task")
    scored, tree = score_benchmark(models.lazy(), blueprint, ScoreSettings()), tree_tables(blueprint)
    parts = pl.col("model").str.split_exact(_APART, len(PART) - 1).struct.rename_fields(PART).alias("part")
    totals = scored.totals.select("setting", parts, "ci_low", "ci_high", score="total_before_veto", n="n_scored").unnest("part")
    counted = metric_contributions(scored.normalized, aggregate_scores(scored.normalized, tree), tree)
    weights = counted.with_columns(parts).drop("model").unnest("part").partition_by(SHARED, as_dict=True)
    compared = [
        dict(zip(SHARED, key, strict=True)) | _differ(own, weights[key], tree)
        for key, own in rows.partition_by(SHARED, as_dict=True).items()
        if key in weights and weights[key]["language"].n_unique() > 1
    ]
    schema = {**dict.fromkeys(SHARED, pl.String), **dict.fromkeys(("difference", "ci_low", "ci_high"), pl.Float64)}
    wide = totals.pivot("language", index=SHARED, values=VALUES)
    return wide.join(pl.DataFrame(compared, schema), on=SHARED, how="left")


def _differ(rows: pl.DataFrame, weights: pl.DataFrame, tree: Tree) -> dict[str, float | None]:
    """Return Chinese less English of one model and task, with the interval. `weights`: `contribution` by language and SPEC."""
    by_spec = weights.select(
        *SPEC, "language", part=pl.col("contribution") * pl.col("language").replace_strict(SIGNS)
    ).rows_by_key(SPEC)
    named = rows.filter(pl.col("status").is_in(COUNTED)).with_columns(setting="language")
    pairs: dict[Spec, Paired] = {}
    for spec, parts in by_spec.items():
        pairs |= score_together(named.filter(**dict(zip(SPEC, spec, strict=True))), [language for language, _ in parts], tree)
    found = compare_strata(
        strata_of(pairs, {spec: np.array([part for _, part in parts]) for spec, parts in by_spec.items()}), MARGIN, MOST, MOST
    )
    return {"difference": found.mean, "ci_low": found.ci_low, "ci_high": found.ci_high}


WORDS = (
    "Scores on 0–100 of tasks asked in both languages, with 95 % intervals and numbers of items. The difference is Chinese "
    "less English, bold where its interval leaves out 0; where no dataset of a task is in both, it is one of datasets, too."
)
SCORES = (*columns("score", *LANGUAGES.values(), digits=1), Column("Difference", "difference", 1))
WANTED = 2
"""Datasets of a task that the paper aims at."""


def lay_out_languages(data: ReportData, rows: tuple[Row, ...]) -> Iterator[Block]:
    """Yield the mean over the tasks by model, and below it the tasks."""
    titles = {ALL: "", **{task.id: task.title for _, task in data.blueprint.tasks()}}
    few = sum(len(task.datasets) < WANTED for _, task in data.blueprint.tasks())
    compared = counted(len({row["task"] for row in rows} - {ALL}), "task")
    counts = (
        f"They are {compared} of {len(titles) - 1}; of all, {few} have fewer than the {WANTED} datasets that the paper aims at."
    )
    tables: dict[bool, list[tuple[Value, ...]]] = {True: [], False: []}
    for row in rows:
        name = System(row["model"], row["setting"]).label
        shared = ", ".join(map(data.title_of, row["shared"]))
        cells = (row["tasks"], *_cells(row)) if row["task"] == ALL else (titles[row["task"]], *_cells(row), shared)
        tables[row["task"] == ALL].append((name, *cells))
    means = Table((Column("Model", "name"), Column("Tasks", "count"), *SCORES), tables[True], "Mean over tasks scored in both")
    yield Block("Mean over tasks scored in both", f"{WORDS} {counts}", (means,))
    heads = (*columns("name", "Model", "Task"), *SCORES, Column("In both languages"))
    yield Block("Task by task", tables=(Table(heads, tables[False], "Task by task"),), folds=True)


def _cells(row: Row) -> Iterator[Value]:
    for of in LANGUAGES:
        score, low, high, n = (row[f"{name}_{of}"] for name in VALUES)
        yield Cell(score, f"{n or 0:,d}", interval=Interval.of(low, high))
    yield difference_cell(row["difference"], row)


SECTIONS = (RunSection("languages", read_languages, "Chinese and English", lay_out_languages),)
