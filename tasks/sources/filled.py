"""Read what people filled in: ratings, annotations and votes, each row of which is taken or refused by its line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from schemas.errors import RecordError, UsageError, unknown_name
from schemas.item import Record
from tasks.sources.reading import read_records


def require_columns(
    path: Path, records: Sequence[Record], columns: Sequence[str], may_lack: Sequence[str], contract: str
) -> None:
    """Raise UsageError if a user's file has another column, or lacks one that it may not; `contract`: which page says what."""
    given = dict.fromkeys(name for record in records for name in record.fields)
    for name in given:
        if name not in columns:
            raise unknown_name("column", name, columns, str(path), contract)
    if missing := [name for name in columns if name not in given and name not in may_lack]:
        expected, got = ", ".join(missing), ", ".join(given)
        raise UsageError("columns are missing", where=str(path), expected=expected, got=got, next_step=contract)


class FilledRow(NamedTuple):
    """A row that somebody filled in: its line in the table, the header being 1, and its fields, all empty where `is_ragged`."""

    path: Path
    line: int
    fields: dict[str, str]
    is_ragged: bool

    def require(self, what: str, rules: Mapping[str, bool], next_step: str) -> None:
        """Raise RecordError by the first rule that does not hold."""
        for rule, holds in {"as many fields as the header": not self.is_ragged, **rules}.items():
            if not holds:
                where, got = f"{self.path}, line {self.line}", ", ".join(self.fields.values())
                raise RecordError(what, where=where, expected=rule, got=got, next_step=next_step)


def read_filled(path: Path, columns: Sequence[str], contract: str, may_lack: Sequence[str] = ()) -> list[FilledRow]:
    """Return the rows of a user's CSV, values without spaces around them; raise what `read_records` and `require_columns` do."""
    records = read_records(path, "csv", own=True)
    require_columns(path, records, columns, may_lack, contract)
    return [
        FilledRow(path, record.row + 2, {name: record.fields.get(name, "").strip() for name in columns}, bool(record.faults))
        for record in records
    ]
