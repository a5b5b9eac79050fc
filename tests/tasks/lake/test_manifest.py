"""Manifests: written once, listed newest first; what they say of datasets."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from schemas.dataset import BundledFile, DatasetSpec, LocalFile, PinnedFile
from schemas.errors import LakeError
from schemas.lineage import CallCounts, CodeVersion, DatasetNotice, RunManifest
from schemas.tables.layers import AGGREGATED
from tasks.lake.lake import Lake
from tasks.lake.manifest import list_runs, next_number, notices, read_manifest, read_manifests, write_manifest
from tasks.lake.partitions import located
from tasks.runs.past_run import past_run


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
        "finished_at": "2026-01-01T00:01:00+00:00",
        "partitions": tuple(located(f"{layer}/{'0' * 64}.parquet") for layer in AGGREGATED),
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
    # Lakes have manifests with a null that is no longer written.
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "ablation": None}), encoding="utf-8")
    assert read_manifest(tmp_path, "20260101-a") == manifest


def test_runs_are_listed_newest_first(tmp_path: Path) -> None:
    # The clock was set back before the third and the last; two folders were renamed.
    plain, other = "20260101T000000000000Z-m", "20260102T000000000000Z-m"
    numbered = [f"{day}T000000000000Z.{number}-m" for number, day in ((9, "20260103"), (10, "20250101"), (11, "20250102"))]
    for run in (other, numbered[1], plain, numbered[2], numbered[0]):
        write_manifest(tmp_path, bare_manifest(run))
    assert list_runs(tmp_path) == [*numbered[::-1], other, plain]
    assert (next_number(tmp_path), next_number(tmp_path / "empty")) == (12, 1)


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"run": ' + b"[" * 99_999, b'{"run": "a", "run": "b"}'])
def test_unreadable_manifest_is_named_and_skipped(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    write_manifest(tmp_path, bare_manifest("20260101-a"))
    path = write_manifest(tmp_path, bare_manifest("20260102-b"))
    (tmp_path / "runs" / "20260102-b" / "manifest.json").write_bytes(content)
    assert [manifest.run for manifest in read_manifests(tmp_path)] == ["20260101-a"]
    assert f"run 20260102-b is passed over: the manifest of a run cannot be read ({path}: " in capsys.readouterr().err


@pytest.mark.parametrize("plan", [{"models": ["m"]}, {"settings": []}, {"repeat": "x"}, {"roles": {"judge": [5]}}])
def test_plan_of_other_types_is_damaged_manifest(tmp_path: Path, plan: dict[str, Any]) -> None:
    path = write_manifest(tmp_path, bare_manifest("a"))
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "plan": plan}), encoding="utf-8")
    with pytest.raises(LakeError, match="the manifest of a run cannot be read") as caught:
        read_manifest(tmp_path, "a")
    assert next(iter(plan)) in str(caught.value.got)


@pytest.mark.parametrize("layers", [(), ("raw_scores", "ability_scores")])
def test_a_manifest_without_its_totals_is_passed_over(
    tmp_path: Path, layers: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = bare_manifest("a")
    write_manifest(tmp_path, whole)
    refs = tuple(ref for ref in whole.partitions if ref.layer in layers)
    write_manifest(tmp_path, bare_manifest("b", partitions=refs))
    assert [manifest.run for manifest in read_manifests(tmp_path)] == ["a"]
    err = capsys.readouterr().err
    assert "run b is passed over" in err
    assert "totals" in err.partition("it lists no partition of ")[2]
    with pytest.raises(LakeError, match="the manifest of a run cannot be read"):  # nobody knows what is in use
        list(read_manifests(tmp_path, need_all=True))


def test_copy_of_run_is_not_counted_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_manifest(tmp_path, bare_manifest("a"))
    copytree(tmp_path / "runs" / "a", tmp_path / "runs" / "a-copy")
    assert [manifest.run for manifest in read_manifests(tmp_path)] == ["a"]
    assert "run a-copy is passed over: the manifest of a run cannot be read" in (err := capsys.readouterr().err)
    assert "it is that of run a" in err


def test_damaged_blueprint_and_lacking_partition_are_told(tmp_path: Path) -> None:
    manifest = bare_manifest("a", blueprint={"name": 5})
    with pytest.raises(LakeError, match="the blueprint in the manifest of run a cannot be read"):
        past_run(manifest, Lake(tmp_path, CodeVersion("1", None)))
    with pytest.raises(LakeError, match="the manifest of run a lists no partition of items"):
        manifest.partition("items")


SPEC = DatasetSpec(
    id="moods",
    title="Moods",
    files=(
        PinnedFile(repository="github.com/a/b", revision="1234567", path="train.csv", sha256="0" * 64),
        PinnedFile(repository="github.com/a/b", revision="1234567", path="test.csv", sha256="1" * 64),
    ),
    adapter=lambda _: (),
    licence="research only",
    paper="none",
    required=(),
    evaluation_version="1.1",
    canary="moods 1234",
    ambiguous=("rows 1 and 2",),
    languages=("en",),
)


def test_a_notice_names_each_source_once() -> None:
    (notice,) = notices([SPEC])
    assert notice.sources == ("github.com/a/b at 1234567",)
    copied = DatasetNotice.model_fields.keys() - {"sources"}
    assert {name: getattr(notice, name) for name in copied} == {name: getattr(SPEC, name) for name in copied}
    assert (notice.id, notice.licence, notice.redistributable, notice.canary) == ("moods", "research only", False, "moods 1234")


def test_own_and_bundled_files_lack_folders() -> None:
    found = notices([replace(SPEC, files=(BundledFile(name="a.jsonl"), LocalFile(path=Path("/home/me/b.jsonl"))))])
    assert found[0].sources == ("bundled", "own file b.jsonl")
