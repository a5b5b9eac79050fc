"""Find option letters inside a reply: what counts as one, and how several are strung together."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from schemas.item import option_letters
from tasks.metrics.option_parts import PlaceInOption, opened_by, options_with
from tasks.metrics.reply import FIRST, TOKEN, WORD, is_long, level_text, masked_option, match_text

MAX_SINGLE = 26
"""Up to this many options every label is one letter, and letters may be written without a gap ("AC")."""

_LABEL = re.compile(rf"(?<![{WORD}])[A-Za-z](?![{WORD}])(?!'\w)")
_WIDE_LABEL = re.compile(rf"(?<![{WORD}])(?:[A-Z]{{1,2}}|[a-z]{{1,2}})(?![{WORD}])(?!'\w)")
_PARTICLES = (
    r"项|选项|选择|吧|都|而(?=不|非)|了|因为|或|和|与|及|以及|跟|然后|再|接|[最更](?!不)|比|符合|正确|对(?!应)|是(?=因|正确|对|最"
    r"|答案|合适|符合)"
)
"""Chinese that may follow a letter without making it a word, as it would in "B超". A masked option may follow too."""

_AFTER_ARTICLE = re.compile(
    r"\s*(?:$|[\n.,:;!?)\]}\"'。、(/&+=|<>→]|[–—]|-+>)|\s+-|-(?=[A-Z](?![a-z]))|\s+(?:because|since|as|for|here|rather|instead"
    r"|over|is|are|was|and|or|then|before|followed|but)\b"
    rf"|[\ue000-\uf8ff]|\s*(?={_PARTICLES})"
)
_AFTER_SMALL = re.compile(rf"\s*(?:$|[\n.,:;!?)。、<>→])|\s+(?:because|since|and)\b|\s*(?={_PARTICLES})")
_AFTER_CAPITAL = re.compile(rf"(?!-[a-z]|\+\+|#|[\u3400-\u9fff])|(?={_PARTICLES})")
_MARK = re.compile(r"(?:^|(?<=[\s,;、。:\"(]))([A-Z]{1,2})\s*(?:[.):]|、(?!\s?[A-Z](?![A-Za-z])))(?!\w\.)\s*(?=\S)")


@dataclass(frozen=True)
class LabelRefusal:
    """A reply that is not read, and why."""

    reason: str


DISAGREE = LabelRefusal("letter and text beside it are different options")

Indices = tuple[int, ...]
Reading = Indices | LabelRefusal | None
"""What a form makes of a reply: option indices, a reason not to read it, or null if the form does not apply."""


@dataclass(frozen=True)
class Label:
    """One letter found in a text: its upper-case name and where it ends."""

    name: str
    end: int
    small: bool


@dataclass(frozen=True)
class Choices:
    """The options of one item, as shown."""

    options: tuple[str, ...]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Letters of the options in the order shown."""
        return option_letters(len(self.options))

    @property
    def wide(self) -> bool:
        """Whether some labels have two letters."""
        return len(self.options) > MAX_SINGLE

    def index(self, name: str) -> int | None:
        """Return the index of the option with this letter, null if there is none."""
        return self.labels.index(name) if name in self.labels else None

    def read(self, name: str) -> Indices | LabelRefusal:
        """Return the option with this letter, or the refusal that there is none."""
        index = self.index(name)
        return LabelRefusal(f"{name} is not an option") if index is None else (index,)

    @cached_property
    def reach(self) -> int:
        """Characters that can hold an option's text, its letter and some wrapping; nothing longer is compared with options."""
        return 2 * max(len(option) for option in self.options) + 40

    def match(self, text: str) -> int | None:
        """Return the index of the option whose text this is; `text` comes from a masked reply."""
        masked = TOKEN.search(text) is not None
        if not masked and len(text) > self.reach:
            return None
        index = masked_option(text) if masked else match_text(text, self.options)
        asks = index is not None and text.count("?") > level_text(self.options[index]).count("?")
        return None if asks else index

    def by_head(self, text: str) -> int | None:
        """Return the index of the option that says this text before a colon: "True" of "True: the premises ..."."""
        heads = tuple(option.partition(":")[0] for option in self.options if ":" in option)
        return match_text(text, heads) if len(heads) == len(self.options) and all(map(is_long, heads)) else None

    def holding(self, text: str) -> Mapping[int, PlaceInOption]:
        """Return the options that hold this text of a masked reply, see `options_with`."""
        return options_with(self.unmask(text), self.options) if len(text) <= self.reach else {}

    def agrees(self, index: int | None, text: str, *, marked: bool = True) -> bool | None:
        """Return whether a text beside the letter of an option is its text or a part of it; null if it is no option's.

        A part counts only behind a mark ("B. correct"): without one it goes on about the letter ("B is correct").
        """
        whole = self.match(text)
        if whole is not None:
            return whole == index
        if not marked:
            return None
        opened = opened_by(self.unmask(text), self.options)
        held = self.holding(text)
        if index is not None and index in held and index not in opened:
            return True if held[index].is_part else None
        return index in opened if opened or any(part.is_part for part in held.values()) else None

    def unmask(self, text: str) -> str:
        """Return a text of a masked reply with the options' own texts."""
        return TOKEN.sub(lambda token: self.options[ord(token.group()) - FIRST], text)


