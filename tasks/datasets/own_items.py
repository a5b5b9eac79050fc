"""Records that already are items: the bundled files and a user's own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schemas.dataset import RECORD_FORMATS, DatasetSpec, LocalFile, format_of_suffix
from schemas.documents import read_json
from schemas.errors import RecordError, UsageError, suggest
from schemas.item import Item, Record
from schemas.question_types import QUESTION_TYPES
from schemas.vocabulary import LANGUAGES

REQUIRED = ("language", "question_type", "question")
"""Fields each record has."""

LISTS = (
    *("options", "gold_indices", "references", "option_points"),
    *("option_roles", "wrong_references", "reference_gold_indices"),
)
GROUPS = "groups"
OPTIONAL_TEXTS = ("item_id", "subset", "cluster", "context")


def adapt_item_record(record: Record) -> Item:
    """Return one item with the fields of `schemas.item.Item` under their own names.

    A list or the groups may be given as JSON text, a missing value as an empty text and yes or no as true or false, since a cell
    of a csv file can hold nothing else.

    Raises:
        RecordError: a field that items do not have, a value of another type, a list that is not one.
    """
    for name in record.fields:
        if name not in Item.model_fields:
            expected = f"{suggest(str(name), Item.model_fields, '', cutoff=0.6)} fields: {', '.join(Item.model_fields)}"
            raise _refused(record, "has a field that items do not have", expected.strip(), str(name))
    values = {name: _read_value(record, name, value) for name, value in record.fields.items()}
    try:
        return Item.model_validate(values, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _refused(record, f"has a wrong value in {field}", first["msg"], repr(first["input"])[:80]) from error


def _read_value(record: Record, name: str, value: Any) -> Any:
    if value == "" and name in (*LISTS, *OPTIONAL_TEXTS, GROUPS):
        return None
    if name == "fixed_order" and isinstance(value, str):
        return {"": False, "false": False, "true": True}.get(value.lower(), value)
    if name not in (*LISTS, GROUPS) or value is None:
        return value
    kind, wanted = (dict, "mapping") if name == GROUPS else (list, "list")
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError as error:
            raise _refused(record, f"has a wrong value in {name}", f"a JSON {wanted}", repr(value)[:80]) from error
    if not isinstance(value, kind):
        raise _refused(record, f"has a wrong value in {name}", f"a {wanted}", repr(value)[:80])
    return value if isinstance(value, dict) else tuple(value)


def _refused(record: Record, what: str, expected: str, got: str) -> RecordError:
    return RecordError(
        f"the record {what}",
        where=f"{record.file}, row {record.row} (0-based)",
        expected=expected,
        got=got,
        next_step="correct the record",
    )


def local_dataset(name: str, title: str, source: LocalFile) -> DatasetSpec:
    """Describe a user's own file in item format as a catalogue entry would; the file's suffix says how it is written.

    Raises:
        UsageError: the suffix is none of the formats.
    """
    if format_of_suffix(source) is None:
        raise UsageError(
            "the format of the file is not known",
            where=str(source.path),
            expected=f"a name that ends in one of {', '.join(f'.{known}' for known in RECORD_FORMATS)}",
            got=source.path.suffix or "no suffix",
            next_step="rename the file after its format",
        )
    return DatasetSpec(
        id=name,
        title=title,
        files=(source,),
        adapter=adapt_item_record,
        question_types=tuple(QUESTION_TYPES),
        languages=LANGUAGES,
        licence="the user's own",
        paper="the user's own",
        required=REQUIRED,
    )


def in_folder(spec: DatasetSpec, folder: Path) -> DatasetSpec:
    """Return the entry with the user's folder in place of its own.

    Raises:
        UsageError: there is no such folder, or the dataset does not come as one.
    """
    if spec.record_format != "folder" or not folder.is_dir():
        raise UsageError(
            f"{spec.id} cannot be read from this folder",
            where=f"folders.{spec.id}",
            expected="a folder, of a dataset that comes as one JSON file per record",
            got=str(folder),
            next_step="correct the path, or leave it out",
        )
    return replace(spec, files=(LocalFile(path=folder),))
