"""Read the forms in which models give one option, in the order they are tried."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from tasks.metrics.claims import Claim, Target, settle, stated_claims
from tasks.metrics.labels import DISAGREE, Choices, Label, LabelRefusal, Reading, hedged, label_at, marked_labels, sequence_at
from tasks.metrics.option_parts import NEGATION, option_by_part
from tasks.metrics.reply import FIRST, TOKEN
from tasks.metrics.stances import ANY_DOUBT, corrections, is_meant, is_taken_back

LEFT_BESIDE = 300
"""Characters beside a letter that are compared with options."""

MOST_PIECES = 12
"""Beginnings of a line that are compared with options."""

MOST_LINES = 64
"""Last lines of a reply among which letters that stand alone are looked for."""

NEARBY = 400
"""Characters behind a letter within which another option's letter shows that a list begins."""

SEVERAL = LabelRefusal("names more than one option")

_LABEL_PREFIX = re.compile(r"(?:(?:the\s+)?(?:option|choice|letter|answer)|选项|选择|选|答案|答)\s*[:#]?\s*", re.IGNORECASE)
_LABEL_SUFFIX = re.compile(r"\s*(?:选项|项|选择)?\s*(?:[.)、。:!,]|吧)*\s*$")
_SEPARATOR = re.compile(r"\s*[.):、,\-–—]*\s*")
_PIECE_END = re.compile(r"[.!?;。]|,|\s[-–—]\s|\s*\(|\s+because\b|\s+since\b|因为|:")
_OPENING = re.compile(
    r"\s*(?:[.):、。!;](?!\w\.)|,|\s[-–—]\s|$|\n|\s+(?:because|since|as|and\s+not|\(?(?:rather\s+than|instead\s+of)|over"
    r"|i\s+(?:think|guess|believe)|for\s+sure)\b|\s*而[不非]|,?\s*(?:因为|是因为))",
    re.MULTILINE,
)
_TEXT_THEN_LETTER = re.compile(r"(?<![\s,:-])[\s,:-]+([A-Z]{1,2})\)$")
_OTHERS = re.compile(r"\b(?:others?|rest|remaining|alternatives?)\b|其他|其它|其余|另外", re.IGNORECASE)
_BUT = re.compile(r"[^.!?。\n]{0,80}?(?:\bbut\b|\bhowever\b|\bthough\b|\byet\b|但|然而|不过)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?。\n]+")
_EVERYDAY = frozenset({"yes", "no", "none"})

_ADJECTIVE = (
    r"(?:(?:my\s+)?(?:answer|choice|pick)|correct|right|best|true|better|most\s+(?:likely|plausible|reasonable)"
    r"|(?:most\s+)?(?:appropriate|accurate|suitable|fitting)|only\s+(?:option|answer|choice|one)|one(?=\W*$)|one\s+(?:that"
    r"|which)\s+(?:best\s+)?(?:fits|matches|works|applies))"
)
_TAILS: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"(?:^|(?<=[\n.,;:!?。(])\s*|\b(?i:option|choice|answer|that|think|believe|say|so|because|but|only|thus|hence|therefore"
        r"|while)\s+)([A-Z]{1,2})(?:\)?\s+|[.):]\s*(?P<text>[\ue000-\uf8ff])[.。]?\s*)"
        rf"(?i:it\s+is(?=\W*$)|best\s+\w+s\b|\w+s\s+(?:\w+\s+)?best\b|makes\s+(?:the\s+most|more)\s+sense|fits(?=\W*$)|(?:is|was"
        rf"|fits|seems|looks|appears|sounds|would\s+be|must\s+be|should\s+be)\s+(?:to\s+be\s+)?(?:(?:clearly|probably|definitely"
        rf"|the|also)\s+)*{_ADJECTIVE}\b)"
    ),
    re.compile(
        r"(?:^|(?<=[\n.,;:!?。(])\s*|选项|认为|觉得|因此|所以|但是?|只有)\s*([A-Z]{1,2})\)?\s*(?:选项|项)?\s*(?:才)?(?:是|最为?"
        r"|更为?|比较)?\s*(?:正确|对的|符合|合适|恰当|准确|贴切|正解|答案)"
    ),
)
"""Wordings that follow the letter: "B is the best answer", "B最合适"."""


def read_bare_letter(text: str, choices: Choices) -> Reading:
    """Read a reply that is one letter: "B", "(b).", "Option B", "B选项".

    Where options are letters themselves, a capital means the option it stands for, which is what the prompt asks for.
    """
    prefix = _LABEL_PREFIX.match(text)
    label = label_at(text, prefix.end() if prefix else 0, choices)
    if label is None or not _LABEL_SUFFIX.match(text, label.end):
        return None
    same = choices.options.index(text) if text in choices.options else None
    if same is None or same == choices.index(label.name):
        return choices.read(label.name)
    if choices.index(label.name) is None:
        return (same,)
    return LabelRefusal("is the letter of one option and the text of another") if label.small else choices.read(label.name)


