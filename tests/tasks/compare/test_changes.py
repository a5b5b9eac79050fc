"""Which earlier run a run is compared with, and why there is none."""

from pathlib import Path

from schemas.lineage import CodeVersion, RunManifest
from tasks.compare.changes import LOOKED_BACK, find_earlier
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_manifest
from tasks.runs.comparable_runs import systems_of
from tasks.runs.run_tables import System
from tests.tasks.runs.test_comparable_runs import CORE, ENTRY, manifest


def found(lake: Path, run: RunManifest) -> dict[System, str]:
    earlier, _ = find_earlier(run, Lake(lake, CodeVersion("1", None)))
    return {system: one if isinstance(one, str) else one.run for system, one in earlier.items()}


def test_each_model_has_its_newest_earlier_run(tmp_path: Path) -> None:
    other = System("other", "base")
    both = {"models": [ENTRY, {"name": "other", "base_url": "http://two/v1"}]}
    for earlier in (
        manifest("20260101-a", (CORE, other), plan=both),
        manifest("20260102-a"),
        manifest("20260103-a", plan={"seed": 1}),
        manifest("20260101T000000000000Z.2-a"),  # after the run itself, whatever the clock said
    ):
        write_manifest(tmp_path, earlier)
    run = manifest("20260104T000000000000Z.1-a", (CORE, other), plan=both)
    assert found(tmp_path, run) == {CORE: "20260102-a", other: "20260101-a"}
    assert list(systems_of(run)) == [CORE, other]


def test_why_there_is_none_is_said(tmp_path: Path) -> None:
    run = manifest("20260104-a")
    assert found(tmp_path, run)[CORE] == "no earlier run of tiny"
    write_manifest(tmp_path, manifest("20260101-a", plan={"seed": 1}))
    write_manifest(tmp_path, manifest("20260102-a", plan={"sample": 7}))
    write_manifest(tmp_path, manifest("20260103-a", benchmark="other"))
    told = "no earlier run can be compared; of the newest, 20260102-a: its sample: 7 instead of 300"
    assert found(tmp_path, run)[CORE] == told


def test_how_far_it_looked_back_is_said(tmp_path: Path) -> None:
    for number in range(LOOKED_BACK + 1):
        write_manifest(tmp_path, manifest(f"20260101-{number:03}", benchmark="other"))
    assert found(tmp_path, manifest())[CORE] == "no earlier run of tiny among the newest 100 in the lake"


def test_an_unreadable_manifest_is_passed_over_and_named(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest("20260101-a"))
    broken = write_manifest(tmp_path, manifest("20260102-a"))
    Path(str(broken)).write_text("{", encoding="utf-8")
    earlier, remarks = find_earlier(manifest("20260103-a"), Lake(tmp_path, CodeVersion("1", None)))
    assert remarks == ("run 20260102-a was passed over: the manifest of a run cannot be read",)
    assert earlier[CORE] == manifest("20260101-a")
