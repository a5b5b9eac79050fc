"""The styles in which models write the options they choose."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

Style = Callable[[Sequence[str], Sequence[str], Sequence[str]], str]
"""From the letters of the options chosen, their texts and a part of each text to a reply."""

_CLAUSE = re.compile(r"(\S.{3,}?|[\u3400-\u9fff]{2,}?)\s*[,:;.，：；。(（](?=\s|[\u3400-\u9fff])")
_HAN = re.compile(r"[\u3400-\u9fff]{4,}")
_BREAKS_OFF = re.compile(r"\b(?:not|no|never|cannot)$", re.IGNORECASE)


def part_of(text: str, options: Sequence[str]) -> str:
    """A part of an option as people shorten it: the opening clause, the second half in Chinese, the first words in English.

    The whole text where it is short, where the part would break off at a denial, or where it is another option's text.
    """
    if clause := _CLAUSE.match(text):
        part = clause.group(1)
    elif _HAN.fullmatch(text):
        part = text[len(text) // 2 :]
    else:
        words = text.split(" ")
        part = " ".join(words[: (len(words) + 1) // 2])
    return text if (len(part) < 4 and part.isascii()) or _BREAKS_OFF.search(part) or part in options else part


def _lines(letters: Sequence[str], texts: Sequence[str]) -> str:
    return "\n".join(f"{letter}. {text}" for letter, text in zip(letters, texts, strict=True))


STYLES: Mapping[str, Style] = {
    "letter": lambda letters, _texts, _parts: ", ".join(letters),
    "bracketed": lambda letters, _texts, _parts: ", ".join(f"({letter})" for letter in letters),
    "sentence": lambda letters, _texts, _parts: f"The answer is {', '.join(letters)}.",
    "bold": lambda letters, _texts, _parts: f"**{', '.join(letters)}**",
    "Chinese": lambda letters, _texts, _parts: f"答案是{'、'.join(letters)}。",
    "option text": lambda _letters, texts, _parts: "\n".join(texts),
    "letter and text": lambda letters, texts, _parts: _lines(letters, texts),
    "letter and part of the text": lambda letters, _texts, parts: _lines(letters, parts),
    "JSON": lambda letters, _texts, _parts: json.dumps({"answer": letters[0] if len(letters) == 1 else list(letters)}),
    "hidden reasoning": lambda letters, _texts, _parts: f"<think>It may be A. Or is it B?</think>\n\n{', '.join(letters)}",
    "reasoning": lambda letters, _texts, _parts: (
        f"At first sight A is tempting.\n\nTherefore, the answer is {', '.join(letters)}."
    ),
}