def read_letter_and_text(text: str, choices: Choices) -> Reading:
    """Read a reply that is a letter and an option's text, or a part of it: "B. sadness", "C愤怒"."""
    prefix = _LABEL_PREFIX.match(text)
    label = label_at(text, prefix.end() if prefix else 0, choices)
    index = choices.index(label.name) if label else None
    agrees = _agrees(text[label.end :], index, choices) if label else None
    if agrees is None:
        return None
    return (index,) if agrees and index is not None else DISAGREE


def read_whole_text(text: str, choices: Choices) -> Reading:
    """Read a reply that is the text of one option."""
    index = choices.match(text)
    return None if index is None else (index,)


def read_claims(text: str, choices: Choices) -> Reading:
    """Read answers that are stated: "The answer is B.", "所以选B", "B. text", a last line "B"."""
    return settle([*stated_claims(text, choices, read_target), *_tails(text, choices), *_edges(text, choices)], text)


def read_opening_text(text: str, choices: Choices) -> Reading:
    """Read a reply that begins or ends with the text of one option: "Yes, because ...", a last line "joy"."""
    lines = [line for line in text.splitlines() if line]
    if corrections(text):
        return None
    edges = [*(piece for piece in _pieces(lines[0]) if not is_taken_back(lines[0], len(piece))), lines[-1]]
    indices = {index for piece in edges if (index := choices.match(piece)) is not None}
    if not indices or ANY_DOUBT.search(lines[-2] if len(lines) > 1 and lines[-2].endswith(":") else ""):
        return None
    indices |= {index for line in lines for piece in _clauses(line) if (index := choices.match(piece)) is not None}
    return (indices.pop(),) if len(indices) == 1 else SEVERAL


def read_only_text(text: str, choices: Choices) -> Reading:
    """Read a sentence that names exactly one option and denies nothing: "She feels sadness here.".

    Not where an option is an everyday word or a single character, which sentences hold for other reasons ("No way to know").
    """
    stripped = [option.strip() for option in choices.options]
    if _SENTENCE_END.search(text.rstrip(".!。")) or any(
        option.casefold() in _EVERYDAY or len(option) == 1 for option in stripped
    ):
        return None
    indices = {choices.match(token) for token in TOKEN.findall(text)}
    rest = TOKEN.sub(" ", text).casefold()
    for index, option in enumerate(stripped):
        short = rf"(?<![^\W\u3400-\u9fff]){re.escape(option.casefold())}(?![^\W\u3400-\u9fff])"
        rest, times = re.subn(short, " ", rest)
        indices |= {index} if times else set()
    if not indices or NEGATION.search(rest) or ANY_DOUBT.search(rest):
        return None
    indices |= set(choices.holding(text))
    return SEVERAL if len(indices) > 1 else tuple(index for index in indices if index is not None)


def read_part(text: str, choices: Choices) -> Reading:
    """Read a reply that is a part of one option's text and of no other's: "literally" of "used literally"."""
    index = option_by_part(choices.unmask(text), choices.options) if len(text) <= choices.reach else None
    return None if index is None else (index,)


def read_target(text: str, start: int, choices: Choices) -> Target | None:
    """Read the one option named at `start`, by letter or by its text; refused where the text beside a letter is another one's."""
    label = label_at(text, start, choices)
    if label is None:
        return _text_target(text, start, choices)
    sequence = sequence_at(text, start, choices, "set")
    if hedged(text, label.end) or (sequence is not None and len(set(sequence.names)) > 1):
        return Target(SEVERAL, label.end)
    if _lists_others(text, start, label, choices):
        return None
    separator = _SEPARATOR.match(text, label.end)
    end = separator.end() if separator else label.end
    rest = text[end : end + min(choices.reach, LEFT_BESIDE)].split("\n", 1)[0]
    reading = choices.read(label.name)
    if isinstance(reading, LabelRefusal):
        return Target(reading, label.end)
    if (
        "\n" not in text[label.end : end]
        and (other := label_at(rest, 0, choices))
        and other.name != label.name
        and _LABEL_SUFFIX.match(rest, other.end)
    ):
        return Target(SEVERAL, end)
    beside = {index for piece in _pieces(rest) if (index := choices.match(piece)) is not None}
    differs = reading[0] not in beside if beside else _agrees(text[label.end : end] + rest, reading[0], choices) is False
    return Target(DISAGREE, end) if differs else Target(reading, _end_of_own(text, label.end, end, reading[0], choices))


def _end_of_own(text: str, start: int, end: int, index: int, choices: Choices) -> int:
    """Return where the option's own text or a part of it ends that follows its letter and what separates them; else `start`."""
    rest = text[end : end + LEFT_BESIDE].split("\n", 1)[0]
    whole = re.match(rf"{chr(FIRST + index)}|{re.escape(choices.options[index][:LEFT_BESIDE])}\b", rest, re.IGNORECASE)
    parts = (len(piece) for piece in _pieces(rest) if _agrees(text[start:end] + piece, index, choices))
    length = whole.end() if whole else next(parts, 0)
    return end + length if length else start


def _agrees(after: str, index: int | None, choices: Choices) -> bool | None:
    """Return whether what follows a letter is its own option's text or another's, see `Choices.agrees`."""
    line = after.lstrip()
    separator = _SEPARATOR.match(line)
    end = separator.end() if separator else 0
    return choices.agrees(index, line[end:], marked=end > 0 or line.startswith("("))


