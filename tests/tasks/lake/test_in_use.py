"""Whether a lake is in use, told by a lock on one file."""

import fcntl
import os
from errno import ENOLCK
from pathlib import Path

import pytest

from tasks.lake.in_use import IN_USE, hold, hold_alone


def test_holders_share_and_who_removes_is_alone(tmp_path: Path) -> None:
    with hold_alone(tmp_path) as is_free, hold_alone(tmp_path) as second_is_free:
        assert (is_free, second_is_free) == (True, False)
    with hold(tmp_path), hold(tmp_path), hold_alone(tmp_path) as is_free:
        assert not is_free


def test_the_file_is_open_for_reading_and_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # NFS locks for many only what is open for reading, and for one only what is open for writing.
    modes, usual = [], fcntl.flock

    def noted(file: int, how: int) -> None:
        modes.append(fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE)
        usual(file, how)

    monkeypatch.setattr(fcntl, "flock", noted)
    with hold(tmp_path):
        pass
    with hold_alone(tmp_path):
        pass
    assert modes == [os.O_RDWR, os.O_RDWR]


def test_the_file_of_another_user_is_locked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Path.open

    def refuse_writing(path: Path, mode: str = "r") -> object:
        if path.name == IN_USE and mode != "rb":
            raise PermissionError(13, "Permission denied")
        return usual(path, mode)

    with hold(tmp_path):
        monkeypatch.setattr(Path, "open", refuse_writing)
        with hold_alone(tmp_path) as is_free, hold(tmp_path):
            assert not is_free


def test_a_disk_without_locks_is_never_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(ENOLCK, os.strerror(ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with hold_alone(tmp_path) as is_free:
        assert not is_free
