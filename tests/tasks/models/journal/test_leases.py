"""A call is claimed by one at a time, and a claim ends with its process."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from schemas.errors import LakeError
from tasks.models.journal.leases import FILES, Leases
from tests.tasks.models.making_calls import HANGS_S, request, running

KEYS = [request(str(number)).key for number in range(200)]
KEY, OTHER = KEYS[:2]


class Holder(NamedTuple):
    """Another process that holds a lease, and a child of it."""

    process: subprocess.Popen[str]
    child: int


@contextmanager
def holder(folder: Path, key: str) -> Iterator[Holder]:
    with running("journal.lease_holder", str(folder), key) as process:
        assert process.stdout is not None
        yield Holder(process, int(process.stdout.readline()))


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_claim_holds_until_it_is_released(tmp_path: Path) -> None:
    with Leases(tmp_path / "new" / "leases") as one, Leases(tmp_path / "new" / "leases") as other:
        assert one.claim(KEY)
        assert not other.claim(KEY)
        assert not one.claim(KEY)  # by another caller
        assert other.claim(OTHER)
        one.release(OTHER)  # not its own
        assert not one.claim(OTHER)
        one.release(KEY)
        assert other.claim(KEY)


def test_claims_end_when_the_leases_are_closed(tmp_path: Path) -> None:
    with Leases(tmp_path) as other:
        with Leases(tmp_path) as one:
            assert all(one.claim(key) for key in KEYS)
            assert not any(other.claim(key) for key in KEYS)
        assert all(other.claim(key) for key in KEYS)
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"{number:02}" for number in range(FILES)]
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) == 0


def comes_true(condition: Callable[[], bool], limit_s: float = HANGS_S) -> bool:
    end_s = time.monotonic() + limit_s
    while not (found := condition()) and time.monotonic() < end_s:
        time.sleep(0.02)
    return found


def test_child_does_not_keep_claims_of_killed_parent(tmp_path: Path) -> None:
    with holder(tmp_path, KEY) as other, Leases(tmp_path) as leases:
        assert not leases.claim(KEY)
        other.process.kill()
        other.process.wait()
        try:
            assert is_alive(other.child)
            # The child closes its copies of the files first thing, which on a busy machine may be after the parent's end.
            assert comes_true(lambda: leases.claim(KEY))
        finally:
            os.kill(other.child, signal.SIGKILL)


def test_ending_child_keeps_parents_claims(tmp_path: Path) -> None:
    with holder(tmp_path, KEY) as other, Leases(tmp_path) as leases:
        os.kill(other.child, signal.SIGKILL)
        time.sleep(0.1)
        assert other.process.poll() is None
        assert not leases.claim(KEY)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere locks belong to the process")
def test_who_reads_or_writes_files_ends_no_claim(tmp_path: Path) -> None:
    with Leases(tmp_path) as one, Leases(tmp_path) as other:
        assert one.claim(KEY)
        assert [file.read_bytes() for file in tmp_path.iterdir()] == [b""] * FILES
        for file in tmp_path.iterdir():
            file.write_text("damaged")
        with Leases(tmp_path) as later:
            assert not any(leases.claim(KEY) for leases in (other, later))
            assert later.claim(OTHER)


def test_deleted_files_are_reported_before_resending(tmp_path: Path) -> None:
    folder = tmp_path / "leases"
    with Leases(folder) as leases:
        shutil.rmtree(folder)
        with pytest.raises(LakeError, match="another run might send them too") as caught:
            leases.claim(KEY)
    assert caught.value.where == str(folder)
    assert "run again" in str(caught.value.next_step)


@pytest.mark.parametrize("place", ["file", "file/leases", "folder"])
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "07").mkdir(parents=True)
    with pytest.raises(LakeError) as caught, Leases(tmp_path / place):
        pass
    assert caught.value.where == str(tmp_path / place)
