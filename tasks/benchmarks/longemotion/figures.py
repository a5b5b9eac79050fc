"""Figures 6, 7 and 8 of the LongEmotion paper for one's own models: by Sage, by length of the context, by chunks."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from statistics import mean
from typing import Any

import polars as pl

from schemas.chart import Axis, Chart, Point
from schemas.table import Column, Table, columns
from tasks.lake.manifest import newest_first
from tasks.lake.partitions import canonical_json
from tasks.runs.comparable_runs import basis
from tasks.runs.exhibits import RankedModels
from tasks.runs.past_run import PastRun
from tasks.runs.sections import Block
from tasks.solvers.registry import SOLVERS, setting_title
from tasks.text.number_format import counted, number, signed

SAGE, WITH_SAGE = "sage", "coem"
CLASSIFICATION = "emotion_classification"
PERCENT = Axis("Score", 0, 100)
Scores = dict[tuple[str, str, str], dict[Any, float]]
"""By model, setting and dataset: a score for each value of what differs between runs."""

Split = Callable[[dict[str, Any], Mapping[str, Any]], tuple[Any, object]]
"""Takes what a run rests on, and its plan, apart into the value that differs between runs and the rest."""


def compare_variants(runs: Mapping[str, PastRun], split: Split) -> Iterator[Scores]:
    """Yield the scores of runs that are alike but for one thing, where that has several values; the newest of each counts."""
    alike: dict[str, dict[Any, PastRun]] = defaultdict(dict)
    for name in newest_first(runs):
        manifest = runs[name].manifest
        value, rest = split(basis(manifest), manifest.plan)
        alike[canonical_json(rest)].setdefault(value, runs[name])
    for variants in alike.values():
        scores: Scores = defaultdict(dict)
        for value, run in variants.items() if len(variants) > 1 else ():
            rows = run.read("dataset_scores").drop_nulls("score_0_100")
            for model, setting, dataset, score in rows.select("model", "setting", "dataset", "score_0_100").iter_rows():
                scores[model, setting, dataset][value] = score
        yield {system: by_value for system, by_value in scores.items() if len(by_value) > 1}


def title_of(models: RankedModels, dataset: str) -> str:
    """Return the title of a dataset, its id where the present blueprint has none."""
    entry = models.blueprint.datasets.get(dataset)
    return entry.title if entry else dataset


def lay_out_sages(models: RankedModels) -> Iterator[Block]:
    """Yield Figure 6: scores of the same models with several Sages, a line for each model."""

    def split(record: dict[str, Any], _plan: object) -> tuple[str, object]:
        names = dict.fromkeys(entry[0] for entries in record.pop(SAGE, {}).values() for entry in entries)
        return ", ".join(names) or "the model itself", record

    for scores in compare_variants(models.runs, split):
        by_dataset = defaultdict[str, dict[str, Mapping[str, float]]](dict)
        for (model, setting, dataset), by_sage in scores.items():
            if setting == WITH_SAGE:
                by_dataset[dataset][model] = by_sage
        for dataset, by_model in by_dataset.items():
            yield Block(charts=(_draw_sages(title_of(models, dataset), by_model),))


def _draw_sages(dataset: str, by_model: Mapping[str, Mapping[str, float]]) -> Chart:
    sages = sorted({sage for by_sage in by_model.values() for sage in by_sage})
    whole = [by_sage for by_sage in by_model.values() if len(by_sage) == len(sages)] or [max(by_model.values(), key=len)]
    means = {sage: mean(by_sage[sage] for by_sage in whole) for sage in whole[0]}
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    title = f"{dataset}: {setting_title(WITH_SAGE)} by Sage"
    lines = [(model, *map(by_sage.get, sages)) for model, by_sage in by_model.items()]
    return Chart(
        title,
        f"{counted(len(whole), 'model')} scored highest with {best} as Sage ({number(means[best])} on average) and lowest with"
        f" {worst} ({number(means[worst])}).",
        "lines",
        tuple(
            Point(sage, by_model[model][sage], model, is_own=True)
            for sage in sages
            for model in by_model
            if sage in by_model[model]
        ),
        Table((Column("Model", "name"), *columns("score", *sages)), lines, title),
        Axis("Sage"),
        PERCENT,
        note="Runs that differ in the Sage alone.",
    )


def lay_out_chunks(models: RankedModels) -> Iterator[Block]:
    """Yield Figure 8: a score for each length of chunks and number of them that one's own runs vary."""

    def split(record: dict[str, Any], _plan: object) -> tuple[tuple[str, ...], object]:
        retrieval = dict(record["retrieval"])
        chosen = (str(retrieval.pop(name, None) or "as the preset") for name in ("chunk_tokens", "top_k"))
        return tuple(chosen), {**record, "retrieval": retrieval}

    for scores in compare_variants(models.runs, split):
        for (model, setting, dataset), cells in scores.items():
            if SOLVERS[setting].retrieves:
                title = f"{title_of(models, dataset)}: by chunks, {model}, {setting_title(setting)}"
                yield Block(charts=(_draw_chunks(title, cells),))


