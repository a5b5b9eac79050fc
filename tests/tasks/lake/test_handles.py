"""A run is named in several ways, which mean the same to every command."""

from pathlib import Path

import pytest

from schemas.errors import UsageError
from tasks.lake.manifest import read_manifest, resolve_run, run_number, write_manifest
from tests.tasks.lake.test_manifest import bare_manifest

FIRST = "20260101T000000000000Z.1-tiny-alpha-aaaaaa"
SECOND = "20260103T000000000000Z.2-tiny-beta-bbbbbb"
THIRD = "20260102T000000000000Z.3-tiny-beta-cccccc"
"""Began before the second, and ended after it."""

OTHER = "20260104T000000000000Z.12-moodbench-mini-alpha-dddddd"
RENAMED = "keep"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    for run in (FIRST, SECOND, THIRD, OTHER, RENAMED):
        write_manifest(tmp_path, bare_manifest(run))
    return tmp_path


@pytest.mark.parametrize(
    ("handle", "run"),
    [
        *((run, run) for run in (FIRST, SECOND, THIRD, OTHER, RENAMED)),
        *(("latest", OTHER), ("latest~0", OTHER), ("latest~1", THIRD), ("latest~2", SECOND), ("latest~4", RENAMED)),
        *(("#12", OTHER), ("12", OTHER), ("1", FIRST), ("#2", SECOND), ("#3", THIRD)),
        *(
            ("20260103", SECOND),
            ("moodbench-mini", OTHER),
            ("moodbench-mini-al", OTHER),
            ("tiny-beta-b", SECOND),
            ("ke", RENAMED),
        ),
    ],
)
def test_a_handle_names_one_run(lake: Path, handle: str, run: str) -> None:
    assert resolve_run(lake, handle) == run
    assert read_manifest(lake, handle).run == run


@pytest.mark.parametrize(
    ("handle", "n", "candidates"),
    [("tiny-beta", 2, f"{THIRD}, {SECOND}"), ("tiny", 3, f"{THIRD}, {SECOND}, {FIRST}")],
)
def test_an_ambiguous_handle_lists_its_runs(lake: Path, handle: str, n: int, candidates: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_run(lake, handle)
    assert (caught.value.what, caught.value.where) == (f"{handle} names {n} runs", str(lake / "runs"))
    assert str(caught.value.expected).endswith(f"such as: {candidates}")
    assert str(caught.value.next_step).endswith("or by its whole name")


def test_only_three_candidates_are_listed(lake: Path) -> None:
    write_manifest(lake, bare_manifest("20260105T000000000000Z.13-tiny-x"))
    with pytest.raises(UsageError) as caught:
        resolve_run(lake, "tiny-")
    assert caught.value.what == "tiny- names 4 runs"
    assert str(caught.value.expected).endswith(f"such as: 20260105T000000000000Z.13-tiny-x, {THIRD}, {SECOND}")


@pytest.mark.parametrize("handle", ["latest~5", "#4", "4", "0", "#0", "latest~", "LATEST", "nothing", "", "../runs", "#tiny"])
def test_an_unknown_handle_lists_the_newest(lake: Path, handle: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_run(lake, handle)
    assert (caught.value.what, caught.value.got) == (f"there is no run {handle}", handle)
    assert str(caught.value.expected).endswith(f"such as: {OTHER}, {THIRD}, {SECOND}")


def test_two_runs_of_one_number_are_ambiguous(lake: Path) -> None:
    copied = OTHER.replace("alpha", "gamma")
    write_manifest(lake, bare_manifest(copied))
    with pytest.raises(UsageError, match="#12 names 2 runs"):
        resolve_run(lake, "#12")
    assert resolve_run(lake, copied) == copied


def test_numbers_stay_when_a_run_is_deleted(lake: Path) -> None:
    assert list(map(run_number, (FIRST, SECOND, THIRD, OTHER, RENAMED))) == [1, 2, 3, 12, None]
    (lake / "runs" / SECOND / "manifest.json").unlink()
    assert (resolve_run(lake, "3"), resolve_run(lake, "latest~2")) == (THIRD, FIRST)
    with pytest.raises(UsageError, match="there is no run 2"):
        resolve_run(lake, "2")


def test_an_empty_lake_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are no runs in this lake yet") as caught:
        resolve_run(tmp_path, "latest")
    assert caught.value.next_step == "moodflow run makes one; --lake names another lake"
