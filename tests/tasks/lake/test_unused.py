"""What of a lake no run needs: by name, by age, and never through a link; whether a lock says that it is in use."""

import os
from pathlib import Path

import pytest

from schemas.documents.lake import UnusedFiles
from schemas.lineage import RunManifest
from tasks.lake.partitions import located
from tasks.lake.unused import IN_USE, find_unused, hold, hold_alone
from tests.tasks.lake.test_manifest import bare_manifest

HOUR_NS = 3_600_000_000_000
NOW_NS = 1_800_000_000 * 1_000_000_000
KEPT, LEFT, OTHER = ("a" * 64, "b" * 64, "c" * 64)
PLACE = "items/dataset=d"


def put(lake: Path, name: str, hours: float = 48, content: str = "12345") -> Path:
    """A file that was written so many hours ago."""
    path = lake / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    age(path, hours)
    return path


def age(path: Path, hours: float) -> None:
    written = NOW_NS - int(hours * HOUR_NS)
    os.utime(path, ns=(written, written))


def manifest(*paths: str) -> RunManifest:
    return bare_manifest(partitions=tuple(map(located, paths)))


def look(lake: Path, *manifests: RunManifest, hours: float = 24) -> UnusedFiles:
    return find_unused(lake, manifests, NOW_NS, hours)


def names(unused: UnusedFiles) -> list[str]:
    return [file.path for file in (*unused.partitions, *unused.temporary)]


def test_listed_partitions_stay_with_rejected_rows(tmp_path: Path) -> None:
    incomplete = f"responses/dataset=d/{OTHER}.incomplete.3.{'0' * 16}.parquet"
    for name in (f"{PLACE}/{KEPT}.parquet", f"items_rejected/dataset=d/{KEPT}.parquet", incomplete):
        put(tmp_path, name)
    gone = [put(tmp_path, f"{layer}/dataset=d/{LEFT}.parquet") for layer in ("items", "items_rejected")]
    gone.append(put(tmp_path, f"responses/dataset=d/{OTHER}.incomplete.12.{'1' * 16}.parquet"))
    found = look(tmp_path, manifest(f"{PLACE}/{KEPT}.parquet"), manifest(incomplete))
    assert names(found) == [path.relative_to(tmp_path).as_posix() for path in gone]
    assert (found.bytes, found.younger, found.folders) == (15, 0, ())
    assert [file.layer for file in found.partitions] == ["items", "items_rejected", "responses"]


def test_ratings_by_people_stay_unlisted(tmp_path: Path) -> None:
    rated = "judgements/dataset=d/model=m/setting=base/judge={}/rubric=r"
    for name in (f"{KEPT}.parquet", f"{KEPT}.incomplete.1.{'0' * 16}.parquet"):
        put(tmp_path, f"{rated.format('people')}/{name}")
    put(tmp_path, f"certificate_ratings/source=s/judge=j/rubric=r/{KEPT}.parquet")
    by_judge = put(tmp_path, f"{rated.format('j')}/{KEPT}.parquet")
    named_so = put(tmp_path, f"answers/dataset=d/model=people/setting=base/{KEPT}.parquet")
    found = look(tmp_path)
    assert names(found) == [path.relative_to(tmp_path).as_posix() for path in (named_so, by_judge)]
    assert not any("judge=people" in folder for folder in found.folders)


def test_only_files_named_as_ours_are_looked_at(tmp_path: Path) -> None:
    for name in (
        *("README.md", "items/notes.txt", f"items/{KEPT}.csv", "items/mine.parquet", f"items/{KEPT[:-1]}.parquet"),
        *(f"{KEPT}.parquet", f"journal/{KEPT}.parquet", f"embeddings/{KEPT}.parquet", f"runs/r/{KEPT}.parquet"),
        *("journal/replies.sqlite", "journal/replies.sqlite-wal", "journal/models/a.json", "runs/r/manifest.json"),
        *("items/.hidden-file.tmp", "items/.DS_Store"),
    ):
        put(tmp_path, name)
    assert (names(look(tmp_path)), look(tmp_path).folders) == ([], ())


def test_killed_writers_temporary_files_go(tmp_path: Path) -> None:
    temporary = [f"journal/models/.model-{'1' * 32}.tmp", f"runs/r/.manifest-{'2' * 32}.tmp", f".probe-{'3' * 32}"]
    for name in (*temporary, "journal/models/a.json", "runs/r/report.md"):
        put(tmp_path, name)
    found = look(tmp_path)
    assert sorted(file.path for file in found.temporary) == sorted(temporary)
    assert (found.partitions, found.folders) == ((), ())


def test_links_are_neither_followed_nor_removed(tmp_path: Path) -> None:
    outside = put(tmp_path / "elsewhere", f"{PLACE}/{LEFT}.parquet")
    lake = tmp_path / "lake"
    inside = put(lake, f"{PLACE}/{OTHER}.parquet")
    (lake / "responses").symlink_to(outside.parents[1], target_is_directory=True)
    (lake / f"{PLACE}/{LEFT}.parquet").symlink_to(outside)
    (lake / "items/loop").symlink_to(lake, target_is_directory=True)
    found = look(lake)
    assert names(found) == [inside.relative_to(lake).as_posix()]
    assert found.folders == ()


def test_emptied_folders_go_inner_first(tmp_path: Path) -> None:
    put(tmp_path, f"chunks/dataset=d/chunking=1/{LEFT}.parquet")
    put(tmp_path, f"items/dataset=d/{KEPT}.parquet")
    put(tmp_path, f"items/dataset=e/{LEFT}.parquet")
    for name, hours in (("old", 48), ("new", 1)):
        folder = tmp_path / "contexts" / f"dataset={name}"
        folder.mkdir(parents=True)
        age(folder, hours)
    (tmp_path / "journal" / "empty").mkdir(parents=True)
    age(tmp_path / "journal" / "empty", 48)
    (tmp_path / "runs").mkdir()
    age(tmp_path / "runs", 48)
    found = look(tmp_path, manifest(f"items/dataset=d/{KEPT}.parquet"))
    chunks = ["chunks/dataset=d/chunking=1", "chunks/dataset=d", "chunks"]
    assert set(found.folders) == {*chunks, "items/dataset=e", "contexts/dataset=old"}
    assert [folder for folder in found.folders if folder in chunks] == chunks


def test_holders_share_and_who_removes_is_alone(tmp_path: Path) -> None:
    with hold_alone(tmp_path) as is_free, hold_alone(tmp_path) as second_is_free:
        assert (is_free, second_is_free) == (True, False)
    with hold(tmp_path), hold(tmp_path), hold_alone(tmp_path) as is_free:
        assert not is_free


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
