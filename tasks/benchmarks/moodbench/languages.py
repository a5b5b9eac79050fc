"""The section of the report on languages: Chinese and English items of the same tasks side by side.

FDAEF names a category Supporting that version 1.0 does not measure; of its parts this is the one that texts can show today.
"""

from collections.abc import Iterator

import polars as pl

from schemas.blueprint import Ability, Blueprint
from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.benchmarks.moodbench.catalogue import DATASETS
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row, System
from tasks.runs.sections import Block, RunSection
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.gains import difference_cell
from tasks.text.number_format import counted

LANGUAGES = {"zh": "Chinese", "en": "English"}
ALL = ""
"""In place of a task: the mean over all of them."""

VALUES = ["score", "ci_low", "ci_high", "n"]
PART = ["model", "language", "task"]
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
    settings = ScoreSettings(seed=run.manifest.plan.get("seed", 0), bootstrap=run.manifest.plan.get("bootstrap", 0))
    of_tasks = _compare(spread, blueprint, settings).with_columns(tasks=pl.col("difference").is_not_null().cast(pl.Int64))
    both = spread.join(of_tasks.filter(tasks=1), on=["model", "setting", "task"], how="semi").with_columns(task=pl.lit(ALL))
    means = of_tasks.group_by("model", "setting").agg(pl.col("tasks").sum(), task=pl.lit(ALL))
    if both.height:
        means = means.join(_compare(both, blueprint, settings), on=["model", "setting", "task"], how="left")
    scores = pl.concat([of_tasks, means], how="diagonal")
    shared = {task.id: [entry.id for entry in task.datasets if len(spoken.get(entry.id, ())) > 1] for task in tasks}
    return tuple({**row, "shared": shared.get(row["task"], [])} for row in scores.sort("model", "setting", "task").to_dicts())


def _compare(rows: pl.DataFrame, blueprint: Blueprint, settings: ScoreSettings) -> pl.DataFrame:
    # What a model made of a task in a language is a model of its own, whose total is the mean of its tasks.
    models = rows.with_columns(model=pl.concat_str(PART, separator=_APART)).drop("language", "task")
    return compare_languages(score_benchmark(models.lazy(), blueprint, settings).totals)


def compare_languages(totals: pl.DataFrame) -> pl.DataFrame:
    """Return scores by model, setting and task, one language beside the other, from totals of models that are PART.

    Source of a difference's interval: Zou and Donner 2008 (MOVER): items of two languages are drawn apart. It is rather too wide
    where a text and its translation are drawn together.
    """
    parts = pl.col("model").str.split_exact(_APART, len(PART) - 1).struct.rename_fields(PART)
    scores = totals.select("setting", parts.alias("part"), "ci_low", "ci_high", score="total_before_veto", n="n_scored")
    wide = scores.unnest("part").pivot("language", index=["model", "setting", "task"], values=VALUES)
    zh, en = ({name: pl.col(f"{name}_{language}") for name in VALUES} for language in LANGUAGES)
    difference = zh["score"] - en["score"]
    below = ((zh["score"] - zh["ci_low"]) ** 2 + (en["ci_high"] - en["score"]) ** 2).sqrt()
    above = ((zh["ci_high"] - zh["score"]) ** 2 + (en["score"] - en["ci_low"]) ** 2).sqrt()
    return wide.with_columns(difference=difference, ci_low=difference - below, ci_high=difference + above)


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
