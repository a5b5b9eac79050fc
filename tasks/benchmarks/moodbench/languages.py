"""The section of the report on languages: Chinese and English items of the same tasks side by side.

FDAEF names a category Supporting that version 1.0 does not measure; of its parts this is the one that texts can show today. The
difference of two scores has the interval of Zou and Donner 2008 (MOVER), as items of two languages are drawn apart. Where a text
and its translation are drawn together, it is rather too wide.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from math import hypot
from operator import itemgetter
from typing import Literal

import polars as pl

from schemas.blueprint import Ability
from schemas.table import Cell, Column, Interval, Table, Value, columns
from tasks.benchmarks.moodbench.catalogue import DATASETS
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, Row, System
from tasks.runs.sections import Block, RunSection
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.gains import is_clear
from tasks.text.number_format import counted

LANGUAGES = {"zh": "Chinese", "en": "English"}
"""Of which the difference is that of the first less the second."""

ALL = ""
"""In place of a task: the mean over all of them."""

LIMITS = ("ci_low", "ci_high")
_APART = "\x1f"


def read_languages(run: PastRun) -> tuple[Row, ...]:
    """Compare both languages in each task of the benchmark whose items are in both; nothing where there is none.

    Returns:
        One row per model, setting and `task`, ALL first: of each language `score` on 0-100 with its 95 % interval and `n` items
        scored; `difference` with its interval; `shared`, the task's datasets that have items in both. Null = nothing was scored.
    """
    language = pl.col("language").cast(pl.String)
    items = run.read("items").filter(pl.col("dataset").is_in([spec.id for spec in DATASETS]), language.is_in(list(LANGUAGES)))
    languages = items.select("dataset", "item_id", language)
    spoken = {str(name): {*rows["language"]} for (name,), rows in languages.group_by("dataset")}
    tasks = [task for _, task in run.blueprint.tasks()]
    tasks = [task for task in tasks if len({tongue for entry in task.datasets for tongue in spoken.get(entry.id, ())}) > 1]
    if not tasks:
        return ()
    at_one_level = tuple(task.model_copy(update={"level": tasks[0].level}) for task in tasks)
    ability = Ability(id="tasks", title="Tasks", tasks=at_one_level)
    datasets = {name: run.blueprint.datasets[name] for name in ability.dataset_ids}
    blueprint = run.blueprint.model_copy(update={"abilities": (ability,), "gate": None, "datasets": datasets})
    places = [(entry.id, name) for task in tasks for entry in task.datasets for name in (ALL, task.id)]
    by_task = pl.DataFrame(places, {"dataset": pl.String, "task": pl.String}, orient="row")
    # A model, its language and the task are a model of its own: its total is the mean of the tasks that it has scores of.
    rows = run.read("item_scores").join(languages, on=["dataset", "item_id"]).join(by_task, on="dataset")
    rows = rows.with_columns(model=pl.concat_str("model", "language", "task", separator=_APART)).drop("language", "task")
    plan = run.manifest.plan
    settings = ScoreSettings(seed=plan.get("seed", 0), bootstrap=plan.get("bootstrap", 0))
    totals = {(row["model"], row["setting"]): row for row in score_benchmark(rows.lazy(), blueprint, settings).totals.to_dicts()}
    shared = {task.id: [entry.id for entry in task.datasets if len(spoken.get(entry.id, ())) > 1] for task in tasks}
    return tuple(
        {**system._asdict(), "task": task, **_compare(totals, system, task), "shared": shared.get(task, [])}
        for system in run.systems
        for task in (ALL, *shared)
    )


def _compare(totals: Mapping[tuple[str, str], Row], system: System, task: str) -> Row:
    scores = {}
    for language in LANGUAGES:
        row = totals.get((_APART.join((system.model, language, task)), system.setting), {})
        limits = {name: row.get(name) for name in LIMITS}
        scores[language] = {"score": row.get("total_before_veto"), **limits, "n": row.get("n_scored", 0)}
    return {**scores, **subtract_scores(*scores.values())}


def subtract_scores(first: Row, second: Row) -> Row:
    """Return the difference of two scores of other items, and its interval; null where a score, or an interval, is."""
    difference, low, high = None, None, None
    if None not in (first["score"], second["score"]):
        difference = first["score"] - second["score"]
        if None not in (*map(first.get, LIMITS), *map(second.get, LIMITS)):
            low = difference - hypot(first["score"] - first["ci_low"], second["ci_high"] - second["score"])
            high = difference + hypot(first["ci_high"] - first["score"], second["score"] - second["ci_low"])
    return {"difference": difference, "ci_low": low, "ci_high": high}


WORDS = (
    "Scores on 0–100 of tasks asked in both languages, with 95 % intervals and numbers of items. The difference is Chinese "
    "less English, bold where its interval leaves out 0; where no dataset of a task is in both, it is one of datasets, too."
)
SCORES = (*columns("score", *LANGUAGES.values(), digits=1), Column("Difference", "difference", 1))
WANTED = 2
"""Datasets of a task that the paper aims at."""


def lay_out_languages(data: ReportData, rows: tuple[Row, ...]) -> Iterator[Block]:
    """Yield the mean over the tasks by model, and each model's tasks."""
    tasks = {task.id: task for _, task in data.blueprint.tasks()}
    few = sum(len(task.datasets) < WANTED for task in tasks.values())
    compared = counted(len({row["task"] for row in rows} - {ALL}), "task")
    counts = f"They are {compared} of {len(tasks)}; of all, {few} have fewer than the {WANTED} datasets that the paper aims at."
    of_system = {System(*key): [*group] for key, group in groupby(rows, itemgetter("model", "setting"))}
    means = [(system.label, *_cells(mean)) for system, (mean, *_) in of_system.items()]
    yield Block("Mean over these tasks", f"{WORDS} {counts}", (Table((Column("Model", "name"), *SCORES), means),))
    heads = (Column("Task", "name"), *SCORES, Column("In both languages"))
    for system, (_, *others) in of_system.items():
        shared = (", ".join(map(data.title_of, row["shared"])) or None for row in others)
        cells = [(tasks[row["task"]].title, *_cells(row), names) for row, names in zip(others, shared, strict=True)]
        yield Block(system.label, tables=(Table(heads, cells),), folds=True)


def _cells(row: Row) -> Iterator[Value]:
    for language in LANGUAGES:
        score = row[language]
        yield Cell(score["score"], f"{score['n']:,d}", interval=Interval.of(score["ci_low"], score["ci_high"]))
    mark: Literal["clear"] | None = "clear" if is_clear(row) else None
    yield Cell(row["difference"], mark=mark, interval=Interval.of(row["ci_low"], row["ci_high"]))


SECTIONS = (RunSection("languages", read_languages, "Chinese and English", lay_out_languages),)
