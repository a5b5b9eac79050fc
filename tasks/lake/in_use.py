"""Tell whether a run is going on in a lake: each holds a shared lock of the operating system on one file.

Such a lock ends with the process that holds it, however that dies: no process has to prove that it lives. For a lake in an object
store, the file is on this machine.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from schemas.folders import Folder
from tasks.lake.errors import unwritable
from tasks.lake.local_state import state_folder

IN_USE = "in-use.lock"


@contextmanager
def using(lake: Folder) -> Iterator[None]:
    """Hold a lake while the block runs, so that nothing is removed from it; wait while something is.

    Raises:
        LakeError: the file cannot be written.
    """
    path = state_folder(lake) / IN_USE
    with unwritable("the lake cannot be marked as in use", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _open(path)
    try:
        with unwritable("the lake cannot be marked as in use", path):
            fcntl.flock(file, fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)


@contextmanager
def left_alone(lake: Folder) -> Iterator[bool]:
    """Yield whether no run is going on in a lake; if so, none begins while the block runs."""
    try:
        file = _open(state_folder(lake) / IN_USE)
    except OSError:  # no run was ever begun, and this user cannot write here, and so remove nothing
        yield True
        return
    try:
        free = False
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        yield free
    finally:
        os.close(file)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except PermissionError:  # another user has made it
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
