"""Read replies that give a label or an index, mostly under a key of a JSON object.

The object may be fenced or stand among words, or the answer stands alone; labels are read whatever their case, composites such as
"Relief & Gratitude" in any order. Nothing is guessed: what is no choice, or several of them, is not read.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from tasks.metrics.parsing import Parse
from tasks.metrics.reply import clean_reply, keep_end, level_text, match_text, plain_text
from tasks.text.replies import objects_from_end, strip_reasoning

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
    values = _answers(reply, "emotion", cut=cut)
    return _parse(
        "label", values, lambda value: match_text(value, choices, (str, _plain, _parts)) if isinstance(value, str) else None
    )


def read_index(reply: str, segments: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply that gives the 0-based index of one of these segments under the key `index`, or alone; `cut` as above."""
    return _parse("index", _answers(reply, "index", cut=cut), lambda value: _in_range(whole_number(value), len(segments)))


def _parse(how: str, values: Sequence[Any], read: Callable[[Any], int | None]) -> Parse:
    """Return what all values are read as, if that is the same."""
    indices = {read(value) for value in values}
    index = indices.pop() if len(indices) == 1 else None
    return Parse(None, f"gives no {how}") if index is None else Parse((index,), how)


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


def _answers(reply: str, key: str, *, cut: bool) -> list[Any]:
    """Return values of the last JSON object, else the words of a reply that holds nothing but its answer."""
    text = strip_reasoning(reply)
    values = keyed_values(text, key)
    if values is not None:
        return [value[0] if isinstance(value, list) and len(value) == 1 else value for value in values]
    bare = clean_reply(keep_end(level_text(text)))
    return [] if cut or "{" in bare else [_LEAD.sub("", bare, count=1).strip(_EDGES) if _LEAD.match(bare) else bare.strip(_EDGES)]


def _in_range(index: int | None, options: int) -> int | None:
    return index if index is not None and 0 <= index < options else None


def _plain(label: str) -> str:
    return plain_text(label).strip(_EDGES)


def _parts(label: str) -> tuple[str, ...]:
    return tuple(sorted(filter(None, _JOINT.split(_plain(label)))))
