"""Tell whether a run is going on in a lake: each holds a shared lock of the operating system on one file.

The lock ends with its process, however that dies: none is left behind. For a lake in an object store, the file is on this
machine.
"""

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from schemas.folders import Folder
from tasks.lake.errors import unwritable
from tasks.lake.local_state import state_folder

IN_USE = "in-use.lock"


@contextmanager
def hold(lake: Folder) -> Iterator[None]:
    """Hold a lake for a run while the block runs, so that nothing is removed from it; wait while something is.

    Raises:
        LakeError: the file cannot be written.
    """
    with unwritable("the lake cannot be marked as in use", state_folder(lake) / IN_USE):
        file = _opened(lake)
        fcntl.flock(file, fcntl.LOCK_SH)
    with file:
        yield


@contextmanager
def hold_alone(lake: Folder) -> Iterator[bool]:
    """Yield whether no run is going on in a lake; if so, none begins while the block runs."""
    with ExitStack() as opened:
        is_free = True
        with suppress(OSError):  # who cannot open it removes nothing
            file = opened.enter_context(_opened(lake))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # held, or the disk has no locks
                is_free = False
        yield is_free


def _opened(lake: Folder) -> IO[bytes]:
    path = state_folder(lake) / IN_USE
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return path.open("a+b")  # network disks lock for many what can be read, for one what can be written
    except PermissionError:
        return path.open("rb")  # another user's: on a disk of this machine, it can be locked all the same
