"""Read a source file into raw records. Every row is either a record or an error that names it: none is lost."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NoReturn

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.dataset import DatasetSpec, LocalFile, OwnCopy, PinnedFile, RecordFormat
from schemas.errors import RecordError, SourceError
from schemas.item import Record
from schemas.json_yaml import read_json, require_short
from tasks.sources.files import CODEBOOK_FILE, name_source, read_bytes, read_text, record_files

# Quotes mean the same in TSV: the tab-separated source files quote cells and double the quotes inside them.
DELIMITERS: dict[RecordFormat, str] = {"csv": ",", "tsv": "\t", "tsv_plain": "\t"}
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
RAGGED = "row_has_the_fields_of_the_header"
"""Rule for the rows of a user's own file; in any other, a row that breaks it ends the reading."""

Parse = Callable[[str], Any]
Fields = dict[str, Any]

ROW_NAMES = "row_names"
"""What the first column is called if its header is empty, as R writes it."""


def read_records(
    path: Path,
    record_format: RecordFormat,
    *,
    name: str | None = None,
    columns: tuple[str, ...] | None = None,
    required: tuple[str, ...] = (),
    own: bool = False,
) -> list[Record]:
    """Return all records of one file, in file order.

    Args:
        path: the file; text is UTF-8, a byte-order mark is dropped.
        record_format: how it is written; `csv` and `tsv` quote with `"`, `tsv_plain` does not quote.
        name: what `Record.file` says; the file's own name by default.
        columns: names of the fields of a csv or tsv file without a header, in order; null = its first row is the header.
        required: fields that each record must have.
        own: whether it is a user's, not pinned by content: its JSON is checked, and a row of cells with a field too few or too
            many is a record without fields that has this fault.

    Raises:
        RecordError: a row with a field too few or too many, a line that is not a JSON object, a required field that is missing.
        SourceError: not UTF-8, not Parquet, no JSON array, a broken header, or no record at all.
    """
    reader = _READERS.get(record_format)
    parse = read_json if own else json.loads
    rows = _read_delimited(path, record_format, columns) if reader is None else reader(path, parse)
    records = []
    for row, fields in enumerate(rows):
        fault = fields.get(RAGGED) if reader is None else None
        if fault and not own:
            _reject(path, row, "the row has more or fewer fields than the header", "as many fields as the header", fault)
        records.append(Record({} if fault else fields, name or path.name, row, faults={RAGGED: fault} if fault else {}))
    if not records:
        raise SourceError("the file has no records", where=str(path), next_step="check that the file is complete")
    for record in records:
        if not record.faults and (missing := [field for field in required if field not in record.fields]):
            _reject(
                path, record.row, "the record lacks required fields", f"fields {', '.join(required)}", f"no {', '.join(missing)}"
            )
    return records


def read_dataset(spec: DatasetSpec, paths: Sequence[Path]) -> list[Record]:
    """Return all records of all files of a catalogue entry.

    Args:
        spec: the entry; its format, columns and required fields apply to each file. A file with a format of its own holds
            other records, to be joined: required fields are not asked of them.
        paths: where its files are, in the order of `spec.files`.

    A field `canary` that holds the entry's own canary is left out: it marks the file and is no part of its content, so that
    hashes, the draw and items are those of a file without it. SourceError: the number of records is not the one known for the
    pinned files, or what `read_records` raises.
    """
    records = []
    for source, path in zip(spec.files, paths, strict=True):
        name = name_source(source)
        entry = source.of if isinstance(source, OwnCopy) else source
        own_format = entry.record_format if isinstance(entry, PinnedFile) else None
        required = () if own_format else spec.required
        own = isinstance(source, LocalFile) and not (isinstance(source, OwnCopy) and source.as_pinned)
        if (own_format or spec.record_format) == "folder":
            read = read_folder(path)
        else:
            read = read_records(
                path, own_format or spec.record_format, name=name, columns=spec.columns, required=required, own=own
            )
        records += read if spec.canary is None else [_without_canary(record, spec.canary) for record in read]
    if spec.expected_rows is not None and len(records) != spec.expected_rows:
        raise SourceError(
            f"{spec.id} has a different number of records than its catalogue entry",
            where=", ".join(str(path) for path in paths),
            expected=f"{spec.expected_rows} records",
            got=f"{len(records)} records",
            next_step="correct format, columns or expected_rows of the catalogue entry: the files are the pinned ones",
        )
    return records


def read_folder(folder: Path) -> list[Record]:
    """Return a record per file of a folder, in their order; one without an object has a fault; SourceError: there is none."""
    paths = record_files(folder)
    if not any(path.parent == folder for path in paths):
        raise SourceError(
            "the folder has no records", where=str(folder), expected="files *.json", next_step="give the folder that has them"
        )
    return [_read_whole(path) for path in paths]


def _read_whole(path: Path) -> Record:
    rule, reason = "file_is_json", ""
    try:
        value = read_json(read_bytes(path).decode("utf-8-sig"))
        if path.name == CODEBOOK_FILE:
            value = {path.stem: value}  # may have any form
        if isinstance(value, dict):
            return Record(value, path.name, 0)
        rule, reason = "file_is_one_object", f"a JSON {type(value).__name__}"
    except UnicodeDecodeError as error:
        rule, reason = "file_is_utf8", str(error)
    except (ValueError, RecursionError) as error:
        reason = _message_of(error)
    return Record({}, path.name, 0, faults={rule: f"{path.name}: {reason}"})


