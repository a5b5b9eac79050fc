"""The table of results in a file of each form: the same values, whole or not at all, nothing cut."""

import csv
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl
import pyarrow.parquet as pq
import pytest

from schemas.errors import UsageError
from tasks.runs import tidy_files
from tasks.runs.tidy import COLUMNS
from tasks.runs.tidy_files import write_results

NAMES = ("model", "part", "repetition", "reply", "value", "ratings")
EMPTY = pl.DataFrame(schema={name: COLUMNS[name] for name in NAMES})
RATING = {"judge": "j", "dimension": "warmth", "judge_repetition": 0, "rating": None, "lowest": 1, "highest": 5}
ROWS: list[tuple[Any, ...]] = [
    ("m", "", 0, 'He said: "=1+1",\nthen 好 \U0001f600', 0.5, [RATING]),
    ("m", "turn 1", 1, None, None, None),
]
TEXT = [(*row[:5], row[5] and json.dumps(row[5], separators=(",", ":"))) for row in ROWS]


def frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=EMPTY.schema, orient="row")


def read_csv(file: Path) -> list[tuple[Any, ...]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return [tuple(row) for row in csv.reader(opened)]


def read_sqlite(file: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT * FROM results").fetchall()


def test_parquet_has_types_and_descriptions(tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    write_results(file, EMPTY, map(frame, ([ROWS[0]], [ROWS[1]])))
    assert pl.read_parquet(file).rows() == [tuple(row) for row in ROWS]
    assert pl.read_parquet(file).schema == EMPTY.schema
    assert pq.read_schema(file).field("model").metadata == {b"description": b"model under test"}


def test_csv_quotes_texts_and_leaves_null_empty(tmp_path: Path) -> None:
    write_results(tmp_path / "results.csv", EMPTY, [frame(ROWS)])
    head, *rows = read_csv(tmp_path / "results.csv")
    assert head == NAMES
    assert rows == [tuple("" if value is None else str(value) for value in row) for row in TEXT]


def test_sqlite_has_types_and_null(tmp_path: Path) -> None:
    write_results(tmp_path / "results.sqlite", EMPTY, [frame(ROWS)])
    assert read_sqlite(tmp_path / "results.sqlite") == TEXT


def test_excel_has_texts_as_they_are(tmp_path: Path) -> None:
    write_results(tmp_path / "results.xlsx", EMPTY, [frame(ROWS)])
    with ZipFile(tmp_path / "results.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert 'He said: "=1+1",\nthen 好 \U0001f600' in sheet.replace("&quot;", '"')
    # Three rows; the second has no reply, no value and no ratings, and a text that begins with = is no formula.
    assert (sheet.count("<row "), sheet.count("<c "), "<f>" in sheet) == (3, 6 + 6 + 3, False)


@pytest.mark.parametrize("ending", tidy_files.WRITERS)
def test_file_without_rows_has_its_columns(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"results{ending}"
    write_results(file, EMPTY.drop("ratings"), [])
    readers: dict[str, Callable[[Path], Any]] = {
        ".parquet": lambda path: pl.read_parquet(path).columns,
        ".csv": lambda path: list(read_csv(path)[0]),
        ".sqlite": lambda path: [
            row[0] for row in sqlite3.connect(path).execute("SELECT name FROM pragma_table_info('results')")
        ],
        ".xlsx": lambda path: list(NAMES[:-1]) if path.stat().st_size else [],
    }
    assert readers[ending](file) == list(NAMES[:-1])


@pytest.mark.parametrize("ending", tidy_files.WRITERS)
def test_an_earlier_file_is_replaced(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"results{ending}"
    file.write_text("mine")
    write_results(file, EMPTY, [frame(ROWS)])
    assert (file.stat().st_size > len("mine"), [*tmp_path.iterdir()]) == (True, [file])


@pytest.mark.parametrize("ending", tidy_files.WRITERS)
def test_nothing_stays_of_a_file_that_failed(tmp_path: Path, ending: str) -> None:
    def breaks() -> Iterator[pl.DataFrame]:
        yield frame(ROWS)
        raise UsageError("a partition is gone")

    with pytest.raises(UsageError, match="a partition is gone"):
        write_results(tmp_path / f"results{ending}", EMPTY, breaks())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere/results.sqlite", "the file cannot be written"),
    ],
)
def test_file_that_cannot_be_written_is_refused(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        write_results(tmp_path / name, EMPTY, [frame(ROWS)])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "got"),
    [
        ("a" * 32_768, "32,768 characters of reply"),
        # Each counts twice.
        ("\U0001f600" * 16_384, "32,768 characters of reply"),
    ],
)
def test_excel_refuses_what_a_cell_cannot_hold(tmp_path: Path, reply: str, got: str) -> None:
    write_results(tmp_path / "fits.xlsx", EMPTY, [frame([("m", "", 0, reply[:16_383], 1.0, None)])])
    with pytest.raises(UsageError, match="an Excel sheet cannot hold these results") as caught:
        write_results(tmp_path / "results.xlsx", EMPTY, [frame([("m", "", 0, reply, 1.0, None)])])
    assert caught.value.got == got
    assert [path.name for path in tmp_path.iterdir()] == ["fits.xlsx"]


def test_excel_refuses_more_rows_than_a_sheet_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tidy_files, "EXCEL_ROWS", 3)
    write_results(tmp_path / "fits.xlsx", EMPTY, [frame(ROWS)])
    with pytest.raises(UsageError) as caught:
        write_results(tmp_path / "results.xlsx", EMPTY, [frame(ROWS), frame(ROWS)])
    assert (caught.value.got, caught.value.expected) == ("4 rows or more", "at most 2 rows, and 32,767 characters in a cell")


def test_missing_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(UsageError) as caught:
        write_results(tmp_path / "results.xlsx", EMPTY, [])
    assert caught.value.what == "an Excel file needs the package xlsxwriter, which is not installed"
    assert caught.value.next_step == 'pip install "moodflow[xlsx]"'
