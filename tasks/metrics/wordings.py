"""Read the wordings by which replies state, doubt and correct answers: patterns of data/wordings.yaml."""

import re
from collections.abc import Mapping

from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml

_NAMED = re.compile(r"@(\w+)@")


def _read_wordings() -> Mapping[str, tuple[str, ...]]:
    """Return the patterns by name, with what stands for an entry above replaced by its pattern."""
    known = dict[str, tuple[str, ...]]()
    for name, rows in read_yaml(read_text(DATA_FOLDER / "wordings.yaml")).items():
        known[name] = tuple(_NAMED.sub(lambda match: known[match[1]][0], "".join(row)) for row in rows)
    return known


WORDINGS = _read_wordings()


def compiled(name: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of an entry, whatever the case."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in WORDINGS[name])
