r"""Compare mathematical answers in LaTeX and as they are written without it, such as \frac{1}{2} and 1/2."""

import re
import unicodedata

_SIGNS = {
    r"^{\circ}": "°",
    r"^\circ": "°",
    r"\pi": "π",
    r"\infty": "∞",
    r"\cup": "∪",
    r"\pm": "±",
    r"\%": "%",
    r"\$": "$",
    **dict.fromkeys((r"\left", r"\right", r"\!", r"\,", r"\quad", r"\qquad"), ""),
}
_COMMANDS = re.compile("|".join(rf"{re.escape(command)}(?![a-zA-Z])" for command in _SIGNS))
_CIRCLED = re.compile(r"\\textcircled\{(\d)\}")
_LETTERS = re.compile(r"\\mathrm\s*\{([^{}]*)\}")
_WORDS = re.compile(r"\\(?:text|mbox)\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*(?:\{([^{}]*)\}|(\d))")
_PART = r"\s*(?:\{([^{}]*)\}|(\d))"
_FRACTION = re.compile(rf"(?:(\d)|(?<!\s))\s*+\\[dt]?frac{_PART}{_PART}(?=(\w?))")  # blanks are gone through once
_ATOM = re.compile(r"[\w√°.]+")
_BARE_POINT = re.compile(r"(?<![\d.])\.(?=\d)")
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_NAMED = re.compile(r"[a-zA-Z]\s*=\s*([^=]+)")
_SPELLINGS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/"})
_REWRITTEN = {r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cdot": "*", r"\times": "*", r"\leq": "≤", r"\geq": "≥"}
_REWRITTEN_COMMANDS = re.compile("|".join(rf"{re.escape(command)}(?![a-zA-Z])" for command in _REWRITTEN))
_IGNORED = re.compile(r"\\(?:left|right)(?![a-zA-Z])|\\[!,; ]|\s")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MATHEMATICAL = re.compile(r"[\\\d^√=+*/<>%∞π∪±(){}\[\]]|-")
_PROSE = re.compile(r"(?<!\\)\b[a-zA-Z]{3,}|[\u4e00-\u9fff]")


def plain_forms(answer: str) -> tuple[str, ...]:
    """Return the answer without its dollar signs, and the same without LaTeX where that can be written in one line.

    The second is left out if nothing changes or commands remain, as in a matrix.
    """
    latex = re.sub(r"(?<!\\)\$", "", answer).strip()
    plain = _LETTERS.sub(lambda match: match[1], latex)
    plain = _WORDS.sub(lambda match: f" {match[1].strip()} ", plain)
    plain = _CIRCLED.sub(lambda match: chr(ord("①") + int(match[1]) - 1), plain)
    plain = _COMMANDS.sub(lambda match: _SIGNS[match[0]], plain)
    plain = _ROOT.sub(lambda match: f"√{_bracket(match[1] or match[2])}", plain)
    plain = _FRACTION.sub(_write_fraction, plain)
    plain = " ".join(_BARE_POINT.sub("0.", plain).split())
    return tuple(dict.fromkeys(form for form in (latex, plain) if form and (form == latex or "\\" not in form)))


def _write_fraction(match: re.Match[str]) -> str:
    whole, above, above_digit, below, below_digit, factor = match.groups()
    fraction = f"{_bracket(above or above_digit)}/{_bracket(below or below_digit)}"
    if whole:
        return f"{whole} {fraction}"
    return f"({fraction})" if factor else fraction


def _bracket(part: str | None) -> str:
    part = (part or "").strip()
    return part if _ATOM.fullmatch(part) else f"({part})"


def is_mathematical(answer: str) -> bool:
    """Return whether an answer is a number or a formula and not words: its signs then matter."""
    bare = re.sub(r"\\[a-zA-Z]+", "", answer)
    return bool(_MATHEMATICAL.search(answer)) and not _PROSE.search(bare)


def same_answer(answer: str, true: str) -> bool:
    r"""Return whether two mathematical answers are written alike, apart from LaTeX, spaces, dollar signs and the final stop.

    Every sign counts, unlike in a comparison of words. Of a longer reply the content of the last \boxed{} is taken, and of
    "x = 3" the right side if the true answer is no equation. Equal values written otherwise (1/2 and 0.5) are not recognised.
    """
    boxed = _BOXED.findall(answer)
    answer = boxed[-1] if boxed else answer
    spoken = _spellings(answer)
    if "=" not in true and (right_side := _NAMED.fullmatch(answer.strip().strip("$").rstrip(".。").strip())):
        spoken |= _spellings(right_side[1])
    return bool(spoken & _spellings(true))


def _spellings(answer: str) -> set[str]:
    return {_condense(form) for form in plain_forms(answer)}


def _condense(form: str) -> str:
    text = unicodedata.normalize("NFKC", form).translate(_SPELLINGS)
    text = _REWRITTEN_COMMANDS.sub(lambda match: _REWRITTEN[match[0]], text)
    if not set("([{") & set(text):
        text = _THOUSANDS.sub("", text)  # in brackets a comma parts two numbers
    return _IGNORED.sub("", text).rstrip(".。").casefold()
