"""A call is claimed by one at a time, and a claim ends with its process."""

import shutil
import sys
from pathlib import Path

import pytest

from schemas.errors import LakeError
from tasks.models.journal.leases import FILES, Leases
from tests.tasks.models.making_calls import request

KEYS = [request(str(number)).key for number in range(200)]
KEY, OTHER = KEYS[:2]


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
        with pytest.raises(LakeError, match="two runs might send the same call") as caught:
            leases.claim(KEY)
    assert caught.value.where == str(folder)
    assert "run again" in str(caught.value.next_step)
