"""Lay out retrieval and needles: how often the needle is found, and scores by its depth and the context's length."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl

from schemas.chart import Axis, Chart, Point
from schemas.table import Cell, Column, Table, columns
from tasks.runs.run_tables import STAGES, ReportData, Row, System, last_stage
from tasks.runs.sections import Block
from tasks.scoring import normalisation
from tasks.scoring.reduction import item_points
from tasks.scoring.tree import tree_tables
from tasks.solvers.answers import ASKED
from tasks.solvers.registry import setting_order, setting_title
from tasks.text.number_format import counted, say_ends, shorten

CUTOFFS = (1, 4, 8, 16)
SPOKEN = 1
"""Index of the cutoff that is spoken of."""

PLACE = {"title": "Dataset", "setting": "Setting", "stage": "Ranking", "model": "Model"}
ALL_MODELS = "all"
STAGE_TITLES = {"initial": "first ranking", "reranked": "second ranking", "search": "searches"}
NAME = 36
RECALL = (
    "How often the chunk that holds most of the needle is among the first k. Of several searches for one item the best counts; "
    "items for which nothing was searched are left out."
)
KEPT = (
    "Mean score on 0–100 where the needle's chunk went into the prompt and where it did not. The items differ, so the difference "
    "is no proof that showing it helps."
)
NEEDLES = (
    "Mean score on 0–100 by length of the context and depth of the needle in it: at 0 % it stands at the beginning, at 100 % at "
    "the end. Across: tokens, down: depth."
)


def lay_out_retrieval(data: ReportData) -> Iterator[Block]:
    """Yield a figure for each dataset, its numbers, and scores with and without the needle; nothing without a needle to find."""
    recall = recall_rows(data)
    if not recall:
        return
    yield Block(words=RECALL)
    yield from (Block(charts=(_draw_recall(list(rows)),)) for _, rows in groupby(recall, key=itemgetter("dataset")))
    shares = columns("score", *(f"Recall at {k}, %" for k in CUTOFFS), digits=0)
    counts = (Column("Items with a needle", "count"), Column("Chunks ranked, median", "number", 0))
    lines = [
        (*(row[name] for name in PLACE), *(100 * share for share in row["recall"]), row["n_items"], row["chunks"])
        for row in recall
    ]
    yield Block(tables=(Table((*columns("name", *PLACE.values()), *shares, *counts), lines, "Recall of the needle"),))
    if (kept := kept_table(data)).rows:
        yield Block("Whether the needle was shown", KEPT, (kept,))


def _draw_recall(rows: Sequence[Row]) -> Chart:
    """Return the figure of a dataset: a line per setting, stage and model."""
    several = len({row["model"] for row in rows}) > 1
    names = [f"{row['setting']}, {row['stage']}" + (f", {row['model']}" if several else "") for row in rows]
    series = {shorten(name, NAME): row["recall"] for name, row in zip(names, rows, strict=True)}
    points = (
        Point(str(k), 100 * share, name) for name, recall in series.items() for k, share in zip(CUTOFFS, recall, strict=True)
    )
    words = say_ends(f"Recall at {CUTOFFS[SPOKEN]}", {name: 100 * recall[SPOKEN] for name, recall in series.items()})
    axes = Axis("among the first k chunks"), Axis("needle found, % of items", 0, 100)
    return Chart(rows[0]["title"], words, "lines", tuple(points), x=axes[0], y=axes[1])


def recall_rows(data: ReportData) -> list[Row]:
    """Return by dataset, setting, stage and model the share of items whose needle's chunk is among the first k, by k of CUTOFFS.

    Of several searches the best counts. `model` is ALL_MODELS where a ranking is the same for all models, `n_items` counts items
    with a needle, once per repetition, `chunks` is the median number of chunks ranked.
    """
    at = [(pl.col("best") < k).fill_null(value=False).mean().alias(f"recall_{k}") for k in CUTOFFS]
    # Per item, repetition and stage: best rank of the needle's chunk from 0 (null = not among the ranked), and chunks ranked.
    rank = pl.col("rank")
    ranked = data.retrievals.drop_nulls("holds_needle").group_by(*ASKED, "stage")
    places = ranked.agg(best=rank.filter(pl.col("holds_needle")).min(), chunks=rank.max() + 1)
    grouped = places.group_by("dataset", "setting", "stage", "model").agg(*at, n_items=pl.len(), chunks=pl.col("chunks").median())
    rows = []
    for row in sorted(grouped.to_dicts(), key=lambda row: (_order(data, row), STAGES.index(row["stage"]), row["model"])):
        recall = tuple(row[f"recall_{k}"] for k in CUTOFFS)
        named = {"title": data.title_of(row["dataset"]), "setting": setting_title(row["setting"])}
        rows.append(row | named | {"stage": STAGE_TITLES[row["stage"]], "recall": recall})
    return _merge_models(rows)


def _order(data: ReportData, row: Row) -> tuple[Any, ...]:
    return data.dataset_order(row["dataset"]), setting_order(row["setting"])


def _merge_models(rows: list[Row]) -> list[Row]:
    """Return one row in place of several that differ in nothing but the model."""
    merged: list[Row] = []
    for _, rows_of_all in groupby(rows, key=itemgetter("dataset", "setting", "stage")):
        group = list(rows_of_all)
        same = len(set(map(itemgetter("recall", "n_items", "chunks"), group))) == 1
        merged += [group[0] | {"model": ALL_MODELS}] if same and len(group) > 1 else group
    return merged


def kept_table(data: ReportData) -> Table:
    """Return mean scores of items whose needle's chunk went into the prompt, and of the others; no rows without a score."""
    last = last_stage(data.retrievals.drop_nulls("holds_needle"))
    kept = last.group_by(ASKED).agg(kept=(pl.col("kept") & pl.col("holds_needle")).any())
    main = data.item_scores.drop_nulls("value").join(_main_metrics(data), on=["dataset", "method", "metric"], how="semi")
    worth = item_points(main.lazy(), tree_tables(data.blueprint)).collect()
    joined = worth.select(*ASKED, "points").join(kept, on=ASKED, how="inner")
    grouped = joined.group_by("dataset", "model", "setting").agg(
        kept=pl.col("points").filter(pl.col("kept")).mean(),
        n_kept=pl.col("kept").sum(),
        lost=pl.col("points").filter(~pl.col("kept")).mean(),
        n_lost=(~pl.col("kept")).sum(),
    )
    rows = []
    for row in sorted(grouped.to_dicts(), key=lambda row: (_order(data, row), row["model"])):
        scores = (Cell(row[name], counted(row[f"n_{name}"], "item")) for name in ("kept", "lost"))
        rows.append((data.title_of(row["dataset"]), row["model"], setting_title(row["setting"]), *scores))
    heads = (*columns("name", "Dataset", "Model", "Setting"), *columns("score", "Shown", "Not shown", digits=1))
    return Table(heads, rows, "Scores by whether the needle was shown")


