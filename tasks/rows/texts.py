"""Texts of rows: a search for one in what was asked and answered, and the beginnings of those that a list shows."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from schemas.documents.rows import RowEntry
from tasks.rows.index import PLACE, ROW, RowFiles, Take
from tasks.runs.evidence import redact
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, from_row
from tasks.runs.tidy import RIGHT
from tasks.solvers.answers import ITEM, SAID
from tasks.text.number_format import shorten

CHECKED = 2_000
"""Rows of partitions that can be checked as a whole while somebody waits."""

LONGEST, BEGINNING = 160, 2_000
"""Characters of a text that are shown, and of those that they are taken from."""


def search_texts(files: RowFiles, rows: pl.LazyFrame, datasets: Iterable[str], text: str, enough: int) -> pl.DataFrame:
    """Return those rows of datasets whose item or answer holds a text, in any case; of no further dataset once there are enough.

    Items are searched once for all models.
    """

    def is_in(column: pl.Expr) -> pl.Expr:
        return column.str.to_lowercase().str.contains(text.lower(), literal=True)

    option, turn = is_in(pl.element()), is_in(pl.element().struct["text"])
    in_item = pl.any_horizontal(is_in(pl.col("question", "context")), pl.col("options").list.eval(option).list.any())
    in_answer = pl.any_horizontal(is_in(pl.col("text")), pl.col("turns").list.eval(turn).list.any())
    found = rows.head(0).collect()
    for dataset in datasets:
        own = rows.filter(pl.col("dataset") == dataset).collect()
        asked = files.read("items", [(dataset,)], lambda items: items.filter(in_item).select(ITEM))
        answered = files.read("answers", own.select(PLACE).unique().rows(), lambda texts: texts.filter(in_answer).select(ROW))
        numbers = pl.concat(own.join(keys, on=keys.columns, how="semi")["row"] for keys in (asked, answered))
        found = pl.concat([found, own.filter(pl.col("row").is_in(numbers.implode()))])
        if found.height >= enough:
            break
    return found


def show_rows(run: PastRun, files: RowFiles, rows: pl.DataFrame) -> tuple[RowEntry, ...]:
    """Return rows of the index as entries of a list, with texts that are read for them alone."""
    hidden, gate = withheld_datasets(run), gate_datasets(run)
    data = _read_texts(run, files, rows)
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


def _read_texts(run: PastRun, files: RowFiles, rows: pl.DataFrame) -> ReportData:
    """Read what entries are made of; where texts are withheld all items of a dataset, since its options are numbered.

    Of large partitions no context is read, which may be long.
    """
    ids = rows["item_id"].unique()
    # Between two ids groups of a file are left out; a list of ids does not do that.
    is_shown = pl.col("item_id").is_between(pl.lit(ids.min()), pl.lit(ids.max())) & pl.col("item_id").is_in(ids.implode())
    is_read = is_shown | pl.col("dataset").is_in([*withheld_datasets(run)])
    takes: dict[str, Take] = dict.fromkeys(("answers", "item_scores"), lambda asked: asked.filter(is_shown))
    takes["items"] = lambda items: items.with_columns(context=pl.lit(None, pl.String)).filter(is_read)
    places = rows.select(PLACE).unique().rows()
    frames: dict[str, Any] = {layer: files.read(layer, places, take, CHECKED) for layer, take in takes.items()}
    data = ReportData(run.manifest, run.blueprint, **frames)
    return redact(data) if run.manifest.redacted else data


def gate_datasets(run: PastRun) -> list[str]:
    """Return the datasets of the ability that can veto."""
    gate = run.blueprint.gate
    return [name for _, node in run.blueprint.nodes() if gate and node.id == gate.ability for name in node.dataset_ids]


def withheld_datasets(run: PastRun) -> dict[str, str]:
    """Return the licences of datasets whose texts are left out, by dataset."""
    return {each.id: each.licence for each in run.manifest.datasets if run.manifest.redacted and not each.redistributable}
