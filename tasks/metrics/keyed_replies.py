"""Read replies that give a label or an index, mostly under a key of a JSON object, in two ways.

Lenient, as `accuracy` counts: a JSON object, fenced or among words, or the answer alone; labels whatever their case, composites
such as "Relief & Gratitude" in any order. Strict, as the released LongEmotion code reads them, for `strict_accuracy`. Neither
guesses: what is no choice, or several of them, is not read.

Source: LongEmotion (arXiv 2509.07403), released code of January 2026. Differs: it asks up to five times until something can be
read, and runs forever on malformed JSON in a fence where an index is asked; here such a reply is wrong.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from tasks.metrics.parsing import Parse
from tasks.metrics.reply import clean_reply, keep_end, level_text, match_text, plain_text
from tasks.text.json_objects import objects_from_end
from tasks.text.reasoning import strip_reasoning

_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder(object_pairs_hook=tuple)
"""Gives objects as pairs, so that a key that occurs twice is seen."""

_LEAD = re.compile(
    r"(?:(?:(?:the|my|your)\s+)?(?:final\s+|correct\s+)?(?:emotion|tone|answer|label|choice|index|segment)\s*(?:is\b|:|=)"
    r"|(?:答案|情绪|情感|语气|标签|编号|序号)\s*(?:是|为|:|=))\s*:?",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s*(?:&|,|、|\band\b)\s*")
_INTEGER = re.compile(r"([0-9]{1,9})(?:\.0+)?")
_EDGES = " \t\n.,;:!\"'`*_。"


def read_label(reply: str, choices: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply that gives one of these labels under the key `Emotion`, or alone.

    `cut`: it ended at its token limit, so that a label alone may be the beginning of a longer one.
    """
    found = _one(_answers(reply, "emotion", cut=cut), lambda value: match_label(value, choices))
    strict = _strict_value(reply, "Emotion", fenced_only=False)
    return _parse("label", found, choices.index(strict) if isinstance(strict, str) and strict in choices else None)


def read_index(reply: str, segments: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply that gives the 0-based index of one of these segments under the key `index`, or alone; `cut` as above."""
    found = _one(_answers(reply, "index", cut=cut), lambda value: _in_range(whole_number(value), len(segments)))
    strict = _strict_value(reply, "index", fenced_only=True)
    # True and 24.0 are no integers of JSON, though Python calls them equal to 1 and 24.
    return _parse("index", found, _in_range(strict, len(segments)) if type(strict) is int else None)


def _parse(how: str, found: int | None, strict: int | None) -> Parse:
    return Parse(None, f"gives no {how}") if found is None else Parse((found,), how, () if strict is None else (strict,))


def final_answer(text: str) -> str:
    """Return the text of a reply in words: what its last JSON object has under `answer`, else all of it.

    Search-o1 asks for such an object, the other settings for words alone.
    """
    values = keyed_values(text, "answer")
    return values[0] if values and len(values) == 1 and isinstance(values[0], str) else text


def match_label(value: Any, choices: Sequence[str]) -> int | None:
    """Return the index of the one choice that a value is, or null: whatever case, white space and order of composites."""
    return match_text(value, choices, (str, _plain, _parts)) if isinstance(value, str) else None


def whole_number(value: Any) -> int | None:
    """Return the number that a value is, or writes: 24, 24.0, "24"; null if it is none."""
    if isinstance(value, str):
        found = _INTEGER.fullmatch(level_text(value).strip())
        return int(found.group(1)) if found else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def keyed_values(text: str, key: str) -> list[Any] | None:
    """Return values under `key`, in any case, in the last complete JSON object that has it; null if there is no such object.

    Typographic and single quotes are taken for JSON's only where nothing can be read otherwise.
    """
    level = level_text(text)
    for version in (text, level, level.replace("'", '"')):
        for pairs in objects_from_end(version, _DECODER):
            if values := [value for name, value in pairs if name.strip().casefold() == key]:
                return values
    return None


def _strict_value(reply: str, key: str, *, fenced_only: bool) -> Any:
    """Return what the released code reads under `key`: of a whole reply that is JSON, else of the last fence; null if nothing.

    `fenced_only`: JSON without a fence is not read.
    """
    answer = strip_reasoning(reply)
    for text in (*(() if fenced_only else (answer,)), *_FENCED.findall(answer)[-1:]):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value.get(key)
    return None


def _answers(reply: str, key: str, *, cut: bool) -> list[Any]:
    """Return values of the last JSON object, else the words of a reply that holds nothing but its answer."""
    text = strip_reasoning(reply)
    values = keyed_values(text, key)
    if values is not None:
        return [value[0] if isinstance(value, list) and len(value) == 1 else value for value in values]
    bare = clean_reply(keep_end(level_text(text)))
    return [] if cut or "{" in bare else [_LEAD.sub("", bare, count=1).strip(_EDGES) if _LEAD.match(bare) else bare.strip(_EDGES)]


def _one(values: Sequence[Any], read: Callable[[Any], int | None]) -> int | None:
    """Return what all values are read as, if that is the same."""
    found = {read(value) for value in values}
    return found.pop() if len(found) == 1 else None


def _in_range(index: int | None, options: int) -> int | None:
    return index if index is not None and 0 <= index < options else None


def _plain(label: str) -> str:
    return plain_text(label).strip(_EDGES)


def _parts(label: str) -> tuple[str, ...]:
    return tuple(sorted(filter(None, _JOINT.split(_plain(label)))))
