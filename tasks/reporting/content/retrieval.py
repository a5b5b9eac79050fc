"""Describe retrieval and needles: how often the needle is found, and scores by its depth and the context's length."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import polars as pl

from schemas.table import Cell, Column, Table, columns
from tasks.runs.run_tables import STAGES, ReportData, Row, System, last_stage
from tasks.solvers.answers import ASKED
from tasks.solvers.registry import setting_order, setting_title
from tasks.text.number_format import counted

CUTOFFS = (1, 4, 8, 16)
PLACE = {"title": "Dataset", "setting": "Setting", "stage": "Ranking", "model": "Model"}
ALL_MODELS = "all"
STAGE_TITLES = {"initial": "first ranking", "reranked": "second ranking", "search": "searches"}


@dataclass(frozen=True)
class RetrievalReport:
    """Everything about retrieval.

    `recall`: by dataset, setting, stage and model the share of items whose needle's chunk is among the first k, by k of CUTOFFS.
    Of several searches the best counts. `model` is ALL_MODELS where a ranking is the same for all models, `n_items` counts items
    with a needle, once per repetition, `chunks` is the median number of chunks ranked.
    `kept`: mean scores of the items whose needle's chunk went into the prompt, and of those whose did not; no rows where no item
    with a needle has a score.
    """

    recall: list[Row]
    kept: Table

    @property
    def table(self) -> Table:
        """Recall by dataset, setting, stage and model."""
        shares = columns("score", *(f"Recall at {k}, %" for k in CUTOFFS), digits=0)
        counts = (Column("Items with a needle", "count"), Column("Chunks ranked, median", "number", 0))
        rows = [
            (*(row[name] for name in PLACE), *(100 * share for share in row["recall"]), row["n_items"], row["chunks"])
            for row in self.recall
        ]
        return Table((*columns("name", *PLACE.values()), *shares, *counts), rows, "Recall of the needle")

    @property
    def by_dataset(self) -> dict[str, list[Row]]:
        """Rows of each dataset."""
        return {name: list(rows) for name, rows in groupby(self.recall, key=itemgetter("dataset"))}


def describe_retrieval(data: ReportData) -> RetrievalReport | None:
    """Describe what was found; null if nothing with a needle was retrieved from."""
    ranked = data.retrievals.filter(pl.col("holds_needle").is_not_null())
    if ranked.is_empty():
        return None
    return RetrievalReport(_merge_models(_recall_rows(ranked, data)), _kept_table(ranked, data))


def _recall_rows(ranked: pl.DataFrame, data: ReportData) -> list[Row]:
    at = [(pl.col("best") < k).fill_null(value=False).mean().alias(f"recall_{k}") for k in CUTOFFS]
    # Per item, repetition and stage: best rank of the needle's chunk from 0 (null = not among the ranked), and chunks ranked.
    rank = pl.col("rank")
    places = ranked.group_by(*ASKED, "stage").agg(best=rank.filter(pl.col("holds_needle")).min(), chunks=rank.max() + 1)
    grouped = places.group_by("dataset", "setting", "stage", "model").agg(*at, n_items=pl.len(), chunks=pl.col("chunks").median())
    rows = sorted(grouped.to_dicts(), key=lambda row: (_order(data, row), STAGES.index(row["stage"]), row["model"]))
    return [
        row
        | {"title": data.title_of(row["dataset"]), "setting": setting_title(row["setting"])}
        | {"stage": STAGE_TITLES[row["stage"]], "recall": tuple(row[f"recall_{k}"] for k in CUTOFFS)}
        for row in rows
    ]


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


def _kept_table(ranked: pl.DataFrame, data: ReportData) -> Table:
    kept = last_stage(ranked).group_by(ASKED).agg(kept=(pl.col("kept") & pl.col("holds_needle")).any())
    main = data.item_scores.drop_nulls("value").join(_main_metrics(data), on=["dataset", "method", "metric"], how="semi")
    joined = main.select(*ASKED, "value").join(kept, on=ASKED, how="inner")
    grouped = joined.group_by("dataset", "model", "setting").agg(
        kept=pl.col("value").filter(pl.col("kept")).mean() * 100,
        n_kept=pl.col("kept").sum(),
        lost=pl.col("value").filter(~pl.col("kept")).mean() * 100,
        n_lost=(~pl.col("kept")).sum(),
    )
    rows = [
        (
            *(data.title_of(row["dataset"]), row["model"], setting_title(row["setting"])),
            *(Cell(row[name], counted(row[f"n_{name}"], "item")) for name in ("kept", "lost")),
        )
        for row in sorted(grouped.to_dicts(), key=lambda row: (_order(data, row), row["model"]))
    ]
    heads = (*columns("name", "Dataset", "Model", "Setting"), *columns("score", "Shown", "Not shown", digits=1))
    return Table(heads, rows, "Scores by whether the needle was shown")


def _main_metrics(data: ReportData) -> pl.DataFrame:
    main = [(name, entry.methods[0].id, entry.methods[0].metrics[0].metric) for name, entry in data.blueprint.datasets.items()]
    return pl.DataFrame(main, schema=data.needle_scores.select("dataset", "method", "metric").schema, orient="row")


_THOUSANDS = re.compile(r"(\d+)000\b")


class NeedleScore(NamedTuple):
    """Mean score on 0-100 of `n` items at a length and depth; null where none was scored."""

    score: float | None
    n: int


@dataclass(frozen=True)
class NeedleGrid:
    """One system and dataset: lengths in tokens and depths as they are called, in order; cells by both, where there are items."""

    anchor: str
    system: str
    title: str
    lengths: tuple[str, ...]
    depths: tuple[str, ...]
    cells: Mapping[tuple[str, str], NeedleScore]

    @property
    def table(self) -> Table:
        """A row per depth with a cell per length, null where there is no item."""
        lengths = columns("score", *(f"{length} tokens" for length in self.lengths), digits=1)
        rows = [(depth, *(self._cell(length, depth) for length in self.lengths)) for depth in self.depths]
        return Table((Column("Depth", "name"), *lengths), rows, f"Scores by length and depth of {self.system} in {self.title}")

    def _cell(self, length: str, depth: str) -> Cell | None:
        cell = self.cells.get((length, depth))
        return Cell(cell.score, counted(cell.n, "item")) if cell else None


def needle_grids(data: ReportData) -> tuple[NeedleGrid, ...]:
    """Return one grid per dataset, model and setting, by the first metric of the dataset."""
    main = data.needle_scores.join(_main_metrics(data), on=["dataset", "method", "metric"], how="semi")
    rows = main.sort("length_tokens", "depth_percent", maintain_order=True).to_dicts()
    rows.sort(key=lambda row: (data.dataset_order(row["dataset"]), row["model"], setting_order(row["setting"])))
    groups = groupby(rows, key=lambda row: (row["dataset"], System(row["model"], row["setting"])))
    return tuple(
        _grid(f"needle-{number}", data.titles[key[0]], key[1], list(group)) for number, (key, group) in enumerate(groups, 1)
    )


def _grid(anchor: str, title: str, system: System, rows: list[Row]) -> NeedleGrid:
    cells = {  # thousands as k, so that labels fit above the columns
        (_THOUSANDS.sub(r"\1k", row["length_bin"]), row["depth_bin"]): NeedleScore(row["value"] and 100 * row["value"], row["n"])
        for row in rows
    }
    depths = dict.fromkeys(row["depth_bin"] for row in sorted(rows, key=itemgetter("depth_percent")))
    return NeedleGrid(anchor, system.label, title, tuple(dict.fromkeys(length for length, _ in cells)), tuple(depths), cells)
