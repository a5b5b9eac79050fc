"""Texts of rows: a search for one in what was asked and answered, and the beginnings of those that a list shows."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import polars as pl

from schemas.documents.rows import RowEntry
from tasks.rows.partitions import CHECKED, PLACE, ROW, Partitions, Place
from tasks.runs.evidence import redact
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, from_row
from tasks.runs.tidy import RIGHT
from tasks.solvers.answers import ITEM, SAID
from tasks.text.number_format import shorten

MOST_PLACES = 64
"""Partitions of answers that are searched at a time."""

LONGEST, BEGINNING = 160, 2_000
"""Characters of a text that are shown, and of those that they are taken from."""


def search_texts(run: PastRun, rows: pl.DataFrame, text: str, enough: int) -> pl.DataFrame:
    """Return those rows whose question, context, options or answer holds a text, in any case.

    Items are searched once for all models, answers some places at a time, in the order of the rows, until so many are found. No
    text is found in datasets whose texts are withheld.
    """
    partitions = Partitions(run)

    def is_in(column: pl.Expr) -> pl.Expr:
        return column.str.to_lowercase().str.contains(text.lower(), literal=True)

    option, turn = is_in(pl.element()), is_in(pl.element().struct["text"])
    in_item = pl.any_horizontal(is_in(pl.col("question", "context")), pl.col("options").list.eval(option).list.any())
    in_answer = pl.any_horizontal(is_in(pl.col("text")), pl.col("turns").list.eval(turn).list.any())

    @cache
    def items_of(dataset: str) -> pl.DataFrame:
        return partitions.read("items", [(dataset,)], lambda items: items.filter(in_item).select(ITEM))

    places = rows.filter(~pl.col("dataset").is_in([*withheld_datasets(run)])).partition_by(PLACE, maintain_order=True)
    found, most = rows.clear(), 1  # the first place may have enough
    while places and found.height < enough:
        some, places, most = pl.concat(places[:most]), places[most:], min(2 * most, MOST_PLACES)
        asked = pl.concat(items_of(dataset) for dataset in some["dataset"].unique())
        answered = partitions.read("answers", _places(some), lambda answers: answers.filter(in_answer).select(ROW))
        matching = (some.join(keys, on=keys.columns, how="semi") for keys in (asked, answered))
        found = pl.concat([found, *matching]).unique("row")
    return rows.join(found, on="row", how="semi", maintain_order="left")


def _places(rows: pl.DataFrame) -> list[Place]:
    return rows.select(PLACE).unique().sort(PLACE).rows()


def show_rows(run: PastRun, rows: pl.DataFrame) -> tuple[RowEntry, ...]:
    """Return rows of the index as entries of a list, with texts that are read for them alone.

    LakeError: a partition is gone or damaged.
    """
    hidden, gate = withheld_datasets(run), gate_datasets(run)
    data = _read_texts(run, rows)
    scores = data.item_scores.join(data.items, on=ITEM).sort("part", "method", "metric")
    texts = {"read_as": pl.col("parsed_answer"), "gold": RIGHT, "question": pl.col("question")}
    first = scores.group_by(ROW, maintain_order=True).agg(text.drop_nulls().first().alias(name) for name, text in texts.items())
    said = pl.when(SAID.count() > 0).then(SAID.drop_nulls().str.join("\n"))
    shown = rows.select(ROW)
    for frame in (first, data.answers.sort("part").group_by(ROW).agg(reply=said)):
        shown = shown.join(frame, on=ROW, how="left", maintain_order="left")
    beginnings = shown.select(pl.col(*texts, "reply").str.slice(0, BEGINNING)).to_dicts()
    return tuple(
        from_row(
            RowEntry,
            row,
            **{name: text and shorten(text if len(text) < BEGINNING else f"{text}…", LONGEST) for name, text in own.items()},
            gate=row["dataset"] in gate,
            withheld=hidden.get(row["dataset"]),
        )
        for row, own in zip(rows.to_dicts(), beginnings, strict=True)
    )


def _read_texts(run: PastRun, rows: pl.DataFrame) -> ReportData:
    """Read what entries are made of; where texts are withheld all items of a dataset, since its options are numbered.

    Of large partitions no context is read, which may be long.
    """
    is_shown = pl.col("item_id").is_in(rows["item_id"].unique().implode())
    is_read = is_shown | pl.col("dataset").is_in([*withheld_datasets(run)])
    partitions, places, frames = Partitions(run), _places(rows), dict[str, Any]()
    no_context = pl.lit(None, pl.String).alias("context")
    frames["items"] = partitions.read("items", places, lambda items: items.with_columns(no_context).filter(is_read), CHECKED)
    for layer in ("answers", "item_scores"):
        frames[layer] = partitions.read(layer, places, lambda asked: asked.filter(is_shown), CHECKED)
    data = ReportData(run.manifest, run.blueprint, **frames)
    return redact(data) if run.manifest.redacted else data


def gate_datasets(run: PastRun) -> Iterable[str]:
    """Return the datasets of the ability that can veto."""
    gate = run.blueprint.gate
    return [name for _, node in run.blueprint.nodes() if gate and node.id == gate.ability for name in node.dataset_ids]


def withheld_datasets(run: PastRun) -> dict[str, str]:
    """Return the licences of datasets whose texts are left out, by dataset."""
    return {each.id: each.licence for each in run.manifest.datasets if run.manifest.redacted and not each.redistributable}
