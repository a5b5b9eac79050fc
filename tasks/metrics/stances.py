"""Tell by data/wordings.yaml whether a statement of an answer is meant: not denied, supposed, reported, past or taken back.

What stands before and behind it is looked at, and where the reply corrects itself. All in doubt is not meant: an answer that is
not read costs less than one that is misread. Texts come levelled and without superfluous blanks.
"""

import re
from collections.abc import Mapping

from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml

REACH = 300
"""Characters looked at before a statement and behind it."""

_COLON_END = re.compile(r"\s*:[\s:]*\Z")
_NAMED = re.compile(r"@(\w+)@")


def _read_wordings() -> Mapping[str, tuple[str, ...]]:
    """Return the patterns of data/wordings.yaml by name, with what stands for an entry above replaced by its pattern."""
    known = dict[str, tuple[str, ...]]()
    for name, rows in read_yaml(read_text(DATA_FOLDER / "wordings.yaml")).items():
        known[name] = tuple(_NAMED.sub(lambda match: known[match[1]][0], "".join(row)) for row in rows)
    return known


WORDINGS = _read_wordings()


def compiled(name: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of an entry, whatever the case."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in WORDINGS[name])


(_NEW_START,), (_DOUBTED,), (DENIAL,), (ANY_DOUBT,) = map(compiled, ("new_start", "doubted", "denial", "any_doubt"))
(_TAKEN_BACK,) = compiled("taken_back")
_CORRECTION = re.compile(WORDINGS["correction"][0], re.IGNORECASE | re.MULTILINE)
"""Where a reply corrects itself: what it stated before no longer holds."""


def is_meant(text: str, lead: int, start: int, end: int) -> bool:
    """Return whether the answer from `start` to `end` is meant; the words that introduce it begin at `lead`."""
    return not _is_doubted(text, lead, start) and not is_taken_back(text, end)


def is_taken_back(text: str, end: int) -> bool:
    """Return whether what follows an answer asks, denies or restricts it: "B? No.", "B, but that is wrong"."""
    return _TAKEN_BACK.match(text[end : end + REACH]) is not None


def corrections(text: str) -> list[int]:
    """Return where the corrections of a reply end."""
    return [match.end() for match in _CORRECTION.finditer(text)]


def _is_doubted(text: str, lead: int, start: int) -> bool:
    """Return whether the sentence that leads up to an answer denies, supposes or reports it, or tells what once was thought."""
    before = text[max(0, lead - REACH) : lead]
    if before.rstrip(" (\"'").endswith("\n"):
        before = before.rstrip(" (\"'")
        before = before if before.rstrip().endswith(":") else ""
    sentence = _COLON_END.sub(" ", before) + re.sub(r"[:\s]+", " ", text[lead:start])
    starts = [match.end() for match in _NEW_START.finditer(sentence)]
    return _DOUBTED.search(sentence[starts[-1] :] if starts else sentence) is not None
