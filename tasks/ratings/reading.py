"""Read ratings by people, and the texts that they rated: good rows are kept, every other one is told by its line and a rule."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.dataset import DatasetSpec, RecordFormat
from schemas.errors import unknown_name
from schemas.json_yaml import read_json
from schemas.tables.ratings import UNIT, HumanRatings, RatedTexts
from schemas.vocabulary import LANGUAGES
from tasks.lake.partitions import hash_settings
from tasks.sources.files import hash_file
from tasks.sources.filled import require_columns
from tasks.sources.locating import Locator, choose_source, source_sha256
from tasks.sources.reading import read_records

READING_VERSION = "1"
"""Bumped when a rating or a text is read differently."""

FORMATS: dict[str, RecordFormat] = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl"}
CONTRACT = "moodflow docs judges says what such a file holds"
SPEAKER = re.compile(r"^([^\s:：][^:：\n]{0,39})(?:: ?|：)", re.MULTILINE)
PLAIN = "cells_are_plain"
"""Rule for the rows of a file: lists stand in `scale` alone, and no cell has a null byte."""

TEXT = ("context", "question", "text", "language", "dialogue")
DEFAULTS = {"higher_is_better": True, "rater_known": True, "dialogue": False}
TRUTHS = {"true": True, "false": False}
_json = partial(json.dumps, default=str, ensure_ascii=False)
MAY_LACK = ("turn", "cluster_id", "system", "text_sha256", "words", *TEXT, *DEFAULTS)
"""Columns that a file may lack: they are empty then, or those of DEFAULTS have that value."""


class RefusedRow(NamedTuple):
    """A row that is not used: its line (of a CSV the header is 1, of other files the first row) and the first rule it breaks."""

    line: int
    rule: str


class RatedSource(NamedTuple):
    """Ratings by people. `read`: rows, which are those of `ratings` and `refused`; `sha256`: of what was read and how."""

    name: str
    ratings: dy.DataFrame[HumanRatings]
    texts: dy.DataFrame[RatedTexts]
    read: int
    refused: tuple[RefusedRow, ...]
    sha256: str


class RatedRows(HumanRatings):
    """Rows as read: `line`, TEXT, `turns` where they are known, and `own_sha256`, the hash of the text in the row."""

    line = dy.Int64()
    context = dy.String(nullable=True)
    question = dy.String(nullable=True)
    text = dy.String(nullable=True)
    language = dy.Enum(list(LANGUAGES), nullable=True)
    dialogue = dy.Bool()
    turns = dy.List(dy.Struct({"speaker": dy.String(), "text": dy.String()}), nullable=True)
    own_sha256 = dy.String(nullable=True)

    @dy.rule()
    def text_has_its_hash(cls) -> pl.Expr:
        """Whether a hash in the row is that of its text."""
        return (pl.col("text_sha256") == pl.col("own_sha256")).fill_null(value=True)

    @dy.rule()
    def text_has_its_language(cls) -> pl.Expr:
        """Whether it is said in which language a text is."""
        return pl.col("text").is_null() | pl.col("language").is_not_null()

    @dy.rule()
    def dialogue_has_speakers(cls) -> pl.Expr:
        """Whether a dialogue begins with a speaker."""
        return (~pl.col("dialogue") | pl.col("text").str.contains(SPEAKER.pattern.replace("^", r"\A", 1))).fill_null(value=True)

    @dy.rule()
    def one_text_per_unit(cls) -> pl.Expr:
        """Whether all rows of a unit have the same text, or none."""
        same = pl.when(pl.col("text").is_not_null()).then(pl.struct(TEXT))
        return same.drop_nulls().n_unique().over(UNIT) <= 1


def read_human_ratings(path: Path) -> RatedSource:
    """Read a file that ends in .parquet, .csv or .jsonl, a row per rating. A rating on a scale of words is its place there.

    UsageError: another ending, a column unknown or missing. SourceError: the file cannot be read, or has no rows.
    """
    if path.suffix not in FORMATS:
        raise unknown_name("kind of file with ratings that ends in", path.suffix, FORMATS, str(path), CONTRACT)
    records = read_records(path, FORMATS[path.suffix], own=True)
    columns = (*HumanRatings.column_names(), *TEXT)
    require_columns(path, records, columns, MAY_LACK, CONTRACT)
    rows, refused = list[dict[str, Any]](), list[RefusedRow]()
    for line, record in enumerate(records, 2 if path.suffix == ".csv" else 1):
        if rule := next(iter(record.faults), None) or _fault(record.fields):
            refused.append(RefusedRow(line, rule))
        else:
            rows.append({"line": line, **_cells(record.fields, columns)})
    kinds = {"line": pl.Int64(), **dict.fromkeys(columns, pl.String()), **dict.fromkeys(DEFAULTS, pl.Boolean())}
    kinds |= {"scale": pl.List(pl.Float64), "words": pl.List(pl.String)}
    return keep_good(path.stem, pl.DataFrame(rows, kinds), hash_settings([hash_file(path), READING_VERSION]), refused)


def read_entry(entry: DatasetSpec, locator: Locator) -> RatedSource:
    """Read a dataset of ratings of the catalogue; raise what `Locator.locate` raises if its files cannot be had."""
    spec = choose_source(entry, locator)
    if spec.ratings is None:
        raise ValueError(f"dataset {spec.id} has no ratings by people")
    paths = [locator.locate(file) for file in spec.files]
    hashes = [*source_sha256(spec.files, locator), spec.evaluation_version, READING_VERSION]
    return keep_good(spec.id, spec.ratings(paths).with_columns(source=pl.lit(spec.id)), hash_settings(hashes))


def keep_good(name: str, rows: pl.DataFrame, sha256: str, refused: Sequence[RefusedRow] = ()) -> RatedSource:
    """Return the rows that keep every rule, and the others with those refused before.

    `rows`: columns of RatedRows; those that it lacks are empty, as in DEFAULTS or, of lines, counted from 1. An anonymous rater
    without a number is given one.
    """
    lacking = {"line": pl.int_range(1, pl.len() + 1), **{column: pl.lit(value) for column, value in DEFAULTS.items()}}
    filled = rows.with_columns(**{column: value for column, value in lacking.items() if column not in rows.columns})
    whole = pl.concat([RatedRows.create_empty(), filled], how="diagonal_relaxed")
    number = pl.int_range(1, pl.len() + 1).over(*UNIT, "turn", "dimension", "rater_known").cast(pl.String)
    complete = whole.with_columns(
        rater=pl.when(pl.col("rater").is_null() & ~pl.col("rater_known")).then(number).otherwise("rater"),
        own_sha256=pl.col("text").map_elements(lambda text: hashlib.sha256(text.encode()).hexdigest(), return_dtype=pl.String),
    )
    good, failure = RatedRows.filter(complete, cast=True)
    ordered = good.sort("line").with_columns(text_sha256=pl.coalesce("text_sha256", "own_sha256"))
    bad = sorted([*refused, *_broken(failure)])
    ratings = HumanRatings.cast(ordered.select(HumanRatings.column_names()))
    return RatedSource(name, ratings, _texts(ordered), rows.height + len(refused), tuple(bad), sha256)


def _broken(failure: dy.FailureInfo) -> Iterator[RefusedRow]:
    """Yield each row that is refused, with the first rule that it breaks."""
    if failure.invalid().is_empty():
        return
    details = failure.details()
    others = (name for name in details.columns if name not in RatedRows.column_names())
    rules = sorted(others, key=lambda name: "|" not in name)  # of a value that is none, other rules say little
    broken = pl.coalesce(pl.when(pl.col(name) == "invalid").then(pl.lit(name)) for name in rules)
    yield from (RefusedRow(*row) for row in details.select("line", broken.alias("rule")).iter_rows())


def _texts(rows: pl.DataFrame) -> dy.DataFrame[RatedTexts]:
    """Return the text of each unit that has one, in their order."""
    cluster = pl.col("cluster_id").drop_nulls().first().over("source", "unit_id")
    whole = rows.with_columns(pl.col("system", "question").fill_null(""), cluster_id=pl.coalesce(cluster, "unit_id"))
    units = whole.drop_nulls("text").unique(UNIT, keep="first", maintain_order=True)
    given = units.select("dialogue", "turns", "text").iter_rows()
    turns = [(known or turns_of(text)) if dialogue else None for dialogue, known, text in given]
    filled = units.with_columns(text_sha256="own_sha256", turns=pl.Series(turns, dtype=rows.schema["turns"]))
    return RatedTexts.validate(filled.select(RatedTexts.column_names()), cast=True)


def turns_of(text: str) -> list[dict[str, str]]:
    """Return speaker and text of each turn of a dialogue; a line without a speaker belongs to the turn before."""
    starts = [*SPEAKER.finditer(text)]
    ends = [after.start() - 1 for _, after in pairwise(starts)] + [len(text)]
    return [{"speaker": start[1], "text": text[start.end() : end]} for start, end in zip(starts, ends, strict=True)]


def _fault(fields: Mapping[str, Any]) -> str | None:
    cells = [cell for name, cell in fields.items() if name not in ("scale", "words")]
    return PLAIN if any(isinstance(cell, list | dict | bytes) or "\0" in str(cell) for cell in cells) else None


def _cells(fields: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return the cells of a row as texts, but for its scale and truths; a word of the scale is its place there."""
    # Other programs write whole numbers of a column with gaps as 1.0.
    given = {name: int(cell) if isinstance(cell, float) and cell.is_integer() else cell for name, cell in fields.items()}
    row: dict[str, Any] = dict.fromkeys(columns) | {name: str(value) for name, value in DEFAULTS.items()}
    row |= {name: cell if isinstance(cell, str) else _json(cell) for name, cell in given.items() if cell not in (None, "")}
    scale, words = _read_scale(row["scale"] or "")
    if words and row["rating"] is not None:
        row["rating"] = str(words.index(row["rating"]) if row["rating"] in words else -1)  # which is on no scale of words
    return {**row, "scale": scale, "words": words, **{name: TRUTHS.get(row[name].lower()) for name in DEFAULTS}}


@cache
def _read_scale(cell: str) -> tuple[list[float | None] | None, list[str] | None]:
    """Return the numbers of a scale, with null for what is none; of a list of words their places, and the words."""
    try:
        values = read_json(cell)
    except ValueError:
        values = cell.strip("[] ").split(",")
    texts = [str(value).strip(" '\"") for value in (values if isinstance(values, list) else [values])]
    numbers = pl.Series(texts, dtype=pl.String).cast(pl.Float64, strict=False)
    if not any(texts):
        return None, None
    if all(texts) and numbers.null_count() == len(texts):
        return [float(texts.index(text)) for text in texts], texts
    return numbers.set(~numbers.is_finite(), None).to_list(), None
