"""Sum up journals, export their replies to Parquet, import them from it, and merge two journals.

A file that is not there or is none of ours is a UsageError; a journal that cannot be used, or a damaged row of it, a LakeError.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from schemas.documents.lake import JournalSummary, ModelReplies
from schemas.errors import LakeError, UsageError
from tasks.lake.files import new_file, require_absent
from tasks.models.journal.rows import SCHEMA, check_rows, to_record
from tasks.models.journal.table import (
    COLUMNS,
    JournalRow,
    connect,
    connect_to_read,
    insert,
    journal_errors,
    read_reply,
    row_errors,
)

ROWS_AT_ONCE = 2000
"""Rows in memory, in a transaction and in a row group: a run that writes into the same journal waits for one transaction only."""

SUMMARY = """
SELECT identity, json_extract(request, '$.model') AS model, count(*) AS replies,
    sum(length(CAST(request AS BLOB)) + length(CAST(reply AS BLOB))) AS bytes, min(created) AS first, max(created) AS last
FROM replies GROUP BY 1, 2 ORDER BY 1, 2
"""


@dataclass
class ImportedReplies:
    """Counts of the rows of a file or journal that was read: `good` and `refused` are all of them.

    Good rows were added, are in our journal as they are (`same`), or are another reply to a call we have one to (`kept_ours`).
    A row that breaks several rules is refused once.
    """

    read: int = 0
    added: int = 0
    same: int = 0
    kept_ours: int = 0
    refused: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    to_ask: int | None = None
    unknown_form: str | None = None

    def refuse(self, rule: str, rows: int = 1) -> None:
        """Count rows that break a rule."""
        self.read += rows
        self.refused += rows
        self.rules[rule] += rows


def summarise(journal: Path) -> JournalSummary:
    """Sum up replies by endpoint identity and model."""
    with _reading(journal) as connection, journal_errors(journal):
        connection.row_factory = sqlite3.Row
        models = tuple(ModelReplies(**row) for row in connection.execute(SUMMARY))
    replies = sum(model.replies for model in models)
    return JournalSummary(journal=str(journal), file_bytes=journal.stat().st_size, replies=replies, models=models)


def export_replies(journal: Path, file: Path, model: str | None = None) -> int:
    """Write a journal's replies, or those by one model, to a new Parquet file, sorted by key; return how many there are.

    The file is there whole or not at all. A run may be writing into the journal.
    """
    with new_file(file) as temporary, _reading(journal) as connection:
        require_absent(file)
        written = 0
        with pq.ParquetWriter(temporary, _arrow(pl.DataFrame(schema=SCHEMA)).schema, compression="zstd") as writer:
            for frame in _frames(_rows(connection, journal, model), journal):
                writer.write_table(_arrow(frame))
                written += frame.height
        if not written and model is not None:
            step = "moodflow journal show lists the models"
            raise UsageError("the journal has no replies from this model", where=str(journal), got=model, next_step=step)
    return written


def import_replies(file: Path, journal: Path) -> ImportedReplies:
    """Add the replies of a Parquet file to a journal, each row verified; a run may be writing into the journal."""
    try:
        with pq.ParquetFile(file) as opened:
            _require_schema(file, _checked(opened.schema_arrow.empty_table()).schema)
            return _take(map(_checked, opened.iter_batches(batch_size=ROWS_AT_ONCE)), journal)
    except (OSError, ValueError, pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise UsageError(
            "the file cannot be read",
            where=str(file),
            expected="a Parquet file written by moodflow journal export",
            got=str(error).splitlines()[0],
            next_step="give the exported file; a folder of result files needs BENCHMARK, a log --requests",
        ) from error


def _checked(exported: pa.RecordBatch | pa.Table) -> pl.DataFrame:
    exported.validate(full=True)  # Polars panics over text that is no UTF-8
    return pl.DataFrame(pl.from_arrow(exported))


def merge_replies(other: Path, journal: Path) -> ImportedReplies:
    """Add the replies of another journal, each verified as on import; the other journal stays as it is."""
    taken = ImportedReplies()
    with _reading(other) as connection:
        return _take(_frames(_rows(connection, other), other, taken), journal, taken)


def add_replies(rows: Sequence[JournalRow], source: Path, journal: Path, taken: ImportedReplies) -> None:
    """Add replies read from a file, one per call, to our journal, each verified as on import; `taken` gets the counts."""
    batches = ([*rows[start : start + ROWS_AT_ONCE]] for start in range(0, len(rows), ROWS_AT_ONCE))
    _take(_frames(batches, source, taken), journal, taken)


def _frames(batches: Iterable[list[JournalRow]], journal: Path, taken: ImportedReplies | None = None) -> Iterator[pl.DataFrame]:
    """Rows of a journal; one that holds no answer is counted in `taken`, or without it an error."""
    for rows in batches:
        records = []
        for row in rows:
            try:
                with row_errors(journal, row.key):
                    records.append(to_record(row))
            except LakeError:
                if taken is None:
                    raise
                taken.refuse("row_is_an_answer")
        yield pl.DataFrame(records, schema=SCHEMA, orient="row")


def _take(frames: Iterable[pl.DataFrame], journal: Path, taken: ImportedReplies | None = None) -> ImportedReplies:
    taken, seen = taken or ImportedReplies(), set[str]()
    with closing(connect(journal)) as connection:
        for frame in frames:
            good, broken = check_rows(frame, seen)
            taken.read += frame.height
            taken.refused += frame.height - len(good)
            taken.rules += broken
            with journal_errors(journal), connection:
                _add(connection, journal, good, taken)
    return taken


def _add(connection: sqlite3.Connection, journal: Path, rows: list[JournalRow], taken: ImportedReplies) -> None:
    added = insert(connection, rows)
    # In the transaction that inserted: what is found now is either one of these rows or older.
    query = "SELECT key, reply FROM replies WHERE key IN (SELECT value FROM json_each(?))"
    ours = dict(connection.execute(query, (json.dumps([row.key for row in rows]),)))
    differing = 0
    for row in rows:
        if ours[row.key] != row.reply:
            with row_errors(journal, row.key):
                differing += read_reply(ours[row.key]) != read_reply(row.reply)
    taken.added += added
    taken.kept_ours += differing
    taken.same += len(rows) - added - differing


def _rows(connection: sqlite3.Connection, journal: Path, model: str | None = None) -> Iterator[list[JournalRow]]:
    only = "" if model is None else "WHERE json_extract(request, '$.model') = ?"
    query = f"SELECT {COLUMNS} FROM replies {only} ORDER BY key"  # noqa: S608  no user's text
    with journal_errors(journal):
        cursor = connection.execute(query, () if model is None else (model,))
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield [JournalRow(*row) for row in rows]


def _arrow(frame: pl.DataFrame) -> pa.Table:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def _require_schema(file: Path, schema: pl.Schema) -> None:
    wrong = [
        f"{name}: {schema.get(name, 'missing')} instead of {SCHEMA.get(name, 'nothing')}"
        for name in {**SCHEMA, **schema}
        if schema.get(name) != SCHEMA.get(name)
    ]
    if wrong:
        raise UsageError(
            "the file is not an exported journal",
            where=str(file),
            expected="the columns that moodflow journal export writes",
            got="; ".join(wrong),
            next_step="moodflow docs journal lists the columns",
        )


def require_journal(journal: Path) -> Path:
    """Return the file of a journal; UsageError: it is not there."""
    if not journal.is_file():
        raise UsageError("there is no journal of replies", where=str(journal), next_step="give the lake of a run with --lake")
    return journal


def _reading(journal: Path) -> closing[sqlite3.Connection]:
    return closing(connect_to_read(require_journal(journal)))
