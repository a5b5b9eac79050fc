"""Answers given as a list, one option a line: as letter, as text or as both, numbered or not."""

import re
from dataclasses import dataclass

from tasks.metrics.labels import Choices, Indices, LabelRefusal, SequenceKind

ECHO = LabelRefusal("repeats the list of options")
DISAGREE = LabelRefusal("letter and text beside it are different options")
REMARK = LabelRefusal("what stands beside a letter is not its option's text")
UNEVEN = LabelRefusal("some letters have their text beside them and some have not")

_NUMBER = re.compile(r"^\(?(\d{1,2})\s*[.):、]\s*(?=\S)")
_ORDINAL = re.compile(
    r"^(?:first|second|third|fourth|fifth|sixth|then|next|finally|lastly|首先|其次|然后|接着|最后|第[一二三四五六七八九十])(?:ly)?\s*[:,]?\s*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"^(?:(?i:option)\s+|选项)?([A-Z]{1,2}|[a-z])(?:\s*[.):、]\s*|\s+[-–—]\s+|\s*$)(.*)$")


@dataclass(frozen=True)
class ListEntry:
    """One line of a list: the option it names, its number, and whether the option's text stands there."""

    index: int
    number: int | None
    with_text: bool


def read_lines(text: str, choices: Choices, kind: SequenceKind) -> list[Indices | LabelRefusal]:
    """Every list in a reply, in order of appearance; empty if there is none.

    Lines of prose end a list, blank lines do not. A line that begins with a letter but goes on with anything else than its own
    option makes the list unreadable ("A. wrong"); only a numbered order may carry remarks ("1. B - she starts there").
    """
    lists: list[list[ListEntry | LabelRefusal]] = [[]]
    for line in filter(None, text.splitlines()):
        entry = _read_line(line, choices, kind)
        if entry is not None:
            lists[-1].append(entry)
        elif lists[-1]:
            lists.append([])
    return [_read_list(entries, choices, kind) for entries in lists if entries]


def _read_line(line: str, choices: Choices, kind: SequenceKind) -> ListEntry | LabelRefusal | None:
    numbered = _NUMBER.match(line)
    number = int(numbered.group(1)) if numbered else None
    body = line[numbered.end() :] if numbered else line
    if kind == "order":
        body = _ORDINAL.sub("", body)
    if (index := choices.match(line if number is None else body)) is not None:
        return ListEntry(index, number, with_text=True)
    found = _LETTER.match(body)
    if found is None or (len(found.group(1)) > 1 and not choices.wide):
        return None
    return _read_lettered(found.group(1).upper(), found.group(2), number, choices, remarks=kind == "order" and number is not None)


def _read_lettered(name: str, rest: str, number: int | None, choices: Choices, *, remarks: bool) -> ListEntry | LabelRefusal:
    index, beside = choices.index(name), choices.match(rest)
    if index is None:
        return LabelRefusal(f"{name} is not an option")
    if beside is not None:
        return ListEntry(index, number, with_text=True) if beside == index else DISAGREE
    return ListEntry(index, number, with_text=remarks and bool(rest)) if remarks or not rest else REMARK


def _read_list(entries: list[ListEntry | LabelRefusal], choices: Choices, kind: SequenceKind) -> Indices | LabelRefusal:
    read = [entry for entry in entries if isinstance(entry, ListEntry)]
    refused = [entry for entry in entries if isinstance(entry, LabelRefusal)]
    if refused:
        return refused[0]
    numbers = [entry.number for entry in read if entry.number is not None]
    if numbers and numbers != list(range(1, len(read) + 1)):
        return LabelRefusal("numbered, but not from 1 upwards")
    if len({entry.with_text for entry in read}) > 1:
        return UNEVEN
    return checked_list(tuple(entry.index for entry in read), choices, kind, with_texts=read[0].with_text)


def checked_list(indices: Indices, choices: Choices, kind: SequenceKind, *, with_texts: bool) -> Indices | LabelRefusal:
    """Indices of a list as an answer: in order, or sorted for a set; refused where an option is named twice.

    All options with their texts just as they were shown are no choice of a set: weak models repeat the question that way.
    As an order they are the order shown.
    """
    if len(set(indices)) < len(indices):
        return LabelRefusal("names an option more than once")
    if kind == "order":
        return indices
    return ECHO if with_texts and indices == tuple(range(len(choices.options))) else tuple(sorted(indices))
