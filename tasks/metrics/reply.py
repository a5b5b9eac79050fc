"""Clean a reply of mark-up and typographic variants, and mask the texts of options in it.

An option may look like anything: "M: Why? I'd say no.", "(i) and (ii) only", "- 0.5". Where a reply holds an option's text word
by word, one private character is put in its place before letters, marks and statements are looked for.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from tasks.solvers.state import says_something

WORD = "A-Za-z0-9À-ɏ"
"""Characters of words that are written with gaps between them."""

_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "「": '"', "」": '"', "『": '"', "』": '"', "−": "-"})

_MARK_UP: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>"), ""),  # tokens of chat templates
    (re.compile(r"^```\w*[ \t]*$", re.MULTILINE), ""),
    (re.compile(r"</?(?:b|strong|i|em|u|br|p|span|div)\s*/?>"), ""),
    (re.compile(r"\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\$?\\boxed\{\s*([^{}]*?)\s*\}\$?"), r"<answer>\1</answer>"),
    (re.compile(r"\$\s*([A-Za-z]{1,2})\s*\$"), r"\1"),
    (re.compile(r"\*{2,}"), ""),
    (re.compile(r"(`{1,3}|(?<!\w)(?:\*|_{1,3}))(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"^[ \t]*(?:#{1,6}|[-*•+>])[ \t]+", re.MULTILINE), ""),
    (re.compile(r"""[(\[{<"'【〈《]\s*([A-Za-z]{1,2})(?!'\w)\s*[)\]}>"'】〉》]"""), r" \1)"),
)
"""Taken away in this order; the last one turns a wrapped letter, "(B)" or "【B】", into " B)"."""

_UNFINISHED = re.compile(r"\n\s*[A-Z]{1,2}\s*[.):、]?\s*$")
_KEPT_BEFORE_DIGITS = frozenset(".,:/-")


def level_text(text: str) -> str:
    """Return the text with full-width forms and other variants as ordinary characters (NFKC), and straight quotation marks."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_QUOTES)


def clean_reply(text: str) -> str:
    """Return a levelled reply without mark-up and without white space around its lines."""
    for pattern, replacement in _MARK_UP:
        text = pattern.sub(replacement, text)
    return "\n".join(line.strip() for line in text.splitlines()).strip()


def drop_unfinished(reply: str) -> str:
    """Return a reply that was cut off, without a last line that had only come as far as its letter: it began another option."""
    return _UNFINISHED.sub("", reply)


def plain_text(text: str) -> str:
    """Make case, width and runs of white space equal; keep punctuation."""
    return " ".join(level_text(text).casefold().split())


def fold_text(text: str) -> str:
    """Do as `plain_text` without white space and punctuation, except signs of numbers ("-5", "3.5") and symbols ("+", "<")."""
    plain = plain_text(text)
    return "".join(character for place, character in enumerate(plain) if _is_content(plain, place))


def _is_content(text: str, place: int) -> bool:
    character = text[place]
    if character == "%" or unicodedata.category(character)[0] in "LNMS":
        return character != "`"
    return character in _KEPT_BEFORE_DIGITS and text[place + 1 : place + 2].isdigit()


def match_text(
    text: str, options: Sequence[str], forms: Sequence[Callable[[str], Sequence[str]]] = (level_text, plain_text, fold_text)
) -> int | None:
    """Return the index of the one option that `text` is in the first of these forms in which it is just one, or null.

    Case and punctuation count only where leaving them out would make two options the same.
    """
    for normalise in forms:
        wanted = normalise(text)
        found = [index for index, option in enumerate(options) if wanted and normalise(option) == wanted]
        if len(found) == 1:
            return found[0]
    return None


FIRST = 0xE000
TOKEN = re.compile("[\ue000-\uf8ff]")
SHORTEST, SHORTEST_WORD = 2, 4
"""Characters; single characters, short words ("no", "joy") and small numbers may be letters, prose or numbering and stay."""

_EDGES = " \"'.。!！?？"
_ARTICLE = re.compile(r"^\W*(?:a|an|the)\s+(?=[\ue000-\uf8ff])", re.IGNORECASE)


def mask_options(reply: str, options: Sequence[str]) -> str:
    """Return the reply with every option's text replaced by one character of Unicode's private area, longest options first.

    Case and the width of white space do not matter, unless two options differ in nothing else. Quotation marks and full stops
    around the text may be there or not.
    """
    text = TOKEN.sub("", level_text(reply))
    if len(text) < SHORTEST:
        return text  # no option that is looked for is as short
    folded = text.casefold()
    cores = _cores(options)
    for index in sorted(range(len(options)), key=lambda index: -len(cores[index])):
        if is_long(cores[index]) and cores[index].split()[0].casefold() in folded:
            text = _pattern(cores[index], cores).sub(chr(FIRST + index), text)
    return text


def masked_option(text: str) -> int | None:
    """Return index of the option that a piece of masked text consists of; null if it says anything else, or several options."""
    tokens = set(TOKEN.findall(text))
    rest = TOKEN.sub(" ", _ARTICLE.sub("", text))
    return ord(tokens.pop()) - FIRST if len(tokens) == 1 and not says_something(rest) else None


def drop_texts(text: str, labels: Sequence[str], options: Sequence[str]) -> tuple[str, int]:
    """Return the masked text with letters alone where a letter and its own option stand side by side, and how often that was.

    "A. first thing and C (third thing)" becomes "A and C".
    """
    total = 0
    for index, (label, option) in enumerate(zip(labels, options, strict=True)):
        content = f"(?:{chr(FIRST + index)}|(?i:{re.escape(level_text(option).strip())})(?![{WORD}]))"
        beside = rf"(?<![{WORD}]){label}(?:\s*[.):、(\-–\"'])*\s*{content}(?:[^\S\n]*[.。!?\"'])*\)?"
        text, times = re.subn(beside, label, text)
        total += times
    return text, total


def _cores(options: Sequence[str]) -> list[str]:
    """Return the options, each without quotation marks and full stops around it if that leaves it different from the others."""
    levelled = [level_text(option) for option in options]
    bare = [text.strip(_EDGES) for text in levelled]
    times = Counter(core.casefold() for core in bare)
    return [core if times[core.casefold()] == 1 else text.strip() for core, text in zip(bare, levelled, strict=True)]


def is_long(core: str) -> bool:
    """Return whether a text is long enough to be an option's wherever it stands."""
    is_word = core.isascii() and core.isalpha()
    return len(core) >= (SHORTEST_WORD if is_word else SHORTEST) and not (core.isdigit() and len(core) <= SHORTEST)


def _pattern(core: str, cores: Sequence[str]) -> re.Pattern[str]:
    space = {False: r"[^\S\n]+", True: r"\s+"}
    body = "".join(space["\n" in part] if part.isspace() else re.escape(part) for part in re.split(r"(\s+)", core))
    before = rf"(?<![{WORD}])" if re.match(f"[{WORD}]", core) else ""
    after = rf"(?![{WORD}])" if re.match(f"[{WORD}]", core[-1]) else ""
    alike = sum(other.casefold() == core.casefold() for other in cores)
    return re.compile(before + body + after, re.IGNORECASE if alike == 1 else 0)