def _text_target(text: str, start: int, choices: Choices) -> Target | None:
    line = text[start : start + choices.reach].split("\n", 1)[0]
    opening = len(line) - len(line.lstrip(' "'))
    for piece in _pieces(line.strip(' "')):
        end = start + opening + len(piece)
        index = choices.match(piece)
        if (index := choices.by_head(piece) if index is None else index) is not None:
            return Target((index,), end)
        if match := _TEXT_THEN_LETTER.search(piece):
            index, lettered = choices.match(piece[: match.start()]), choices.index(match.group(1))
            if index is not None:
                return Target((index,) if index == lettered else DISAGREE, end)
    return None


def _pieces(line: str) -> Iterator[str]:
    """Return the line, then ever shorter beginnings of it that end where a clause does."""
    line = line.split("</answer>", 1)[0]
    yield line
    for end in reversed([match.start() for match in islice(_PIECE_END.finditer(line), MOST_PIECES)]):
        yield line[:end]


def _clauses(line: str) -> list[str]:
    return [line, *re.split(r"[.!?。;]+", line), *re.split(r"[.!?。;,、]+", line)]


def _lists_others(text: str, start: int, label: Label, choices: Choices) -> bool:
    """Return whether the letter at `start` begins a list of options, on one line or on several."""
    lines = text[start : start + NEARBY].split("\n")
    if start and text[start - 1] == "\n":
        return _begins_list(lines, replace(label, end=label.end - start), choices) or bool(
            set(marked_labels(lines[0])) - {label.name}
        )
    others = (
        {*marked_labels(lines[0]), *marked_labels(lines[1])[:1], *_bare(lines[1])} if len(lines) > 1 else marked_labels(lines[0])
    )
    return bool(set(others) - {label.name})


def _bare(line: str) -> list[str]:
    return [line.rstrip(".)")] if re.fullmatch(r"[A-Z]{1,2}[.)]?", line) else []


def _tails(text: str, choices: Choices) -> Iterator[Claim]:
    for match in (match for pattern in _TAILS for match in pattern.finditer(text)):
        index = choices.index(match.group(1))
        if index is not None and match.groupdict().get("text") in {None, chr(FIRST + index)}:
            start, end = match.start(1), match.end()
            meant = is_meant(text, start, start, end) and not _BUT.match(text, end) and not is_taken_back(text, match.end(1))
            yield Claim(start, (index,), meant=meant)


def _edges(text: str, choices: Choices) -> Iterator[Claim]:
    """Yield the claim of a reply that opens with its letter ("B. ...") or closes with a line that holds nothing else."""
    prefix = _LABEL_PREFIX.match(text)
    start = prefix.end() if prefix else 0
    label = label_at(text, start, choices)
    lines = text.splitlines()
    sequence = sequence_at(text, start, choices, "set")
    if label is not None and (hedged(text, label.end) or (sequence is not None and len(set(sequence.names)) > 1)):
        yield Claim(start, SEVERAL, meant=sequence is None or not is_taken_back(text, sequence.end))
    elif label is not None and _OPENING.match(text, label.end) and not _begins_list(lines, label, choices):
        target = read_target(text, start, choices)
        if target is not None:
            yield Claim(start, target.reading, closing=True, meant=not is_taken_back(text, target.end))
    if len(lines) > 1 and not _marks(lines[-2]):
        claims = _line_claims(text, lines, choices)
        yield from claims if claims and claims[0].start == len(text) - len(lines[-1]) else ()


def _line_claims(text: str, lines: list[str], choices: Choices) -> list[Claim]:
    """Return the claims of lines that hold a letter and nothing else, the last first; of that also with its text.

    Not with its text where other letters begin lines, too.
    """
    claims, start = list[Claim](), len(text) + 1
    for line in reversed(lines[-MOST_LINES:]):
        reading = read_bare_letter(line, choices)
        if reading is None and start > len(text) and not any(_marks(other) for other in lines[:-1]):
            reading = read_letter_and_text(line, choices)
        start -= len(line) + 1
        if reading is not None:
            meant = is_meant(text, start, start, start + len(line))
            claims.append(Claim(start, reading, closing=not _LABEL_PREFIX.match(line), meant=meant))
    return claims


def _begins_list(lines: list[str], label: Label, choices: Choices) -> bool:
    """Return whether other letters begin lines too.

    A letter alone on a first line is an answer if a blank one follows; so is one with its text, unless the next letter comes.
    """
    others = [name for line in lines[1:] for name in _marks(line) if name != label.name]
    if len(lines) > 1 and not lines[1] and others:
        index = choices.index(label.name)
        if _bare(lines[0]):
            return False
        if _agrees(lines[0][label.end :], index, choices):
            return others[0] in choices.labels[(index or 0) + 1 :][:1] and not _OTHERS.search(lines[2])
    return bool(others)


def _marks(line: str) -> list[str]:
    return _bare(line) or (marked_labels(line)[:1] if re.match(r"[A-Z]{1,2}\s*[.):、]", line) else [])