def _draw_chunks(title: str, cells: Mapping[tuple[str, ...], float]) -> Chart:
    sizes, counts = (sorted({cell[end] for cell in cells}, key=lambda text: (len(text), text)) for end in (0, 1))
    best, worst = max(cells, key=cells.__getitem__), min(cells, key=cells.__getitem__)
    heads = (*columns("name", "Tokens of a chunk", "Chunks"), Column("Score", "score"))
    return Chart(
        title,
        f"{best[1]} chunks of {best[0]} tokens score highest ({number(cells[best])}), {worst[1]} of {worst[0]} tokens lowest"
        f" ({number(cells[worst])}).",
        "grid",
        tuple(Point(size, count, value=cells.get((size, count))) for count in counts for size in sizes),
        Table(heads, [(size, count, cells.get((size, count))) for size in sizes for count in counts], title),
        note="Across: tokens of a chunk; down: chunks that are shown to the model. Runs that differ in these alone.",
    )


def lay_out_lengths(models: RankedModels) -> Iterator[Block]:
    """Yield Figure 7: scores of emotion classification by length of the context, for each setting and dataset."""
    tasks = next(main.tasks for main in models.blueprint.abilities if main.id == CLASSIFICATION)
    for setting in models.settings:
        grids = {row.model: models.read(row, "needle_scores") for row in models.in_setting(setting).rows if row.run}
        for dataset in (entry.id for task in tasks for entry in task.datasets):
            methods = models.blueprint.datasets[dataset].methods
            counting = pl.col("metric").is_in([spec.metric for method in methods for spec in method.metrics if spec.weight])
            curves = {
                model: _by_length(grid.filter(counting, dataset=dataset)) for model, grid in grids.items() if grid is not None
            }
            if curves := {model: curve for model, curve in curves.items() if len(curve) > 1}:
                title = f"{title_of(models, dataset)}: by length, {setting_title(setting)}"
                yield Block(charts=(_draw_lengths(title, curves),))


def _by_length(grid: pl.DataFrame) -> dict[tuple[int, str], float]:
    """Return the mean over items on 0-100 by length, whatever the depth of the needle."""
    score = 100 * (pl.col("value") * pl.col("n")).sum() / pl.col("n").sum()
    means = grid.drop_nulls("value").group_by("length_tokens", "length_bin").agg(score.alias("score")).sort("length_tokens")
    return {(tokens, label): mean for tokens, label, mean in means.iter_rows()}


def _draw_lengths(title: str, curves: Mapping[str, Mapping[tuple[int, str], float]]) -> Chart:
    lengths = sorted({length for curve in curves.values() for length in curve})
    changes = {model: curve[max(curve)] - curve[min(curve)] for model, curve in curves.items()}
    most, least = (end(changes, key=lambda model: abs(changes[model])) for end in (max, min))
    other = f", {least} least ({signed(changes[least])})" if least != most else ""
    lines = [(label, *(curve.get((tokens, label)) for curve in curves.values())) for tokens, label in lengths]
    return Chart(
        title,
        f"From the shortest to the longest contexts {most} changes most ({signed(changes[most])} points){other}.",
        "lines",
        tuple(Point(at[1], curve[at], model, is_own=True) for at in lengths for model, curve in curves.items() if at in curve),
        Table((Column("Tokens", "name"), *columns("score", *curves)), lines, title),
        Axis("Tokens of the context"),
        PERCENT,
    )


FIGURES = (("sages", lay_out_sages, False), ("lengths", lay_out_lengths, True), ("chunks", lay_out_chunks, False))
"""Name, what lays it out, and whether it is about one group of runs."""