def label_at(text: str, start: int, choices: Choices) -> Label | None:
    """Return the letter that stands at `start`, if what follows does not make it a word of its own.

    "A" and "I" are words too, so they need a clear end; so do small letters.
    """
    match = (_WIDE_LABEL if choices.wide else _LABEL).match(text, start)
    if match is None:
        return None
    name, small = match.group().upper(), match.group().islower()
    if len(name) > 1 and choices.index(name) is None:
        return None
    follow = _AFTER_SMALL if small else _AFTER_ARTICLE if name in ("A", "I") else _AFTER_CAPITAL
    return Label(name, match.end(), small) if follow.match(text, match.end()) else None


def marked_labels(text: str) -> list[str]:
    """Return letters that introduce something, as in "A. ..., B) ...", in order."""
    return [match.group(1) for match in _MARK.finditer(text)]


SequenceKind = Literal["set", "order"]

_THEN = r"(?:(?:and|then|next|finally|lastly|after that|followed by|before|然后|接着|接下来|再|其次|之后|最后|随后)[,:\s]*)+"
_SEPARATORS = {
    "set": re.compile(
        r"\s*[.)]?\s*(?:[,、;/&+|]\s*(?:(?:and\b|&|和|与|以及)\s*)?|\band\b\s*|(?:以及|和|与|及|跟)\s*)", re.IGNORECASE
    ),
    "order": re.compile(rf"\s*[.)]?\s*(?:(?:[,、;/|>→]|-+>|=>|[-–—])\s*(?:{_THEN})?|{_THEN})\s*", re.IGNORECASE),
}
_HEDGE = re.compile(
    r"[\s.,()/–—-]*+(?:(?:or|and/or|maybe|perhaps|possibly|alternatively|or\s+else)\b|也?可能|或|还是|也许)|[\s.,]*+(?:but|and"
    r"|(?:al)?though(?!\s+\S+\s+is\s+also\s+(?:plausible|tempting|possible|reasonable)))\s+(?:also\s+)?(?:option\s+)?(?:[A-Z]"
    r"|[\ue000-\uf8ff])\)?\s+(?:is\s+also|also|could|might|may|is\s+as)\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:options?|choices?|letters?|选项)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"\(?(\d{1,2})\s*[.):、]\s*")
_RUN = re.compile(rf"(?<![{WORD}])[A-Z]{{2,26}}(?![{WORD}])")


@dataclass(frozen=True)
class Sequence:
    """Letters strung together: their names in order, where the string ends, and the numbers written before them."""

    names: tuple[str, ...]
    end: int
    numbers: tuple[int, ...] = ()

    def read(self, choices: Choices, kind: SequenceKind) -> Indices | LabelRefusal:
        """Return the options named, those of a set sorted, or why they are not read."""
        if outside := [name for name in self.names if choices.index(name) is None]:
            return LabelRefusal(f"{outside[0]} is not an option")
        times = Counter(self.names)
        if repeated := [name for name in times if times[name] > 1]:
            return LabelRefusal(f"names {repeated[0]} more than once")
        if self.numbers and self.numbers != tuple(range(1, len(self.names) + 1)):
            return LabelRefusal("numbered, but not from 1 upwards")
        indices = [choices.labels.index(name) for name in self.names]
        return tuple(sorted(indices) if kind == "set" else indices)


def letter_run(text: str, start: int, choices: Choices) -> Sequence | None:
    """Return capital letters without a gap, such as "AC": only where every label is one letter and each of them is an option."""
    match = _RUN.match(text, start)
    if match is None or choices.wide or set(match.group()) - set(choices.labels):
        return None
    return Sequence(tuple(match.group()), match.end())


def sequence_at(text: str, start: int, choices: Choices, kind: SequenceKind) -> Sequence | None:
    """Return the letters strung together from `start` on; null if none stands there.

    A string that goes on with "or" is no answer; the caller sees this from `hedged`.
    """
    names: list[str] = []
    numbers: list[int] = []
    position = start
    end = start
    while True:
        if prefix := _PREFIX.match(text, position):
            position = prefix.end()
        if kind == "order" and (number := _NUMBER.match(text, position)):
            numbers.append(int(number.group(1)))
            position = number.end()
        label = label_at(text, position, choices)
        if label is None:
            break
        names.append(label.name)
        end = label.end
        separator = _SEPARATORS[kind].match(text, end)
        if separator is None or separator.end() == end:
            break
        position = separator.end()
    if not names:
        return letter_run(text, start, choices)
    return Sequence(tuple(names), end, tuple(numbers[: len(names)]))


def hedged(text: str, end: int) -> bool:
    """Return whether the letter that ends at `end` is followed by an alternative: "A or C"."""
    return _HEDGE.match(text, end) is not None
