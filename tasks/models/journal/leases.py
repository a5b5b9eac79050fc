"""Claim calls before they are sent, so that two processes on one lake never send the same call.

A claim is a lock of the operating system on one byte of a file; the call's key says which byte of which file. Such a lock ends
with the process that holds it, however that dies: nothing is left to be cleaned up, no process has to prove that it lives, and it
makes no difference whether the processes are in one container or in several. The files stay empty.
"""

import fcntl
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from schemas.errors import LakeError

FILES = 32
"""The kernel goes through all locks of a file to set one: with 12,000 claims in one file it takes 400 microseconds, in 32 ten."""


class Leases:
    """Claims on calls, by their key. Used as a context manager, from one thread; the folder of the lock files is made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[int] = []
        self._held: set[str] = set()

    def __enter__(self) -> Self:
        with self._errors(), ExitStack() as opened:
            self._folder.mkdir(parents=True, exist_ok=True)
            for number in range(FILES):
                file = os.open(self._folder / f"{number:02}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                opened.callback(os.close, file)
                self._files.append(file)
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._files.clear()
        self._held.clear()
        self._opened.close()

    def claim(self, key: str) -> bool:
        """Return whether a call is ours now; if not, another process has it, or another caller of this object.

        It takes about 10 microseconds. That the lock files are gone, so that claims of others are not known, is a LakeError.
        """
        if key in self._held:
            return False
        with self._errors():
            file = self._file(key)
            if os.fstat(file).st_nlink == 0:
                raise FileNotFoundError("the file was deleted while it was in use")
            try:
                _lock(file, fcntl.F_WRLCK, _byte(key))
            except (BlockingIOError, PermissionError):
                return False
        self._held.add(key)
        return True

    def release(self, key: str) -> None:
        """Give up a claim; without one, nothing happens."""
        if key in self._held:
            self._held.discard(key)
            with self._errors():
                _lock(self._file(key), fcntl.F_UNLCK, _byte(key))

    def _file(self, key: str) -> int:
        return self._files[int(key[-2:], 16) % FILES]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LakeError(
                "calls cannot be locked, so two runs might send the same call",
                where=str(self._folder),
                expected="a folder that this user may write and that stays during the run",
                got=f"{type(error).__name__}: {error}",
                next_step="stop all runs on this lake, repair or delete the folder, run again; stored replies are not paid twice",
            ) from error


def _byte(key: str) -> int:
    return int(key[:15], 16)


if sys.platform == "linux":

    def _lock(file: int, kind: int, byte: int) -> None:
        # Unlike a POSIX lock, it belongs to the opened file: closing the same file elsewhere in the process does not end it.
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi", kind, os.SEEK_SET, byte, 1, 0))

else:

    def _lock(file: int, kind: int, byte: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN if kind == fcntl.F_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
