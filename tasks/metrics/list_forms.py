"""Read the forms in which models give several options, as a set or in order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.metrics.claims import Claim, Target, settle, stated_claims
from tasks.metrics.labels import (
    DISAGREE,
    Choices,
    Indices,
    LabelRefusal,
    Reading,
    Sequence,
    SequenceKind,
    hedged,
    letter_run,
    marked_labels,
    sequence_at,
)
from tasks.metrics.reply import TOKEN, drop_texts
from tasks.metrics.stances import ANY_DOUBT, DENIAL, is_meant, is_taken_back

ECHO = LabelRefusal("repeats the list of options")
REMARK = LabelRefusal("what stands beside a letter is not its option's text")
UNEVEN = LabelRefusal("some letters have their text beside them and some have not")

_NUMBER = re.compile(r"^\(?(\d{1,2})\s*[.):、]\s*(?=\S)")
_ORDINAL = re.compile(
    r"^(?:first|second|third|fourth|fifth|sixth|then|next|finally|lastly|首先|其次|然后|接着|最后"
    r"|第[一二三四五六七八九十])(?:ly)?\s*[:,]?\s*",
    re.IGNORECASE,
)
_LETTER = re.compile(r"^(?:(?i:option)\s+|选项)?([A-Z]{1,2}|[a-z])(?:\s*[.):、]\s*|\s+[-–—]\s+|\s*$)(.*)$")
_REASONED = re.compile(r"^[A-Z](?::|\s[-–—])\s*(?:\S+\s+\S+\s+\S|[^\W\d_A-Za-z]{5})")
"""A letter and a reason, which is no option's text."""

_INTRODUCES = re.compile(r"(?:\b(?i:answers?|correct|right|choose|select)\b|选|答案|正确)[^\n]{0,40}:$")
_REASON = re.compile(r"\s*(?:[:(–—]|\s-\s|\bbecause\b|\bsince\b|因为)", re.IGNORECASE)
_VERDICT = re.compile(
    r"\b(?:no|not|yes|wrong|incorrect|correct|right|true|false|fits?)\b|^\W*(?:first|second|third|fourth|last|\d+)\W*$|n't\b"
    r"|[不没错对否✗✓]",
    re.IGNORECASE,
)
"""What is said about an option in a look at all of them."""


@dataclass(frozen=True)
class ListEntry:
    """One line of a list: the option it names, its number, and whether the option's text stands there."""

    index: int
    number: int | None
    with_text: bool


def read_lines(text: str, choices: Choices, kind: SequenceKind) -> list[Indices | LabelRefusal]:
    """Return every list in a reply, in order of appearance; empty if there is none.

    Lines of prose end a list, blank lines do not. A line that begins with a letter but goes on with anything else than its own
    option makes the list unreadable ("A. wrong"); only a numbered order may carry remarks ("1. B - she starts there").
    """
    lists: list[list[ListEntry | LabelRefusal]] = [[]]
    held = list(filter(None, text.splitlines()))
    introduced = len(held) > 1 and all(map(_REASONED.match, held)) and not DENIAL.search(text)
    for line in held:
        entry = _read_line(line, choices, kind, introduced=introduced)
        if entry is not None:
            lists[-1].append(entry)
            continue
        introduced = _INTRODUCES.search(line) is not None and not ANY_DOUBT.search(line)
        lists += [[]] if lists[-1] else []
    return [_read_list(entries, choices, kind) for entries in lists if entries]


def _read_line(line: str, choices: Choices, kind: SequenceKind, *, introduced: bool) -> ListEntry | LabelRefusal | None:
    numbered = _NUMBER.match(line)
    number = int(numbered.group(1)) if numbered else None
    body = line[numbered.end() :] if numbered else line
    if kind == "order":
        body = _ORDINAL.sub("", body)
    if (index := choices.match(line if number is None else body)) is not None:
        return ListEntry(index, number, with_text=True)
    letter = _LETTER.match(body)
    if letter is None or (len(letter.group(1)) > 1 and not choices.wide):
        return None
    name, rest = letter.group(1).upper(), letter.group(2)
    index = choices.index(name)
    if index is None:
        return LabelRefusal(f"{name} is not an option")
    agrees = choices.agrees(index, rest)
    if agrees is None and kind == "set" and not _VERDICT.search(TOKEN.sub("", rest)):
        agrees = choices.agrees(index, _REASON.split(rest, maxsplit=1)[0]) or (introduced or None)
    if agrees is not None:
        return ListEntry(index, number, with_text=True) if agrees else DISAGREE
    remarks = kind == "order" and number is not None
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
    """Return indices of a list as an answer: in order, or sorted for a set; refused where an option is named twice.

    All options with their texts just as they were shown are no choice of a set: weak models repeat the question that way.
    As an order they are the order shown.
    """
    if len(set(indices)) < len(indices):
        return LabelRefusal("names an option more than once")
    if kind == "order":
        return indices
    return ECHO if with_texts and indices == tuple(range(len(choices.options))) else tuple(sorted(indices))


