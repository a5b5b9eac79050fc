"""Find what the report server may show of a folder: files of runs by their plain names, never anything outside."""

import re
from collections.abc import Sequence
from pathlib import Path

from schemas.folders import Folder

PLAIN_NAME = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*")
"""Of a run or a file: never `.`, `..`, or a hidden one."""


def find_file(folders: Sequence[Folder], run: str, name: str) -> Folder | None:
    """Return a run's file from the first of the folders that has it.

    Nothing else is found: no folder, nothing that begins with a dot, nothing outside, be it by `..` or by a link. Starlette's
    static files know neither this rule nor object stores.
    """
    if not PLAIN_NAME.fullmatch(run) or not PLAIN_NAME.fullmatch(name):
        return None
    return next((file for folder in folders if (file := folder / run / name).is_file() and is_inside(file, folder)), None)


def is_inside(path: Folder, folder: Folder) -> bool:
    """Say whether a path lies in a folder wherever links lead."""
    if isinstance(path, Path) and isinstance(folder, Path):
        return path.resolve().is_relative_to(folder.resolve())
    return True  # an object store has no links
