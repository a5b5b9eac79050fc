"""Texts of rows: a search for one in what was asked and answered, and the beginnings of those that a list shows."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from schemas.documents.rows import RowEntry
from tasks.rows.index import PLACE, ROW, RowIndex, Take
from tasks.runs.evidence import redact
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData, from_row
from tasks.runs.tidy import RIGHT
from tasks.solvers.answers import ITEM, SAID
from tasks.text.number_format import shorten

LONGEST, BEGINNING = 160, 2_000
"""Characters of a text that are shown, and of those that they are taken from."""


def search_texts(index: RowIndex, rows: pl.LazyFrame, datasets: Iterable[str], text: str, enough: int) -> pl.DataFrame:
    """Return those rows of datasets whose item or answer holds a text, in any case; of no further dataset once there are enough.

    Items are searched once for all models.
    """
    # What the folding of single characters leaves out: ss is a capital ß, too, and the small letter of İ is i with a dot.
    literal = pl.escape_regex(text.lower().replace("ß", "ss").replace("i̇", "i"))
    pattern = "(?i)" + literal.replace("ss", "(?:ss|ß)").replace("i", "(?:i\u0307?|İ)")
    asked_texts = (pl.col("question", "context"), pl.col("options").list.join("\n"))
    in_item = pl.any_horizontal(column.str.contains(pattern) for column in asked_texts)
    matches = rows.head(0).collect()
    for dataset in datasets:
        own = rows.filter(pl.col("dataset") == dataset).collect()
        places = own.select(PLACE).unique().rows()
        asked = index.read("items", places, lambda items: items.filter(in_item).select(ITEM))
        answered = index.read("answers", places, lambda answers: answers.filter(SAID.str.contains(pattern)).select(ROW))
        numbers = pl.concat(own.join(keys, on=keys.columns, how="semi")["row"] for keys in (asked, answered))
        matches = pl.concat([matches, own.filter(pl.col("row").is_in(numbers.implode()))])
        if matches.height >= enough:
            break
    return matches


def show_rows(run: PastRun, index: RowIndex, rows: pl.DataFrame) -> tuple[RowEntry, ...]:
    """Return rows of the index as entries of a list, with texts that are read for them alone."""
    data = _read_texts(run, index, rows)
    scores = data.item_scores.join(data.items, on=ITEM).sort("part", "method", "metric")
    texts = {"read_as": pl.col("parsed_answer"), "gold": RIGHT, "question": pl.col("question")}
    first = scores.group_by(ROW, maintain_order=True).agg(text.drop_nulls().first().alias(name) for name, text in texts.items())
    said = data.answers.sort("part").group_by(ROW).agg(reply=pl.when(SAID.count() > 0).then(SAID.drop_nulls().str.join("\n")))
    shown = rows.join(first, on=ROW, how="left").join(said, on=ROW, how="left", maintain_order="left")
    beginning = pl.col(*texts, "reply").str.head(BEGINNING)
    entries = shown.with_columns(beginning.map_elements(lambda text: shorten(text, LONGEST), pl.String))
    return tuple(from_row(RowEntry, row) for row in entries.iter_rows(named=True))


def _read_texts(run: PastRun, index: RowIndex, rows: pl.DataFrame) -> ReportData:
    """Read what entries are made of; where texts are withheld all items of a dataset, since its options are numbered."""
    ids = rows["item_id"].unique()
    # Between two ids groups of a file are left out; a list of ids does not do that.
    is_shown = pl.col("item_id").is_between(pl.lit(ids.min()), pl.lit(ids.max())) & pl.col("item_id").is_in(ids.implode())
    is_read = is_shown | pl.col("dataset").is_in([*withheld_datasets(run)])
    takes: dict[str, Take] = dict.fromkeys(("answers", "item_scores"), lambda asked: asked.filter(is_shown))
    takes["items"] = lambda items: items.with_columns(context=pl.lit(None, pl.String)).filter(is_read)  # it may be long
    frames: dict[str, Any] = {layer: index.read(layer, rows.select(PLACE).unique().rows(), take) for layer, take in takes.items()}
    data = ReportData(run.manifest, run.blueprint, **frames)
    return redact(data) if run.manifest.redacted else data


def withheld_datasets(run: PastRun) -> list[str]:
    """Return the datasets whose texts are left out."""
    return [each.id for each in run.manifest.datasets if run.manifest.redacted and not each.redistributable]
