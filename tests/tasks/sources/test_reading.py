import json
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

from schemas.dataset import DatasetSpec, LocalFile, PinnedFile, RecordFormat, SourceFile
from schemas.errors import RecordError, SourceError
from schemas.json_yaml import TOO_DEEP
from tasks.datasets.own_items import local_dataset
from tasks.sources.reading import read_dataset, read_folder, read_records


def write(tmp_path: Path, content: str | bytes, name: str = "file") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_parquet(tmp_path: Path, rows: list[dict[str, object]]) -> Path:
    pl.DataFrame(rows).write_parquet(tmp_path / "file")
    return tmp_path / "file"


def fields_of(path: Path, record_format: RecordFormat, **more: Any) -> list[dict[str, Any]]:
    return [dict(record.fields) for record in read_records(path, record_format, **more)]


ROWS: list[dict[str, object]] = [{"text": 'she said "no"', "label": "0"}, {"text": "茶, or\ttea", "label": "1"}]
RECORDS: dict[RecordFormat, str] = {
    "csv": 'text,label\n"she said ""no""",0\n"茶, or\ttea",1\n',
    "tsv": 'text\tlabel\n"she said ""no"""\t0\n"茶, or\ttea"\t1\n',
    "jsonl": "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS),
    "json": json.dumps(ROWS),
    "parquet": "",
}
"""The formats that can hold any two records with named fields, and how they write these."""


def write_format(tmp_path: Path, record_format: RecordFormat) -> Path:
    return write_parquet(tmp_path, ROWS) if record_format == "parquet" else write(tmp_path, RECORDS[record_format])


@pytest.mark.parametrize("record_format", RECORDS)
def test_formats_agree(tmp_path: Path, record_format: RecordFormat) -> None:
    path = write_format(tmp_path, record_format)
    records = read_records(path, record_format, name="folder/name", required=("text", "label"))
    assert [record.fields for record in records] == ROWS
    assert [(record.file, record.row) for record in records] == [("folder/name", 0), ("folder/name", 1)]


@pytest.mark.parametrize("record_format", [*RECORDS, "tsv_plain", "lines", "json_object"])
def test_missing_required_field_is_named(tmp_path: Path, record_format: RecordFormat) -> None:
    others: dict[RecordFormat, str] = {"tsv_plain": "text\na\n", "lines": "a\n", "json_object": '{"a": 1}'}
    path = write(tmp_path, others[record_format]) if record_format in others else write_format(tmp_path, record_format)
    with pytest.raises(RecordError, match="lacks required fields") as caught:
        read_records(path, record_format, required=("gold",))
    assert (caught.value.where, caught.value.got) == (f"{path}, row 0 (0-based)", "no gold")


def test_every_format_is_tested_here() -> None:
    assert RECORDS.keys() | {"tsv_plain", "lines", "json_object", "folder"} == set(get_args(RecordFormat))


def test_quotes_are_ordinary_characters_of_plain_tsv(tmp_path: Path) -> None:
    path = write(tmp_path, 'text\tlabel\n"she said ""no"\t0\n"\t1\n')
    expected = [{"text": '"she said ""no"', "label": "0"}, {"text": '"', "label": "1"}]
    assert fields_of(path, "tsv_plain") == expected


@pytest.mark.parametrize("text", ["a\n\n b\u2028\x85c", "a\n\n b\u2028\x85c\n", "a\r\n\r\n b\u2028\x85c\r\n"])
def test_lines_are_records_empty_ones_too(tmp_path: Path, text: str) -> None:
    assert fields_of(write(tmp_path, text), "lines") == [{"line": "a"}, {"line": ""}, {"line": " b\u2028\x85c"}]


def test_json_object_is_a_record_per_key(tmp_path: Path) -> None:
    path = write(tmp_path, '{"b": [1, {"c": null}], "a": "x"}')
    assert fields_of(path, "json_object") == [{"key": "b", "value": [1, {"c": None}]}, {"key": "a", "value": "x"}]


def test_file_without_header_keeps_its_first_row(tmp_path: Path) -> None:
    path = write(tmp_path, '"first","A"\n"second","B"\n')
    expected = [{"text": "first", "gold": "A"}, {"text": "second", "gold": "B"}]
    assert fields_of(path, "csv", columns=("text", "gold")) == expected


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param('a,b\n"x\ny\r\nz",1\nw,2\n', [{"a": "x\ny\r\nz", "b": "1"}, {"a": "w", "b": "2"}], id="line breaks"),
        pytest.param("\ufeffa,b\nx,1\n", [{"a": "x", "b": "1"}], id="byte order mark"),
        pytest.param('"","a"\n"1","x"\n"2","y"\n', [{"row_names": "1", "a": "x"}, {"row_names": "2", "a": "y"}], id="row names"),
    ],
)
def test_rows_of_csv_are_counted_not_its_lines(tmp_path: Path, text: str, fields: list[dict[str, str]]) -> None:
    records = read_records(write(tmp_path, text), "csv")
    assert [(record.row, record.fields) for record in records] == list(enumerate(fields))


FIELDS = "the row has more or fewer fields than the header"


