"""Manifests: written once, listed newest first, clear errors."""

from pathlib import Path
from typing import Any

import pytest

from schemas.errors import LakeError, UsageError
from schemas.lineage import CallCounts, RunManifest
from tasks.lake.manifest import list_runs, read_manifest, read_manifests, write_manifest


def bare_manifest(run: str = "r", **more: Any) -> RunManifest:
    """The manifest of a run that left nothing else; `more` are its other fields."""
    fields: dict[str, Any] = {
        "run": run,
        "benchmark": "tiny",
        "blueprint": {},
        "blueprint_sha256": "0",
        "plan": {},
        "package_version": "1",
        "git_commit": None,
        "started_at": "2026-01-01T00:00:00+00:00",
        "finished_at": "",
        "partitions": (),
        "missing": (),
        "calls": CallCounts(),
        "report": f"runs/{run}/report.html",
    }
    return RunManifest(**fields | more)


def test_manifest_round_trip(tmp_path: Path) -> None:
    manifest = bare_manifest("20260101-a", calls=CallCounts(sent=2, answered=1, failed=1))
    path = write_manifest(tmp_path, manifest)
    assert path == tmp_path / "runs" / "20260101-a" / "manifest.json"
    assert read_manifest(tmp_path, "20260101-a") == manifest


def test_runs_are_listed_newest_first(tmp_path: Path) -> None:
    for run in ("20260101-a", "20260103-c", "20260102-b"):
        write_manifest(tmp_path, bare_manifest(run))
    assert list_runs(tmp_path) == ["20260103-c", "20260102-b", "20260101-a"]


def test_unknown_run_names_the_known_ones(tmp_path: Path) -> None:
    write_manifest(tmp_path, bare_manifest("20260101-a"))
    with pytest.raises(UsageError, match="there is no such run") as caught:
        read_manifest(tmp_path, "nope")
    assert "20260101-a" in str(caught.value)


def test_broken_manifest_is_named(tmp_path: Path) -> None:
    path = write_manifest(tmp_path, bare_manifest("20260101-a"))
    (tmp_path / "runs" / "20260101-a" / "manifest.json").write_text("{")
    with pytest.raises(LakeError, match="cannot be read") as caught:
        read_manifest(tmp_path, "20260101-a")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"run": ' + b"[" * 99_999, b'{"run": "a", "run": "b"}'])
def test_a_manifest_that_cannot_be_read_is_named_and_passed_over(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    write_manifest(tmp_path, bare_manifest("20260101-a"))
    path = write_manifest(tmp_path, bare_manifest("20260102-b"))
    (tmp_path / "runs" / "20260102-b" / "manifest.json").write_bytes(content)
    assert [manifest.run for manifest in read_manifests(tmp_path)] == ["20260101-a"]
    assert f"run 20260102-b is passed over: the manifest of a run cannot be read ({path}: " in capsys.readouterr().err
