"""What manifests say about datasets; manifests from before they did can still be read."""

import json
from dataclasses import replace
from pathlib import Path

from schemas.dataset import BundledFile, DatasetSpec, LocalFile, PinnedFile
from schemas.lineage import DatasetNotice
from tasks.lake.dataset_notices import notices
from tasks.lake.manifest import read_manifest, write_manifest
from tests.tasks.lake.test_manifest import bare_manifest

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
    assert notices([SPEC]) == (
        DatasetNotice(
            id="moods",
            title="Moods",
            licence="research only",
            redistributable=False,
            canary="moods 1234",
            sources=("github.com/a/b at 1234567",),
            evaluation_version="1.1",
            ambiguous=("rows 1 and 2",),
            languages=("en",),
        ),
    )


def test_own_and_bundled_files_are_named_without_their_folders() -> None:
    found = notices([replace(SPEC, files=(BundledFile(name="a.jsonl"), LocalFile(path=Path("/home/me/b.jsonl"))))])
    assert found[0].sources == ("bundled", "own file b.jsonl")


def test_a_manifest_without_datasets_is_read(tmp_path: Path) -> None:
    write_manifest(tmp_path, bare_manifest("20260101-a"))
    path = tmp_path / "runs" / "20260101-a" / "manifest.json"
    fields = json.loads(path.read_text())
    del fields["datasets"], fields["redacted"]
    path.write_text(json.dumps(fields))
    assert (read_manifest(tmp_path, "20260101-a").datasets, read_manifest(tmp_path, "20260101-a").redacted) == ((), False)