def _without_canary(record: Record, canary: str) -> Record:
    fields = {name: value for name, value in record.fields.items() if (name, value) != ("canary", canary)}
    return replace(record, fields=fields)


def _read_delimited(path: Path, written: RecordFormat, columns: tuple[str, ...] | None) -> Iterator[Fields]:
    quoting: Literal[0, 3] = csv.QUOTE_NONE if written == "tsv_plain" else csv.QUOTE_MINIMAL
    text = io.StringIO(read_text(path), newline="")
    reader = csv.reader(text, delimiter=DELIMITERS[written], quoting=quoting, strict=True)
    header = columns
    row = 0
    try:
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue  # a blank line, or the commas that spreadsheets leave of one
            if header is None:
                header = _check_header(path, tuple(cells), DELIMITERS[written], reader.line_num)
                continue
            ragged = f"line {reader.line_num} has {len(cells)} fields and the header {len(header)}"
            yield dict(zip(header, cells, strict=True)) if len(cells) == len(header) else {RAGGED: ragged}
            row += 1
    except csv.Error as error:
        _reject(path, row, "the row cannot be read", "cells quoted as in RFC 4180", f"{error} (line {reader.line_num})")


def _check_header(path: Path, header: tuple[str, ...], delimiter: str, line: int) -> tuple[str, ...]:
    other = max(SEPARATORS, key="".join(header).count)
    if len(header) == 1 and other in header[0]:
        raise SourceError(
            f"the cells are separated by {SEPARATORS[other]}",
            where=f"{path}, line {line}",
            expected=f"{SEPARATORS[delimiter]} between cells",
            got=header[0][:80],
            next_step="save it with commas, in Excel as CSV UTF-8, and name it .csv; a file with tabs is named .tsv",
        )
    if len(header) > 1 and not header[0]:
        header = (ROW_NAMES, *header[1:])
    if len(set(header)) != len(header) or not all(header):
        raise SourceError(
            "the header has empty or repeated column names",
            where=f"{path}, line {line}",
            expected="distinct names, none of them empty",
            got=", ".join(header) or "an empty line",
            next_step="name every column in the first row, and remove empty columns",
        )
    return header


def _read_json_lines(path: Path, parse: Parse) -> Iterator[Fields]:
    row = 0
    # Not splitlines(): it also breaks at characters that JSON strings may contain, such as U+2028.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            require_short(line)
            value = parse(line)
        except (ValueError, RecursionError) as error:
            _reject(path, row, "the line is not JSON", "one JSON object per line", f"{_message_of(error)} on line {number}")
        yield _check_object(path, row, value)
        row += 1


def _read_lines(path: Path, _: Parse) -> Iterator[Fields]:
    lines = read_text(path).split("\n")
    for line in lines[:-1] if lines[-1] == "" else lines:
        yield {"line": line.removesuffix("\r")}


def _read_json(path: Path, parse: Parse, kind: type[dict[str, Any] | list[Any]]) -> Iterable[Fields]:
    expected = "one JSON object" if kind is dict else "a JSON array of objects"
    try:
        values = parse(read_text(path))
    except (ValueError, RecursionError) as error:
        raise SourceError(
            "the file is not JSON",
            where=f"{path}, line {error.lineno}" if isinstance(error, json.JSONDecodeError) else str(path),
            expected=expected,
            got=_message_of(error),
            next_step="check that the file is complete",
        ) from error
    if not isinstance(values, kind):
        raise SourceError(
            "the file is not a list of records",
            where=str(path),
            expected=expected,
            got=f"a JSON {type(values).__name__}",
            next_step="check the format in the catalogue entry",
        )
    if isinstance(values, dict):
        return [{"key": key, "value": value} for key, value in values.items()]
    return [_check_object(path, row, value) for row, value in enumerate(values)]


def _message_of(error: ValueError | RecursionError) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def _check_object(path: Path, row: int, value: Any) -> Fields:
    if not isinstance(value, dict):
        _reject(path, row, "the record is not a JSON object", "a JSON object", json.dumps(value, ensure_ascii=False)[:80])
    return value


def _read_parquet(path: Path, _: Parse) -> list[Fields]:
    try:
        # By Arrow, and checked: polars ends the process over some bytes that no writer makes.
        table = pq.ParquetFile(io.BytesIO(read_bytes(path))).read()
        table.validate(full=True)
        return pl.DataFrame(pl.from_arrow(table)).to_dicts()
    except (OSError, ValueError, pa.ArrowException, pl.exceptions.PanicException) as error:
        raise SourceError(
            "the file cannot be read as Parquet",
            where=str(path),
            expected="a complete Parquet file",
            got=str(error),
            next_step="download the file again; it may be incomplete",
        ) from error


_READERS: dict[RecordFormat, Callable[[Path, Parse], Iterable[Fields]]] = {
    "lines": _read_lines,
    "jsonl": _read_json_lines,
    "json": partial(_read_json, kind=list),
    "json_object": partial(_read_json, kind=dict),
    "parquet": _read_parquet,
}
"""All formats but those of delimited cells."""


def _reject(path: Path, row: int, what: str, expected: str, got: str) -> NoReturn:
    raise RecordError(
        what,
        where=f"{path}, row {row} (0-based)",
        expected=expected,
        got=got,
        next_step="correct the file; if its catalogue entry states another format, correct the entry",
    )