ALTERNATIVE = LabelRefusal("gives alternatives")
MORE = LabelRefusal("more letters follow the order")

_INTRO = re.compile(
    r"(?:(?:(?:both|only|the)\s+)?(?:options?|choices?|letters?|answers?|order)\b|both\b|only\b|first(?:ly)?\b|选项|应?选择?|答案"
    r"|首先|先|顺序)\s*[:,]?\s*",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\s*(?:first(?:ly)?|首先|先)[,:\s]*", re.IGNORECASE)
_DONE = re.compile(r"(?:\s|[.,!)。]|only|选项|项|吧|</answer>)*$")
_REMARK = re.compile(
    r"[.)]?\s*(?:\(|[–—]|\s-\s|,?\s*(?:because|since|(?:but\s+)?not)\b|,?\s*(?:因为|而?不是)|[.。]\s*\S)", re.IGNORECASE
)
_GAPS = re.compile(r"\s+(?=[A-Z]{1,2}(?:\s|[.)]|$))")
_LIST_LINE = re.compile(
    r"^(?:\(?\d{1,2}\s*[.):、]\s*\S|(?:option\s+|选项)?[A-Za-z]{1,2}\s*(?:[.):、–—]|-\s|$))", re.IGNORECASE | re.MULTILINE
)
_TAIL_START = re.compile(
    r"(?:^|(?<=[\n.;:!?。])\s*|\b(?i:options|choices|statements|both|that|think)\s+|选项|(?P<only>\b(?i:only)\s+"
    r"|只有))(?=[A-Z](?![A-Za-z0-9]))"
)
_TAIL = re.compile(
    r"\s*(?:(?:is|are)\s+(?:(?:both|all|the)\s+)*(?:correct|right|true|supported|answers?)\b|(?:(?:both|all)\s+)?(?:apply|applies"
    r"|fit|hold)\b|选?项?[都均全]?是?(?:正确|对的|符合))",
    re.IGNORECASE,
)
_OTHER_LETTER = re.compile(r"(?<![A-Za-z0-9])(?:[B-HJ-Z](?![A-Za-z0-9'])|A(?=[.,:;)]|\s*$))")
_NOT_OTHERS = re.compile(
    r"\s*[,(]?\s*(?:(?:but|and)\s+)?(?:not|rather\s+than|instead\s+of|而?不[是选])\s*(?:option\s+)?[A-Z](?:(?:\s*[,、]|\s+(?:and"
    r"|or|nor))\s*[A-Z])*+(?![A-Za-z'])\)?"
)
_SENTENCE = re.compile(r"[.。](?:\s|$)")
_MARK_END = re.compile(r"^\s*[.):、,\-–—]*\s*")
_BETWEEN_TEXTS = {
    "set": (r"\n+", r"\s*[;、]\s*", r"\s*[,、]\s*(?:and\s+)?|\s+and\s+|\s+&\s+", r"[,、]|以及|和|与"),
    "order": (r"\n+", r"\s*(?:>|→|-+>|=>)\s*", r"\s*[;、]\s*", r"\s*,\s*(?:(?:and|then)\s+)*"),
}


@dataclass(frozen=True)
class ListForms:
    """The forms of one kind of answer: a set of options, or options in order."""

    kind: SequenceKind

    def whole(self, text: str, choices: Choices) -> Reading:
        """Read a reply that is letters alone: "A, C", "AC", "B > A > D > C", "1. B" line by line."""
        flat = ", ".join(line.rstrip(" ,;") for line in text.splitlines() if line)
        intro = _INTRO.match(flat)
        flat = (flat[intro.end() :] if intro else flat).strip()
        if flat[:1] in tuple("[({<") and flat.rstrip(".")[-1:] in tuple("])}>"):
            flat = flat.rstrip(".")[1:-1].strip()
        for candidate in (flat, _GAPS.sub(", ", flat)):
            sequence = sequence_at(candidate, 0, choices, self.kind)
            if sequence is not None and _DONE.match(candidate, sequence.end):
                return self._read(candidate, 0, sequence, choices)
            if sequence is not None and hedged(candidate, sequence.end):
                return ALTERNATIVE
        return None

    def claims(self, text: str, choices: Choices) -> Reading:
        """Read answers that are stated: "The answers are A and C", "正确顺序是B、A、D、C", a last line "A, C"."""
        bare, dropped = drop_texts(text, choices.labels, choices.options)
        stated = stated_claims(bare, choices, self.target)
        reading = settle([*stated, *self._tails(bare, choices), *self._edges(bare, choices)], bare)
        everything = isinstance(reading, tuple) and len(reading) == len(choices.options)
        return ECHO if self.kind == "set" and everything and dropped >= len(choices.options) else reading

    def lines(self, text: str, choices: Choices) -> Reading:
        """Read one option a line, as letter, text or both, numbered or not, under an introduction or not."""
        return settle([Claim(len(text), reading) for reading in read_lines(text, choices, self.kind)], text)

    def texts(self, text: str, choices: Choices) -> Reading:
        """Read a reply that is option texts with something between them: "relief, gratitude"."""
        for pattern in _BETWEEN_TEXTS[self.kind]:
            pieces = [piece.strip() for piece in re.split(pattern, text) if piece.strip()]
            indices = tuple(index for piece in pieces if (index := choices.match(piece)) is not None)
            if indices and len(indices) == len(pieces):
                return checked_list(indices, choices, self.kind, with_texts=True)
        return None

    def with_texts(self, text: str, choices: Choices) -> Reading:
        """Read a reply that is letters, each with its option's text: "A (gratitude) and C (relief)"."""
        bare, dropped = drop_texts(text, choices.labels, choices.options)
        reading = self.whole(bare, choices) if dropped else None
        if reading is None or isinstance(reading, LabelRefusal):
            return reading
        return checked_list(reading, choices, self.kind, with_texts=True) if len(reading) == dropped else None

    def target(self, text: str, start: int, choices: Choices) -> Target | None:
        """Read the options strung together at `start`."""
        if first := _FIRST.match(text, start):
            start = first.end()
        wrapped = text[start : start + 1] in tuple("([{")
        sequence = sequence_at(text, start + wrapped, choices, self.kind)
        if sequence is None:
            return None
        reading = self._target(text, start + wrapped, sequence, choices)
        return None if reading is None else Target(reading, sequence.end + wrapped)

    def _target(self, text: str, start: int, sequence: Sequence, choices: Choices) -> Reading:
        if hedged(text, sequence.end):
            return ALTERNATIVE
        rest, _, below = text[sequence.end :].partition("\n")
        denied = _NOT_OTHERS.match(rest)
        rest = rest[denied.end() :] if denied else rest
        if self.kind == "order" and _OTHER_LETTER.search(rest):
            return MORE
        if len(sequence.names) > 1:
            return self._read(text, start, sequence, choices)
        begins_line = text[:start].endswith("\n")
        if (
            marked_labels(rest)
            or _LIST_LINE.match(below.lstrip("\n") if begins_line else below)
            or _OTHER_LETTER.search(_SENTENCE.split(rest, 1)[0])
        ):
            return None  # the beginning of a list, which has its own forms
        beside = _MARK_END.sub("", rest)
        agrees = choices.agrees(choices.index(sequence.names[0]), beside, marked=beside != rest.lstrip())
        return DISAGREE if agrees is False else sequence.read(choices, self.kind)

    def _read(self, text: str, start: int, sequence: Sequence, choices: Choices) -> Reading:
        gapless = len(sequence.names) > 1 and letter_run(text, start, choices) == sequence
        if self.kind == "order" and gapless and len(sequence.names) < len(choices.options):
            return LabelRefusal("letters without a gap do not name every option")
        return sequence.read(choices, self.kind)

    def _tails(self, text: str, choices: Choices) -> Iterator[Claim]:
        for match in _TAIL_START.finditer(text) if self.kind == "set" and _TAIL.search(text) else ():
            start, sequence = match.end(), sequence_at(text, match.end(), choices, "set")
            if sequence and (len(sequence.names) > 1 or match["only"]) and _TAIL.match(text, sequence.end):
                yield Claim(start, sequence.read(choices, "set"), meant=is_meant(text, start, start, sequence.end))

    def _edges(self, text: str, choices: Choices) -> Iterator[Claim]:
        """Yield letters that open with a remark behind them, or are alone on the first line (a blank one follows) or the last."""
        lines = text.splitlines()
        opening = sequence_at(text, 0, choices, self.kind)
        if opening and (_REMARK if len(opening.names) > 1 else _NOT_OTHERS).match(lines[0], opening.end):
            target = self.target(text, 0, choices)
            if target is not None:
                yield Claim(0, target.reading, closing=True, meant=not is_taken_back(text, target.end))
        edges = [(0, lines[0])] if len(lines) > 1 and not lines[1] else []
        edges += [(len(text) - len(lines[-1]), lines[-1])] if len(lines) > 1 and not _LIST_LINE.match(lines[-2]) else []
        for start, line in edges:
            reading = None if re.match(r"\(?\d", line) else self.whole(line, choices)
            if reading is not None:
                yield Claim(start, reading, closing=not _INTRO.match(line), meant=is_meant(text, start, start, start + len(line)))