@pytest.mark.parametrize(
    ("record_format", "text", "what", "row", "got"),
    [
        ("csv", "a,b\n1,2,3\n", FIELDS, 0, "line 2 has 3 fields and the header 2"),
        ("csv", "a,b\n1,2\n\n,\n3\n", FIELDS, 1, "line 5 has 1 fields and the header 2"),
        ("csv", 'a,b\n"x\ny",2\n3\n', FIELDS, 1, "line 4 has 1 fields and the header 2"),
        ("csv", 'a,b\n1,2\n3,"four\n', "the row cannot be read", 1, "unexpected end of data (line 3)"),
        ("csv", 'a,b\n"1"x,2\n', "the row cannot be read", 0, "',' expected after '\"' (line 2)"),
        ("jsonl", '{"a": 1}\n\n{"a": 2\n', "the line is not JSON", 1, "Expecting ',' delimiter on line 3"),
        ("jsonl", '{"a": 1}\n{"a": 2, "a": 3}\n', "the line is not JSON", 1, "key a twice on line 2"),
        ("jsonl", '{"a": 1}\n{"a": ' + "[" * 3000, "the line is not JSON", 1, f"{TOO_DEEP} on line 2"),
        ("jsonl", f'{{"a": "{"x" * 2**24}"}}', "the line is not JSON", 0, "16,777,225 characters, more than 16 MiB on line 1"),
        ("jsonl", '{"a": 1}\n\n["a"]\n', "the record is not a JSON object", 1, '["a"]'),
        ("jsonl", '{"a": 1}\n{"b": 1}\n', "the record lacks required fields", 1, "no a"),
        ("json", '[{"a": 1}, 2]', "the record is not a JSON object", 1, "2"),
    ],
)
def test_a_row_that_is_no_record_is_named(
    tmp_path: Path, record_format: RecordFormat, text: str, what: str, row: int, got: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(RecordError) as caught:
        read_records(path, record_format, required=("a",), own=what != FIELDS)
    assert (caught.value.what, caught.value.where, caught.value.got) == (what, f"{path}, row {row} (0-based)", got)


def test_blank_rows_are_skipped_ragged_are_faults(tmp_path: Path) -> None:
    path = write(tmp_path, "\n,\na,b\n\n1,2\n,\n \t,\n3\n4,5\n\n")
    found = [(record.row, dict(record.fields), dict(record.faults)) for record in read_records(path, "csv", own=True)]
    ragged = {"row_has_the_fields_of_the_header": "line 8 has 1 fields and the header 2"}
    assert found == [(0, {"a": "1", "b": "2"}, {}), (1, {}, ragged), (2, {"a": "4", "b": "5"}, {})]


@pytest.mark.parametrize(
    ("text", "record_format", "separator"),
    [("a;b\n1;2\n", "csv", "semicolons"), ("a\tb\n", "csv", "tabs"), ("a,b\n", "tsv", "commas"), ("a|b\n", "csv", "bars")],
)
def test_cells_with_another_separator(tmp_path: Path, text: str, record_format: RecordFormat, separator: str) -> None:
    with pytest.raises(SourceError, match=f"separated by {separator}") as caught:
        read_records(write(tmp_path, text), record_format)
    assert "CSV UTF-8" in str(caught.value.next_step)


@pytest.mark.parametrize(
    ("content", "line", "advice"),
    [
        ("q\n你今天好吗？".encode("gb18030"), 2, "it may be GB18030: iconv -f GB18030 -t UTF-8 FILE"),
        ("q\n你今天好吗？".encode("utf-16"), 1, "it may be UTF-16: "),
        ("q\n你今天好吗？".encode("utf-16-le"), 2, "it may be UTF-16LE: "),
        ("q,r\nplain,letters".encode("utf-16-be"), 1, "it may be UTF-16BE: "),
        ("q\nZoë likes crème brûlée".encode("latin-1"), 2, "it may be WINDOWS-1252: "),
        (b"PK\x03\x04\x14\x00\xff\xfe", 1, "it looks like a workbook, an archive or a picture: "),
        (b"\x89PNG\r\n\x1a\n\x00" + bytes(range(9, 99)), 1, "it looks like a workbook, an archive or a picture: "),
        ("q\n你今天好吗？".encode() + b"\xff", 2, "nearly all of it is UTF-8: correct this line"),
    ],
)
def test_text_in_another_encoding_says_which(tmp_path: Path, content: bytes, line: int, advice: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(SourceError, match="not UTF-8") as caught:
        read_records(path, "csv")
    assert caught.value.where == f"{path}, line {line}"
    assert str(caught.value.got).startswith("byte 0x")
    assert str(caught.value.next_step).startswith(advice)


@pytest.mark.parametrize("header", ["a,a", "a,", ",row_names"])
def test_header_names_each_column_once(tmp_path: Path, header: str) -> None:
    with pytest.raises(SourceError, match="header"):
        read_records(write(tmp_path, f"{header}\n1,2\n"), "csv")


def test_json_lines_break_at_line_feeds_only(tmp_path: Path) -> None:
    # U+2028 and U+0085 end a line for str.splitlines, not for JSON Lines.
    path = write(tmp_path, '{"a": "x\u2028y\u0085z"}\r\n{"a": "w"}\r\n')
    assert fields_of(path, "jsonl") == [{"a": "x\u2028y\u0085z"}, {"a": "w"}]


@pytest.mark.parametrize(
    ("record_format", "text", "what", "got"),
    [
        ("json", '{"a": 1}', "not a list of records", "a JSON dict"),
        ("json", '[{"a": 1}', "not JSON", "Expecting ',' delimiter"),
        ("json_object", "[1]", "not a list of records", "a JSON list"),
    ],
)
def test_json_file_of_another_kind(tmp_path: Path, record_format: RecordFormat, text: str, what: str, got: str) -> None:
    with pytest.raises(SourceError, match=what) as caught:
        read_records(write(tmp_path, text), record_format)
    expected = "one JSON object" if record_format == "json_object" else "a JSON array of objects"
    assert (caught.value.expected, caught.value.got) == (expected, got)


def test_parquet_keeps_lists_structs_and_nulls(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"a": [1, 2], "b": {"c": ["x"]}, "d": None}, {"a": [], "b": {"c": []}, "d": 1.5}]
    assert fields_of(write_parquet(tmp_path, rows), "parquet") == rows


def test_damaged_parquet_is_read_or_refused(tmp_path: Path) -> None:
    path, read = tmp_path / "file.parquet", 0
    pl.DataFrame({"q": ["which", "what"]}).write_parquet(path, compression="uncompressed", statistics=False)
    content = path.read_bytes()
    for at, wrong in product(range(len(content)), (0, 255)):
        path.write_bytes(content[:at] + bytes([wrong]) + content[at + 1 :])
        with suppress(SourceError):
            read_records(path, "parquet")
            read += 1
    assert 0 < read < len(content)


@pytest.mark.parametrize(
    ("text", "record_format"), [("", "jsonl"), ("a,b\n", "csv"), ("", "csv"), ("[]", "json"), ("\n\n", "jsonl")]
)
def test_file_without_records(tmp_path: Path, text: str, record_format: RecordFormat) -> None:
    with pytest.raises(SourceError, match="has no records"):
        read_records(write(tmp_path, text), record_format)


@pytest.mark.parametrize("record_format", ["csv", "parquet"])
def test_file_that_cannot_be_opened(tmp_path: Path, record_format: RecordFormat) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_records(tmp_path / "gone", record_format)


TWO = LocalFile(path=Path("somewhere/two.csv"))


def spec_of(expected_rows: int | None, second: SourceFile = TWO) -> DatasetSpec:
    first = PinnedFile(repository="github.com/a/b", revision="0123456", path="x/one.csv", sha256="0" * 64)
    pair = local_dataset("pair", "Pair", TWO)
    return replace(pair, files=(first, second), required=("text",), expected_rows=expected_rows)


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    return [write(tmp_path, "text\na\nb\n", "1"), write(tmp_path, "text\nc\n", "2")]


@pytest.mark.parametrize("expected_rows", [3, None])
def test_dataset_joins_its_files(pair: list[Path], expected_rows: int | None) -> None:
    found = [(record.file, record.row, record.fields["text"]) for record in read_dataset(spec_of(expected_rows), pair)]
    assert found == [("x/one.csv", 0, "a"), ("x/one.csv", 1, "b"), ("two.csv", 0, "c")]


@pytest.mark.parametrize("expected_rows", [2, 4])
def test_dataset_with_another_number_of_records(pair: list[Path], expected_rows: int) -> None:
    with pytest.raises(SourceError, match="number of records") as caught:
        read_dataset(spec_of(expected_rows), pair)
    assert (caught.value.expected, caught.value.got) == (f"{expected_rows} records", "3 records")


def test_file_with_a_format_of_its_own(tmp_path: Path, pair: list[Path]) -> None:
    own = PinnedFile(repository="github.com/a/b", revision="0123456", path="x/gold.txt", sha256="0" * 64, record_format="lines")
    records = read_dataset(spec_of(3, own), [pair[0], write(tmp_path, "B\n", "gold")])
    # It owes no required field.
    assert [(record.file, record.fields) for record in records[1:]] == [
        ("x/one.csv", {"text": "b"}),
        ("x/gold.txt", {"line": "B"}),
    ]


def test_a_folder_has_a_record_per_file(tmp_path: Path) -> None:
    for name, content in {"b.json": b'{"a": 1}', "a.json": b"[]", "c.json": b'{"a": 1, "a": 2}', "d.txt": b"{}"}.items():
        (tmp_path / name).write_bytes(content)
    found = [(record.file, dict(record.fields), dict(record.faults)) for record in read_folder(tmp_path)]
    assert found == [
        ("a.json", {}, {"file_is_one_object": "a.json: a JSON list"}),
        ("b.json", {"a": 1}, {}),
        ("c.json", {}, {"file_is_json": "c.json: key a twice"}),
    ]
    with pytest.raises(SourceError, match="the folder has no records"):
        read_folder(tmp_path / "none")
