"""Figures 6, 7 and 8 of the LongEmotion paper for one's own models: by Sage, by length of the context, by chunks."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from statistics import mean
from typing import Any

import polars as pl

from schemas.chart import Axis, Chart, Point
from schemas.table import Column, Table, columns
from tasks.lake.manifest import newest_first
from tasks.lake.partitions import canonical_json
from tasks.runs.comparable_runs import basis, parameters_of
from tasks.runs.exhibits import RankedModels
from tasks.runs.sections import Block
from tasks.solvers.registry import SOLVERS, setting_title
from tasks.text.number_format import counted, say_ends, signed

SAGE, WITH_SAGE = "sage", "coem"
Scores = dict[tuple[str, str, str], dict[Any, float]]
"""By model, setting and title of the ability: a score for each value of what differs between runs."""

Take = Callable[[dict[str, Any], dict[str, Any]], Any]
"""Takes the value that differs between runs out of what a run rests on, or out of a model's parameters, and returns it."""


def compare_variants(models: RankedModels, take: Take) -> Iterator[Scores]:
    """Yield scores of models that were asked alike but for one thing, where that has several values; the newest run counts."""
    alike = defaultdict[str, Scores](lambda: defaultdict(dict))
    own = dict.fromkeys(row.model for row in models.rows if row.run)
    for run, model in product(map(models.runs.__getitem__, newest_first(models.runs)), own):
        record, parameters = basis(run.manifest), parameters_of(run.manifest, model)
        value, rest = take(record, parameters), canonical_json([record, parameters])
        titles = {main.id: main.title for main in run.blueprint.abilities}
        rows = run.read("ability_scores").filter(model=model).select("setting", "ability", "score_0_100")
        for setting, ability, score in rows.iter_rows():
            alike[rest][model, setting, titles[ability]].setdefault(value, score)
    for scores in alike.values():
        known = {system: {value: score for value, score in of.items() if score is not None} for system, of in scores.items()}
        yield {system: by_value for system, by_value in known.items() if len(by_value) > 1}


def lay_out_sages(models: RankedModels) -> Iterator[Block]:
    """Yield Figure 6: scores of the same models with several Sages, a figure for each ability and a line for each model."""

    def take(record: dict[str, Any], _parameters: object) -> str:
        names = dict.fromkeys(entry[0] for entries in record.pop(SAGE, {}).values() for entry in entries)
        return ", ".join(names) or "the model itself"

    for scores in compare_variants(models, take):
        by_ability = defaultdict[str, dict[str, Mapping[str, float]]](dict)
        for (model, setting, ability), by_sage in scores.items():
            if setting == WITH_SAGE:
                by_ability[ability][model] = by_sage
        yield from (Block(charts=(_draw_sages(ability, by_model),)) for ability, by_model in by_ability.items())


def _draw_sages(ability: str, by_model: Mapping[str, Mapping[str, float]]) -> Chart:
    sages = sorted({sage for by_sage in by_model.values() for sage in by_sage})
    whole = [by_sage for by_sage in by_model.values() if len(by_sage) == len(sages)] or [max(by_model.values(), key=len)]
    means = {f"{sage} as Sage": mean(by_sage[sage] for by_sage in whole) for sage in whole[0]}
    words = say_ends(f"The mean of {counted(len(whole), 'model')}", means)
    return _draw_curves(f"{ability}: {setting_title(WITH_SAGE)} by Sage", words, by_model, {sage: sage for sage in sages}, "Sage")


def _draw_curves(
    title: str, words: str, curves: Mapping[str, Mapping[Any, float]], across: Mapping[Any, str], axis: str
) -> Chart:
    """Draw a line for each model; `across` has the label of each place on the axis, in order."""
    dots = ((place, model) for place in across for model, curve in curves.items() if place in curve)
    points = tuple(Point(across[place], curves[model][place], model, is_own=True) for place, model in dots)
    lines = [(label, *(curve.get(place) for curve in curves.values())) for place, label in across.items()]
    table = Table((Column(axis, "name"), *columns("score", *curves)), lines, title)
    return Chart(title, words, "lines", points, table, Axis(axis), Axis("Score", 0, 100))


def lay_out_chunks(models: RankedModels) -> Iterator[Block]:
    """Yield Figure 8: a score for each length and number of chunks, for each model, setting that retrieves and ability."""

    def take(record: dict[str, Any], _parameters: object) -> tuple[str, ...]:
        record["retrieval"] = retrieval = dict(record.get("retrieval", {}))
        return tuple(str(retrieval.pop(name, None) or "usual") for name in ("chunk_tokens", "top_k"))

    for scores in compare_variants(models, take):
        for (model, setting, ability), cells in scores.items():
            if SOLVERS[setting].retrieves:
                yield Block(charts=(_draw_chunks(f"{ability}: by chunks, {model}, {setting_title(setting)}", cells),))


def _draw_chunks(title: str, cells: Mapping[tuple[str, str], float]) -> Chart:
    sizes, counts = (sorted({cell[end] for cell in cells}, key=lambda text: (len(text), text)) for end in (0, 1))
    grid = [(size, count, cells.get((size, count))) for count in counts for size in sizes]
    table = Table((*columns("name", "Tokens of a chunk", "Chunks"), Column("Score", "score")), grid, title)
    words = say_ends("The score", {f"{count} chunks of {size} tokens": score for (size, count), score in cells.items()})
    note = "Across: tokens of a chunk; down: chunks that the model is shown. Runs that differ in these alone."
    return Chart(title, words, "grid", tuple(Point(x, y, value=score) for x, y, score in grid), table, note=note)


def lay_out_lengths(models: RankedModels) -> Iterator[Block]:
    """Yield Figure 7: scores of emotion classification by length of the context, for each setting and dataset."""
    (tasks,) = (main.tasks for main in models.blueprint.abilities if main.id == "emotion_classification")
    datasets = {entry.id: models.blueprint.datasets[entry.id] for task in tasks for entry in task.datasets}
    curves = defaultdict[str, dict[str, dict[int, float]]](dict)
    grids = [(row, grid) for row in models.rows if (grid := models.read(row, "needle_scores")) is not None]
    for (row, grid), (name, dataset) in product(grids, datasets.items()):
        counting = [spec.metric for method in dataset.methods for spec in method.metrics if spec.weight]
        cells = grid.filter(pl.col("metric").is_in(counting), dataset=name).drop_nulls("value")
        means = cells.group_by("length_tokens").agg(100 * (pl.col("value") * pl.col("n")).sum() / pl.col("n").sum())
        if means.height > 1:
            curves[f"{dataset.title}: by length, {setting_title(row.setting)}"][row.model] = dict(means.iter_rows())
    yield from (Block(charts=(_draw_lengths(title, by_model),)) for title, by_model in curves.items())


def _draw_lengths(title: str, curves: Mapping[str, Mapping[int, float]]) -> Chart:
    changes = {model: curve[max(curve)] - curve[min(curve)] for model, curve in curves.items()}
    most, least = (end(changes, key=lambda model: abs(changes[model])) for end in (max, min))
    words = f"From the shortest to the longest contexts {most} changes most ({signed(changes[most])} points)"
    words += f", {least} least ({signed(changes[least])})." if least != most else "."
    lengths = sorted({length for curve in curves.values() for length in curve})
    return _draw_curves(title, words, curves, {length: f"{length:,}" for length in lengths}, "Tokens of the context, from")
