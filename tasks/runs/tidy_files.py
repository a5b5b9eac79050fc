"""Write frames of results to one file of the form that its name says, with no more than a part of them in memory."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import count
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from schemas.errors import UsageError
from schemas.extras import require_extra
from schemas.tables.results import Results
from tasks.lake.files import new_file, require_ending
from tasks.lake.frames import described

PART_BYTES = 32 * 2**20
"""About so much of the table is written at once."""

EXCEL_ROWS, EXCEL_CHARACTERS = 1_048_576, 32_767
"""What a sheet holds, its head among them, and a cell of it, in UTF-16."""

_LISTS = pl.format("[{}]", pl.col(pl.List).list.eval(pl.element().struct.json_encode()).list.join(","))
_TEXTS = pl.col(pl.String)
_UTF16 = _TEXTS.str.len_chars() + _TEXTS.str.count_matches(r"[\x{10000}-\x{10FFFF}]")


def write_results(path: Path, empty: pl.DataFrame, frames: Iterable[pl.DataFrame]) -> None:
    """Write frames to a file, in place of the one that may be there; `empty` has their columns, of those of Results.

    UsageError: its name has another ending, or such a file cannot hold the results.
    """
    require_ending(path, "--to", *WRITERS)
    with new_file(path) as file:
        WRITERS[path.suffix](file, empty, _parts(frames))


def _parts(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    kept: list[pl.DataFrame] = []
    for frame in frames:
        kept.append(frame)
        if sum(each.estimated_size() for each in kept) > PART_BYTES:
            yield pl.concat(kept)
            kept = []
    if kept:
        yield pl.concat(kept)


def _write_parquet(file: Path, empty: pl.DataFrame, parts: Iterator[pl.DataFrame]) -> None:
    schema = described(empty, Results)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for part in parts:
            writer.write_table(part.to_arrow().cast(schema))


def _write_csv(file: Path, empty: pl.DataFrame, parts: Iterator[pl.DataFrame]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        opened.write(",".join(empty.columns) + "\n")
        opened.writelines(part.with_columns(_LISTS).write_csv(include_header=False) for part in parts)


def _write_sqlite(file: Path, empty: pl.DataFrame, parts: Iterator[pl.DataFrame]) -> None:
    kinds = ("REAL" if kind.is_float() else "INTEGER" if kind.is_integer() else "TEXT" for kind in empty.dtypes)
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(empty.columns, kinds, strict=True))
    insert = f"INSERT INTO results VALUES ({', '.join('?' * empty.width)})"  # noqa: S608  no user's text
    try:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(f"CREATE TABLE results ({columns})")
            for part in parts:
                connection.executemany(insert, part.with_columns(_LISTS).iter_rows())
    except sqlite3.Error as error:
        raise OSError(str(error)) from error


def _write_xlsx(file: Path, empty: pl.DataFrame, parts: Iterator[pl.DataFrame]) -> None:
    require_extra("xlsx", "an Excel file", "--to")
    from xlsxwriter import Workbook  # noqa: PLC0415  may be missing

    height, rows = 0, count(1)
    # A sheet of long texts is larger than a ZIP file of the first kind holds.
    with Workbook(file, {"constant_memory": True, "use_zip64": True}) as book:
        sheet = book.add_worksheet("results")
        sheet.write_row(0, 0, empty.columns)
        writes = [sheet.write_number if kind.is_numeric() else sheet.write_string for kind in empty.dtypes]
        for part in parts:
            _require_excel(part, height := height + part.height)
            for values, row in zip(part.with_columns(_LISTS).iter_rows(), rows, strict=False):
                for column, value in enumerate(values):
                    if value is not None:
                        writes[column](row, column, value)


def _require_excel(part: pl.DataFrame, height: int) -> None:
    """Raise UsageError if a sheet does not hold so many rows, or a cell not a text of a part."""
    lengths = part.with_columns(_LISTS).select(_UTF16.max()).row(0, named=True)
    long = {name: f"{length:,} characters of {name}" for name, length in lengths.items() if (length or 0) > EXCEL_CHARACTERS}
    if long or height >= EXCEL_ROWS:
        raise UsageError(
            "an Excel sheet cannot hold these results",
            where="--to",
            expected=f"at most {EXCEL_ROWS - 1:,} rows, and {EXCEL_CHARACTERS:,} characters in a cell",
            got=" and ".join(long.values()) or f"{height:,} rows or more",
            next_step=f"write .parquet, .csv or .sqlite{''.join(f', or leave it out: --without {name}' for name in long)}",
        )


WRITERS: Mapping[str, Callable[[Path, pl.DataFrame, Iterator[pl.DataFrame]], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".sqlite": _write_sqlite,
    ".xlsx": _write_xlsx,
}
"""What writes a file, by the ending of its name."""
