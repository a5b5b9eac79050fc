"""Read ratings by people from a file: Parquet, CSV or JSON lines."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import dataframely as dy
import polars as pl

from schemas.dataset import RecordFormat
from schemas.documents import read_json
from schemas.errors import UsageError, unknown_name
from schemas.tables.columns import EARLIER
from schemas.tables.human_ratings import HumanRatings
from tasks.sources.reading import read_records

FORMATS: Mapping[str, RecordFormat] = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl"}
COLUMNS = HumanRatings.column_names()
DEFAULTS = {name: one.metadata[EARLIER].cast(pl.String) for name, one in HumanRatings.columns().items() if one.metadata}
CONTRACT = "docs/how-to/own-judge.md says what such a file holds"


class ReadRatings(NamedTuple):
    """Good rows, how many rows were read, and how many broke each rule; a row may break several."""

    good: dy.DataFrame[HumanRatings]
    read: int
    refused: Mapping[str, int]


def read_human_ratings(path: Path) -> ReadRatings:
    """Read a file that ends in .parquet, .csv or .jsonl. Rows that break a rule, or whose values are of no use, are refused.

    Raises:
        UsageError: another ending, a column unknown or missing.
        SourceError: the file cannot be read.
    """
    if path.suffix not in FORMATS:
        raise unknown_name("kind of file with ratings that ends in", path.suffix, FORMATS, str(path), CONTRACT)
    rows = [record.fields for record in read_records(path, FORMATS[path.suffix], parse=read_json)]
    given = dict.fromkeys(name for row in rows for name in row)
    for name in given:
        if name not in COLUMNS:
            raise unknown_name("column", name, COLUMNS, str(path), CONTRACT)
    if missing := [name for name in COLUMNS if name not in given and name not in DEFAULTS]:
        columns = ", ".join(missing), ", ".join(given)
        raise UsageError("columns are missing", where=str(path), expected=columns[0], got=columns[1], next_step=CONTRACT)
    texts = pl.DataFrame({name: [_text(row.get(name)) for row in rows] for name in COLUMNS}, dict.fromkeys(COLUMNS, pl.String))
    filled = texts.with_columns(pl.col(name).fill_null(value) for name, value in DEFAULTS.items())
    numbers = pl.element().str.strip_chars().cast(pl.Float64, strict=False)
    typed = filled.with_columns(
        pl.col("scale").str.strip_chars("[] ").str.split(",").list.eval(numbers),
        pl.col("higher_is_better", "rater_known")
        .str.to_lowercase()
        .replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean),
    )
    good, failure = HumanRatings.filter(typed, cast=True)
    return ReadRatings(good, len(rows), failure.counts())


def _text(cell: object) -> str | None:
    """Return a cell as JSON writes it, a text as it is; null where nothing is in it."""
    return (cell if isinstance(cell, str) else json.dumps(cell)) if cell is not None and cell != "" else None
