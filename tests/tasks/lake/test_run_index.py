"""The index of runs is as good as the manifests, and never better."""

import os
import time
from pathlib import Path

import pytest

from schemas.folders import Folder
from schemas.lineage import RunManifest
from tasks.lake import manifest as manifests
from tasks.lake import run_index
from tasks.lake.manifest import read_manifests, write_manifest
from tests.tasks.lake.test_manifest import bare_manifest

RUNS = ("20260103-c", "20260102-b", "20260101-a")
DAY_NS = 86_400_000_000_000


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake of three runs, a day old, which is worth an index."""
    monkeypatch.setattr(run_index, "FEWEST", 3)
    for number, run in enumerate(RUNS):
        age(write_manifest(tmp_path, bare_manifest(run, blueprint={"name": "tiny" if number else "other"})))
    return tmp_path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs whose manifests were read, in order."""
    names: list[str] = []
    usual = manifests.read_listed

    def noted(lake: Path, run: str) -> RunManifest:
        names.append(run)
        return usual(lake, run)

    monkeypatch.setattr(manifests, "read_listed", noted)
    return names


def age(path: Folder) -> None:
    day_ago = time.time_ns() - DAY_NS
    os.utime(str(path), ns=(day_ago, day_ago))


def test_only_the_first_command_reads_every_manifest(lake: Path, read: list[str]) -> None:
    first = list(read_manifests(lake))
    assert read == [*RUNS]
    assert list(read_manifests(lake)) == first
    assert read == [*RUNS]
    assert [manifest.blueprint["name"] for manifest in first] == ["other", "tiny", "tiny"]


def test_changed_new_and_removed_runs_are_seen(lake: Path, read: list[str]) -> None:
    list(read_manifests(lake))
    read.clear()
    changed = lake / "runs" / RUNS[1] / "manifest.json"
    before = changed.stat()
    # As many bytes as before, and the time of its last change is put back.
    write_manifest(lake, bare_manifest(RUNS[1], benchmark="thin", blueprint={"name": "tiny"}))
    os.utime(changed, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert changed.stat().st_size == before.st_size
    (lake / "runs" / RUNS[2] / "manifest.json").unlink()
    age(write_manifest(lake, bare_manifest("20260104-d")))
    now = list(read_manifests(lake))
    assert [(manifest.run, manifest.benchmark) for manifest in now] == [
        ("20260104-d", "tiny"),
        (RUNS[0], "tiny"),
        (RUNS[1], "thin"),
    ]
    assert read == ["20260104-d", RUNS[1]]


def test_manifest_that_was_just_written_is_read_again(lake: Path, read: list[str]) -> None:
    path = write_manifest(lake, bare_manifest("20260104-d"))
    list(read_manifests(lake))
    # In place, within a tick of the clock, and as long.
    written = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().replace(b'"tiny"', b'"thin"'))
    os.utime(str(path), ns=(written, written))
    assert next(read_manifests(lake)).benchmark == "thin"
    assert read.count("20260104-d") == 2


@pytest.mark.parametrize("content", [b"", b"\xff\t{}\n\n\t", b'["20260103-c"]\tx\n', None])
def test_a_damaged_index_loses_nothing(lake: Path, content: bytes | None) -> None:
    first = list(read_manifests(lake))
    index = lake / run_index.INDEX
    whole = index.read_bytes()
    # Without a content of its own: the lines that are there, each cut.
    index.write_bytes(b"\n".join(line[:-9] for line in whole.split(b"\n")) if content is None else content)
    assert list(read_manifests(lake)) == first
    assert index.read_bytes() == whole


def test_index_that_cannot_be_written_is_done_without(lake: Path, read: list[str]) -> None:
    (lake / run_index.INDEX).mkdir()
    for _ in range(2):
        assert [manifest.run for manifest in read_manifests(lake)] == [*RUNS]
    assert len(read) == 6


def test_a_small_lake_has_no_index(lake: Path) -> None:
    (lake / "runs" / RUNS[0] / "manifest.json").unlink()
    assert len(list(read_manifests(lake))) == 2
    assert not (lake / run_index.INDEX).exists()
