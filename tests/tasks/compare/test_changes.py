"""The look at earlier runs goes through each of them once."""

from pathlib import Path

import pytest

from schemas.lineage import CodeVersion, PartitionRef
from tasks.compare import changes
from tasks.lake import manifest as manifests
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tests.tasks.lake.test_manifest import bare_manifest

SCORED = PartitionRef(
    layer="item_scores",
    place=(("dataset", "d"), ("model", "m"), ("setting", "base")),
    fingerprint="0" * 64,
    path="item_scores/x.parquet",
    rows=1,
    content_sha256="",
)


@pytest.mark.parametrize("runs", [5, 10])
def test_the_lake_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: int) -> None:
    for number in range(runs):
        write_manifest(tmp_path, bare_manifest(f"20260101T000000000000Z.{number}-m"))
    lists: list[Path] = []
    usual = manifests.list_runs
    for module in (changes, manifests):
        monkeypatch.setattr(module, "list_runs", lambda lake: lists.append(lake) or usual(lake))  # type: ignore[func-returns-value]
    now = bare_manifest(f"20260101T000000000000Z.{runs}-m", partitions=(SCORED,))
    found, remarks = changes.find_earlier(now, Lake(tmp_path, CodeVersion("1", None)))
    assert len(lists) == 1
    assert remarks == ()
    (reason,) = found.values()
    assert reason == (
        f"no earlier run can be compared; of the newest, 20260101T000000000000Z.{runs - 1}-m: "
        "its plan was written by another version and cannot be read"
    )
