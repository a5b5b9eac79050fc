from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from schemas.dataset import DatasetSpec, LocalFile, PinnedFile, SourceFile
from schemas.errors import ChecksumError
from tasks.datasets.own_items import local_dataset
from tasks.sources.locating import Locator, choose_source, needs, sources

CONTENT = b"a line of our own\n"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 18\n"


def pinned(owner: str, path: str) -> PinnedFile:
    digest = sha256(CONTENT).hexdigest()
    return PinnedFile(repository=f"github.com/{owner}/data", revision="0123456789abcdef", path=path, sha256=digest)


def spec_of(owner: str, paths: tuple[str, ...], alternative: DatasetSpec | None = None) -> DatasetSpec:
    own = local_dataset("tales", "Tales", LocalFile(path=Path("tales.csv")))
    return replace(own, files=tuple(pinned(owner, path) for path in paths), alternative=alternative)


THIRD = spec_of("third", ("c.txt",))
SECOND = spec_of("second", ("b1.txt", "b2.txt"), THIRD)
FIRST = spec_of("first", ("a1.txt", "a2.txt"), SECOND)


def fill(mirror: Path, *places: str, content: bytes = CONTENT) -> None:
    mirror.mkdir(exist_ok=True)
    for place in places:
        owner, path = place.split("/")
        target = mirror / "github.com" / owner / "data" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def test_order_of_preference() -> None:
    assert list(sources(FIRST)) == [FIRST, SECOND, THIRD]


@pytest.mark.parametrize(
    ("places", "chosen"),
    [
        (("first/a1.txt", "first/a2.txt", "second/b1.txt", "second/b2.txt", "third/c.txt"), FIRST),
        (("first/a1.txt", "second/b1.txt", "second/b2.txt", "third/c.txt"), SECOND),
        (("first/a1.txt", "second/b1.txt", "third/c.txt"), THIRD),
        (("first/a1.txt", "second/b2.txt"), FIRST),
        ((), FIRST),
    ],
)
def test_first_source_that_is_here_whole_else_the_entry(places: tuple[str, ...], chosen: DatasetSpec, tmp_path: Path) -> None:
    fill(tmp_path / "mirror", *places)
    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache")
    assert choose_source(FIRST, locator) is chosen


def test_cache_counts_as_here_and_a_download_does_not(tmp_path: Path) -> None:
    fill(tmp_path / "mirror", "third/c.txt")

    def download(url: str, target: Path) -> None:
        target.write_bytes(CONTENT if "/first/" in url else b"")

    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=download)
    assert choose_source(FIRST, locator) is THIRD
    # All files of these entries have the same content, so one download brings all of them.
    locator.locate(FIRST.files[0])
    assert choose_source(FIRST, locator) is FIRST


def test_wrong_content_is_no_silent_reason_for_another_source(tmp_path: Path) -> None:
    fill(tmp_path / "mirror", "first/a1.txt", "second/b1.txt", "second/b2.txt")
    fill(tmp_path / "mirror", "first/a2.txt", content=b"changed")
    locator = Locator(mirror=tmp_path / "mirror")
    assert choose_source(FIRST, locator) is FIRST
    with pytest.raises(ChecksumError):
        [locator.locate(file) for file in FIRST.files]
    changed = (tmp_path / "mirror" / "github.com" / "first" / "data" / "a2.txt").resolve()
    assert needs(FIRST, locator) == (f"{changed} is not the pinned file",)


def test_pointer_is_not_the_file(tmp_path: Path) -> None:
    fill(tmp_path / "mirror", "first/a1.txt", "third/c.txt")
    fill(tmp_path / "mirror", "first/a2.txt", content=POINTER)
    locator = Locator(mirror=tmp_path / "mirror")
    assert choose_source(FIRST, locator) is THIRD
    assert needs(FIRST, locator) == ()
    assert needs(replace(FIRST, alternative=None), locator) == ("a2.txt is a Git LFS pointer, not the file",)


def test_what_is_needed_names_the_files_of_every_source(tmp_path: Path) -> None:
    fill(tmp_path / "mirror", "first/a1.txt")
    assert needs(FIRST, Locator(mirror=tmp_path / "mirror")) == (
        "a2.txt is not here",
        "or github.com/second/data: b1.txt is not here",
        "or github.com/second/data: b2.txt is not here",
        "or github.com/third/data: c.txt is not here",
    )


@pytest.mark.parametrize(("files", "lines"), [(4, 4), (5, 4), (300, 4)])
def test_many_files_are_counted(files: int, lines: int) -> None:
    found = needs(spec_of("first", tuple(f"{number}.txt" for number in range(files))), Locator())
    assert len(found) == lines
    assert found[:3] == ("0.txt is not here", "1.txt is not here", "2.txt is not here")
    assert found[3] == ("3.txt is not here" if files == 4 else f"and {files - 3} more files")


def test_own_file_needs_no_repository(tmp_path: Path) -> None:
    files: tuple[SourceFile, ...] = (LocalFile(path=tmp_path / "mine.csv"),)
    entry = replace(THIRD, alternative=replace(THIRD, files=files))
    assert needs(entry, Locator()) == ("c.txt is not here", "or files of our own: mine.csv is not here")
