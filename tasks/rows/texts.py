"""Texts of rows: a search for one in what was asked and answered, and the beginnings of those that a list shows."""

from functools import cache
from typing import Any

import polars as pl

from schemas.documents.rows import RowEntry
from tasks.rows.index import PLACE, ROW, Partitions, Take
from tasks.runs.evidence import redact
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, from_row
from tasks.runs.tidy import RIGHT
from tasks.solvers.answers import ITEM, SAID
from tasks.text.number_format import shorten

CHECKED, TOGETHER = 2_000, 16
"""Rows of partitions that can be checked as a whole while somebody waits; partitions of answers that are searched at a time."""

LONGEST, BEGINNING = 160, 2_000
"""Characters of a text that are shown, and of those that they are taken from."""


def search_texts(run: PastRun, rows: pl.DataFrame, text: str, enough: int) -> pl.DataFrame:
    """Return the first rows whose question, context, options or answer holds a text, in any case; none whose texts are withheld.

    Items are searched once for all models, answers some places at a time, until so many are found.
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
    found = rows.clear()
    while places and found.height < enough:
        some, places = pl.concat(places[:TOGETHER]), places[TOGETHER:]
        asked = pl.concat(items_of(dataset) for dataset in some["dataset"].unique())
        answered = partitions.read(
            "answers", some.select(PLACE).unique().rows(), lambda answers: answers.filter(in_answer).select(ROW)
        )
        matching = (some.join(keys, on=keys.columns, how="semi") for keys in (asked, answered))
        found = pl.concat([found, *matching]).unique("row")
    return rows.join(found, on="row", how="semi", maintain_order="left")


def show_rows(run: PastRun, rows: pl.DataFrame) -> tuple[RowEntry, ...]:
    """Return rows of the index as entries of a list, with texts that are read for them alone."""
    hidden, gate = withheld_datasets(run), gate_datasets(run)
    data = _read_texts(run, rows)
    scores = data.item_scores.join(data.items, on=ITEM).sort("part", "method", "metric")
    texts = {"read_as": pl.col("parsed_answer"), "gold": RIGHT, "question": pl.col("question")}
    first = scores.group_by(ROW, maintain_order=True).agg(text.drop_nulls().first().alias(name) for name, text in texts.items())
    said = data.answers.sort("part").group_by(ROW).agg(reply=pl.when(SAID.count() > 0).then(SAID.drop_nulls().str.join("\n")))
    shown = rows.select(ROW).join(first, on=ROW, how="left").join(said, on=ROW, how="left")
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
    ids = rows["item_id"].unique()
    # Between two ids groups of a file are left out; a list of ids does not do that.
    is_shown = pl.col("item_id").is_between(pl.lit(ids.min()), pl.lit(ids.max())) & pl.col("item_id").is_in(ids.implode())
    is_read = is_shown | pl.col("dataset").is_in([*withheld_datasets(run)])
    takes: dict[str, Take] = dict.fromkeys(("answers", "item_scores"), lambda asked: asked.filter(is_shown))
    takes["items"] = lambda items: items.with_columns(context=pl.lit(None, pl.String)).filter(is_read)
    partitions, places = Partitions(run), rows.select(PLACE).unique().rows()
    frames: dict[str, Any] = {layer: partitions.read(layer, places, take, CHECKED) for layer, take in takes.items()}
    data = ReportData(run.manifest, run.blueprint, **frames)
    return redact(data) if run.manifest.redacted else data


def gate_datasets(run: PastRun) -> list[str]:
    """Return the datasets of the ability that can veto."""
    gate = run.blueprint.gate
    return [name for _, node in run.blueprint.nodes() if gate and node.id == gate.ability for name in node.dataset_ids]


def withheld_datasets(run: PastRun) -> dict[str, str]:
    """Return the licences of datasets whose texts are left out, by dataset."""
    return {each.id: each.licence for each in run.manifest.datasets if run.manifest.redacted and not each.redistributable}
