"""Processes that this one started, and those that they started: none is to be left when it ends. Linux; elsewhere, nothing."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
PARENT = 1
"""Place of the parent's id among the fields after the name in /proc/PID/stat."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that `descendants` still finds it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def descendants(pid: int, proc: Path = Path("/proc")) -> list[int]:
    """Ids of all processes below this one, parents before their children; those that have ended are left out.

    Args:
        pid: of the process.
        proc: where Linux lists processes.
    """
    children: dict[int, list[int]] = {}
    for child, parent in _parents(proc):
        children.setdefault(parent, []).append(child)
    found = list(children.get(pid, ()))
    for child in found:
        found += children.get(child, ())
    return found


def _parents(proc: Path) -> Iterator[tuple[int, int]]:
    for folder in proc.glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            # The name is in brackets and may hold anything, brackets too.
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[: PARENT + 1]
            if state != "Z":
                yield int(folder.name), int(parent)


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes that may have ended."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_descendants(pid: int, spared: Iterable[int] = ()) -> list[int]:
    """Kill whatever is left below a process, until there is nothing.

    Args:
        pid: of the process.
        spared: children that are to stay, with all that is below them.

    Returns:
        Ids of what was killed.
    """
    killed: list[int] = []
    kept = set(spared)
    for child in tuple(kept):
        kept.update(descendants(child))
    while left := [child for child in descendants(pid) if child not in kept and child not in killed]:
        send(left, signal.SIGKILL)
        killed += left
    return killed