def _main_metrics(data: ReportData) -> pl.DataFrame:
    main = [(name, entry.methods[0].id, entry.methods[0].metrics[0].metric) for name, entry in data.blueprint.datasets.items()]
    return pl.DataFrame(main, schema=data.needle_scores.select("dataset", "method", "metric").schema, orient="row")


_THOUSANDS = re.compile(r"(\d+)000\b")


def lay_out_needles(data: ReportData) -> Iterator[Block]:
    """Yield a grid per dataset, model and setting, by the first metric of the dataset."""
    main = data.needle_scores.join(_main_metrics(data), on=["dataset", "method", "metric"], how="semi")
    rows = main.sort("length_tokens", "depth_percent", maintain_order=True).to_dicts()
    rows.sort(key=lambda row: (data.dataset_order(row["dataset"]), row["model"], setting_order(row["setting"])))
    groups = groupby(rows, key=lambda row: (row["dataset"], System(row["model"], row["setting"])))
    grids = [
        Block(charts=(_draw_needles(f"{data.titles[name]}: {system.label}", [*_worth(data, group)]),))
        for (name, system), group in groups
    ]
    yield from (Block(words=NEEDLES), *grids) if grids else ()


def _worth(data: ReportData, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows of `needle_scores` with `points`, what their value is worth on 0-100."""
    for row in rows:
        rule = data.blueprint.rule(row["dataset"], row["method"], row["metric"])
        yield row | {"points": normalisation.item_points(row["value"], row["metric"], rule)}


def _draw_needles(title: str, rows: Sequence[Row]) -> Chart:
    """Return a heat map: a row per depth, a column per length, null where nothing was scored; thousands as k, to fit in there."""
    cells = {(_THOUSANDS.sub(r"\1k", row["length_bin"]), row["depth_bin"]): row for row in rows}
    scores = {cell: row["points"] for cell, row in cells.items() if row["points"] is not None}
    lengths = list(dict.fromkeys(length for length, _ in cells))
    depths = list(dict.fromkeys(row["depth_bin"] for row in sorted(rows, key=itemgetter("depth_percent"))))
    shown = {cell: Cell(scores.get(cell), counted(row["n"], "item")) for cell, row in cells.items()}
    lines = [(depth, *(shown.get((length, depth)) for length in lengths)) for depth in depths]
    heads = (Column("Depth", "name"), *columns("score", *(f"{length} tokens" for length in lengths), digits=1))
    named = {f"{length} tokens at a depth of {depth}": score for (length, depth), score in scores.items()}
    return Chart(
        title,
        say_ends("The score", named) if named else "Nothing was scored.",
        "grid",
        tuple(Point(length, depth, value=scores.get((length, depth))) for depth in depths for length in lengths),
        Table(heads, lines, f"Scores by length and depth: {title}"),
    )
