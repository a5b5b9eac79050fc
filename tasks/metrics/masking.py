"""Option texts in a reply, put out of the way of what reads prose.

An option may look like anything: "M: Why? I'd say no.", "(i) and (ii) only", "- 0.5". Where a reply holds an option's text word
by word, one private character is put in its place before letters, marks and statements are looked for.
"""

import re
from collections.abc import Sequence

from tasks.metrics.reply import WORD, has_words, level_text

FIRST = 0xE000
TOKEN = re.compile("[\ue000-\uf8ff]")
SHORTEST, SHORTEST_WORD = 2, 4
"""Characters; single characters, short words ("no", "joy") and small numbers may be letters, prose or numbering and stay."""

_EDGES = " \"'.。!！?？"
_ARTICLE = re.compile(r"^\W*(?:a|an|the)\s+(?=[\ue000-\uf8ff])", re.IGNORECASE)


def mask_options(reply: str, options: Sequence[str]) -> str:
    """The reply with every option's text replaced by one character of Unicode's private area, longest options first.

    Case and the width of white space do not matter, unless two options differ in nothing else. Quotation marks and full stops
    around the text may be there or not.
    """
    text = TOKEN.sub("", level_text(reply))
    folded = text.casefold()
    cores = [_core(option, options) for option in options]
    for index in sorted(range(len(options)), key=lambda index: -len(cores[index])):
        if _is_long(cores[index]) and cores[index].split()[0].casefold() in folded:
            text = _pattern(cores[index], cores).sub(chr(FIRST + index), text)
    return text


def masked_option(text: str) -> int | None:
    """Index of the option that a piece of masked text consists of; null if it says anything else, or several options."""
    tokens = set(TOKEN.findall(text))
    rest = TOKEN.sub(" ", _ARTICLE.sub("", text))
    return ord(tokens.pop()) - FIRST if len(tokens) == 1 and not has_words(rest) else None


def drop_texts(text: str, labels: Sequence[str], options: Sequence[str]) -> tuple[str, int]:
    """The masked text with letters alone where a letter and its own option stand side by side, and how often that was.

    "A. first thing and C (third thing)" becomes "A and C".
    """
    total = 0
    for index, (label, option) in enumerate(zip(labels, options, strict=True)):
        content = f"(?:{chr(FIRST + index)}|(?i:{re.escape(level_text(option).strip())})(?![{WORD}]))"
        beside = rf"(?<![{WORD}]){label}(?:\s*[.):、(\-–\"'])*\s*{content}(?:[^\S\n]*[.。!?\"'])*\)?"
        text, times = re.subn(beside, label, text)
        total += times
    return text, total


def is_masked(text: str) -> bool:
    """Whether the text holds a masked option."""
    return TOKEN.search(text) is not None


def _core(option: str, options: Sequence[str]) -> str:
    """The option without quotation marks and full stops around it, if that leaves it different from the others."""
    core = level_text(option).strip(_EDGES)
    alike = [other for other in options if level_text(other).strip(_EDGES).casefold() == core.casefold()]
    return core if len(alike) == 1 else level_text(option).strip()


def _is_long(core: str) -> bool:
    is_word = core.isascii() and core.isalpha()
    return len(core) >= (SHORTEST_WORD if is_word else SHORTEST) and not (core.isdigit() and len(core) <= SHORTEST)


def _gap(space: str) -> str:
    return r"\s+" if "\n" in space else r"[^\S\n]+"


def _pattern(core: str, cores: Sequence[str]) -> re.Pattern[str]:
    body = "".join(_gap(part) if part.isspace() else re.escape(part) for part in re.split(r"(\s+)", core))
    before = rf"(?<![{WORD}])" if re.match(f"[{WORD}]", core) else ""
    after = rf"(?![{WORD}])" if re.match(f"[{WORD}]", core[-1]) else ""
    alike = sum(other.casefold() == core.casefold() for other in cores)
    return re.compile(before + body + after, re.IGNORECASE if alike == 1 else 0)
