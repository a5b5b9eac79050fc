"""Records that already are items: the bundled files and a user's own."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from string import ascii_uppercase
from typing import Any
from unicodedata import normalize

from pydantic import ValidationError

from schemas.dataset import RECORD_FORMATS, DatasetSpec, LocalFile, OwnCopy, PinnedFile, format_of_suffix
from schemas.errors import RecordError, SourceMissingError, UsageError, suggest
from schemas.item import Item, Record
from schemas.json_yaml import read_json
from schemas.printing import appearance
from schemas.question_types import QUESTION_TYPES
from schemas.vocabulary import LANGUAGES
from tasks.sources.fetching import read_pointer
from tasks.sources.files import hash_file, pinned_hashes, pointer_in_place
from tasks.sources.locating import shortened, sources
from tasks.sources.reading import read_dataset
from tasks.text.number_format import counted

REQUIRED = ("language", "question_type", "question")

LISTS = (
    *("options", "gold_indices", "references", "option_points"),
    *("option_roles", "wrong_references", "reference_gold_indices"),
)
GROUPS = "groups"
OPTIONAL_TEXTS = ("item_id", "subset", "cluster", "context")
CORRECT = "correct the record; moodflow docs items has the format"
POSITIONS = "give the positions of options in a list, counted from 0: [0] is A, the first option, and [1] is B"

LABEL = re.compile(
    r"[\s*_(（\[【]*+(?:option|choice|选项)?+\s*+"
    r"(?:([①-⑳Ⓐ-Ⓩ])|(\d{1,2}|[ivx]{1,4}|[a-zＡ-Ｚ甲乙丙丁戊己庚辛一二三四五六七八])(?:[*_]*+[)）\]】.．:：、](?!\d)|\s[-–—]\s))",
    re.IGNORECASE,
)
LABELS: tuple[Sequence[str], ...] = (
    *(ascii_uppercase, "甲乙丙丁戊己庚辛", "一二三四五六七八", ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"]),
    *([*map(str, range(first, 27))] for first in (0, 1)),
)
"""What people put before options, in order."""


def adapt_item_record(record: Record) -> Item:
    """Return one item with the fields of `schemas.item.Item` under their own names.

    Cells of a csv file hold texts alone: lists and groups are JSON there, yes and no true and false, an empty text is no value.
    RecordError: a field that items do not have, a value of another type, a list that is not one.
    """
    for name in record.fields:
        if name not in Item.model_fields:
            expected = f"{suggest(str(name), Item.model_fields, '', cutoff=0.6)} fields: {', '.join(Item.model_fields)}"
            raise _refused(record, "has a field that items do not have", expected.strip(), str(name))
    values = {name: _read_value(record, name, value) for name, value in record.fields.items()}
    try:
        item = Item.model_validate(values, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise _refused(record, f"has a wrong value in {field}", first["msg"], repr(first["input"])[:80]) from error
    _check_options(record, item.options or (), fixed=item.fixed_order)
    return item


def _check_options(record: Record, options: tuple[str, ...], *, fixed: bool) -> None:
    """Raise RecordError if options look the same or empty, or carry letters of their own although they may change places."""
    appearances, labels = [appearance(option) for option in options], [_own_label(option) for option in options]
    if len(set(appearances)) < len(set(options)) or (not all(appearances) and all(map(str.strip, options))):
        raise _refused(
            record, "has options that look the same or empty", "options with a difference to be seen", repr(options)[:80]
        )
    if not fixed and len(labels) > 1 and any(set(labels) == set(sequence[: len(labels)]) for sequence in LABELS):
        step = "remove them (gold_indices stay the same), or set fixed_order to true to show them unchanged and never moved"
        expected = "options without them: the prompt puts a letter before each"
        raise _refused(record, "has options with letters or numbers of their own", expected, repr(options)[:80], step)


def _own_label(option: str) -> str:
    match = LABEL.match(option)
    return normalize("NFKC", "".join(filter(None, match.groups()))).upper() if match else ""


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


def _refused(record: Record, what: str, expected: str, got: str, next_step: str = CORRECT) -> RecordError:
    return RecordError(
        f"the record {what}",
        where=f"{record.file}, row {record.row} (0-based)",
        expected=expected,
        got=got,
        next_step=POSITIONS if "gold_indices" in what else next_step,
    )


def local_dataset(name: str, title: str, source: LocalFile) -> DatasetSpec:
    """Describe a user's own file in item format as a catalogue entry would; raise UsageError if its suffix names no format."""
    if format_of_suffix(source) is None:
        raise UsageError(
            "the format of the file is unknown",
            where=str(source.path),
            expected=f"a name that ends in one of {', '.join(f'.{suffix}' for suffix in RECORD_FORMATS)}",
            got=source.path.suffix or "no suffix",
            next_step="rename the file so that it ends in its format",
        )
    if source.path.is_file():
        source = source.model_copy(update={"sha256": source.sha256 or hash_file(source.path)})
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
    """Return the entry with files of the user's folder in place of its own, or of its alternative's, whatever they hold.

    They lie there as in their repository or archive, or all in one folder where their names differ.
    Raise SourceMissingError if one is absent, or a Git LFS pointer.
    """
    absent: list[str] = []
    for source in sources(spec):
        if source.record_format == "folder" and folder.is_dir():
            return replace(source, files=(LocalFile(path=folder, sha256=hash_file(folder)),))
        pinned = [file for file in source.files if isinstance(file, PinnedFile)]
        names = [file.member or file.path for file in pinned]
        alone = [PurePath(name).name for name in names]
        short = {name for name in alone if alone.count(name) == 1 and (folder / name).is_file()}
        paths = [folder / (last if last in short else name) for name, last in zip(names, alone, strict=True)]
        lacking = [name for name, path in zip(names, paths, strict=True) if not path.is_file()]
        if pinned and not lacking:
            return _of_copies(source, tuple(map(_own_copy, pinned, paths)))
        absent = min(absent or lacking, lacking, key=len)
    lack = f"which lacks {'them' if absent[1:] else 'it'}" if folder.is_dir() else "which is not a folder"
    raise SourceMissingError(
        f"{spec.id} cannot be read from this folder",
        where=f"folders.{spec.id}",
        expected=", ".join(shortened(absent)) or "a dataset whose files are public",
        got=f"{folder}, {lack}" if absent else f"{spec.id}, whose files are here",
        next_step=f"moodflow datasets show {spec.id} lists the files; correct the path, or remove it",
    )


def _of_copies(spec: DatasetSpec, copies: tuple[OwnCopy, ...]) -> DatasetSpec:
    """Return the entry with these files; where no hash tells whether they are its own, the number of their records may."""
    own = replace(spec, files=copies, alternative=None)
    if all(copy.as_pinned for copy in copies):
        return own
    own = replace(own, expected_rows=None, broken_rows=0)
    if spec.expected_rows is None or any(copy.as_pinned is False for copy in copies):
        return own
    rows = len(read_dataset(own, [copy.path for copy in copies]))
    if rows == spec.expected_rows:
        return replace(own, expected_rows=rows)
    told = f"{counted(rows, 'record')} in place of {spec.expected_rows}"
    return replace(own, files=tuple(copy.model_copy(update={"rows": told}) for copy in copies))


def _own_copy(file: PinnedFile, path: Path) -> OwnCopy:
    if read_pointer(path) is not None:
        raise pointer_in_place(file, str(path))
    ((kind, pinned),) = pinned_hashes(file).items()
    # That of an archive says nothing of its member.
    same = hash_file(path, kind) == pinned if pinned and not file.member else None
    return OwnCopy(path=path, sha256=hash_file(path), of=file, as_pinned=same)
