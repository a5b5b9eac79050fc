from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from schemas.dataset import BundledFile, DatasetSpec, LocalFile, PinnedFile, SourceFile
from schemas.errors import ChecksumError, SourceError, SourceMissingError
from tasks.datasets.own_items import local_dataset
from tasks.sources.files import name_source
from tasks.sources.locating import Locator, choose_source, needs, source_sha256

CONTENT = b"a line of our own\n"
# printf 'a line of our own\n' | sha256sum
SHA256 = "634ad2a5adcdd6cddb713c2c7ed0179427c010d232a6a533043aab53e3538d1c"

# printf 'a line of our own\n' | md5sum
MD5 = "65f8e815d13d9571e0c6d938adcdd7a3"

# sha256 of nothing, as in FIPS 180-4 test vectors
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + SHA256.encode() + b"\nsize 18\n"


REPOSITORY = "github.com/someone/something"


def pinned(path: str = "data/a.txt", sha: str | None = SHA256, repository: str = REPOSITORY, **more: str) -> PinnedFile:
    return PinnedFile(repository=repository, revision="0123456789abcdef", path=path, sha256=sha).model_copy(update=more)


def fill(folder: Path, path: str = "data/a.txt", content: bytes = CONTENT, repository: str = REPOSITORY) -> Path:
    target = folder / repository / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


BY_MD5 = pinned(sha=None, md5=MD5)


class Download:
    """Gives every address the same content."""

    def __init__(self, content: bytes = CONTENT) -> None:
        self.content = content
        self.urls: list[str] = []

    def __call__(self, url: str, target: Path) -> None:
        self.urls.append(url)
        target.write_bytes(self.content)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    (tmp_path / "mirror").mkdir()
    return tmp_path / "mirror"


@pytest.fixture
def download() -> Download:
    return Download()


@pytest.fixture
def locator(tmp_path: Path, mirror: Path, download: Download) -> Locator:
    """An empty mirror, an empty cache and a download."""
    return Locator(mirror=mirror, cache=tmp_path / "cache", download=download)


def test_mirror_comes_first(tmp_path: Path, mirror: Path, locator: Locator, download: Download) -> None:
    path = fill(mirror)
    assert locator.locate(pinned()) == path.resolve()
    assert download.urls == []
    assert not (tmp_path / "cache").exists()


def test_wrong_bytes_in_the_mirror_are_an_error(mirror: Path, locator: Locator, download: Download) -> None:
    changed = fill(mirror, content=b"changed")
    with pytest.raises(ChecksumError) as caught:
        locator.locate(pinned())
    error = caught.value
    assert (error.what, error.where) == (f"{changed} is not the pinned file", str(changed))
    assert (error.expected, error.got) == (f"sha256 {SHA256}", f"sha256 {sha256(b'changed').hexdigest()}")
    assert error.next_step is not None
    assert download.urls == []


@pytest.mark.parametrize("sha", [SHA256, None])
def test_damaged_cache_entry_is_an_error(locator: Locator, sha: str | None) -> None:
    locator.locate(pinned(sha=sha)).write_bytes(CONTENT[:-1])
    with pytest.raises(ChecksumError):
        locator.locate(pinned(sha=sha))


@pytest.mark.parametrize(
    "source",
    [
        *map(pinned, ("../../../../outside.txt", "/outside.txt", "data/../../../../../outside.txt", "data/../data/a.txt")),
        pinned("outside.txt", repository="x/../.."),
    ],
)
def test_path_that_leaves_the_mirror_is_refused(tmp_path: Path, mirror: Path, source: PinnedFile) -> None:
    fill(mirror)
    (tmp_path / "outside.txt").write_bytes(CONTENT)
    with pytest.raises(SourceError, match="leads out of the mirror"):
        Locator(mirror=mirror).locate(source)


def test_links_within_the_mirror_alone_are_followed(tmp_path: Path, mirror: Path) -> None:
    target = fill(mirror)
    (tmp_path / "outside.txt").write_bytes(CONTENT)
    (target.parent / "out.txt").symlink_to(tmp_path / "outside.txt")
    (target.parent / "in.txt").symlink_to(target)
    (tmp_path / "link").symlink_to(mirror)
    locator = Locator(mirror=tmp_path / "link")
    with pytest.raises(SourceError, match="leads out of the mirror") as caught:
        locator.locate(pinned("data/out.txt"))
    assert caught.value.got == str((tmp_path / "outside.txt").resolve())
    assert locator.locate(pinned("data/in.txt")) == target.resolve()


def test_bundled_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(SourceMissingError, match=r"a\.jsonl was not found") as caught:
        Locator(bundled=tmp_path).locate(BundledFile(name="a.jsonl"))
    assert "install the package again" in str(caught.value.next_step)


def test_local_file_is_verified_if_it_has_hash(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(CONTENT)
    assert Locator().locate(LocalFile(path=path)) == path == Locator().locate(LocalFile(path=path, sha256=SHA256))
    with pytest.raises(ChecksumError):
        Locator().locate(LocalFile(path=path, sha256="0" * 64))
    with pytest.raises(SourceMissingError, match=r"other\.csv was not found"):
        Locator().locate(LocalFile(path=tmp_path / "other.csv"))


def test_source_names_hold_no_path_of_this_machine(tmp_path: Path) -> None:
    sources = (pinned(), BundledFile(name="a.jsonl"), LocalFile(path=tmp_path / "mine.csv"))
    assert [name_source(source) for source in sources] == ["data/a.txt", "a.jsonl", "mine.csv"]


def test_source_hashes_need_only_unpinned_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(CONTENT)
    (tmp_path / "mine.csv").write_bytes(b"")
    local = LocalFile(path=tmp_path / "mine.csv")
    files: list[SourceFile] = [pinned("absent.txt", sha="1" * 64), BundledFile(name="a.jsonl"), local]
    assert source_sha256(files, Locator(bundled=tmp_path)) == ("1" * 64, SHA256, NOTHING)
    with pytest.raises(SourceMissingError):
        source_sha256([LocalFile(path=tmp_path / "gone.csv")], Locator())


def test_unpinned_file_has_the_hash_of_its_content(mirror: Path, locator: Locator, download: Download) -> None:
    free = pinned(sha=None)
    with pytest.raises(SourceMissingError, match=r"data/a\.txt was not found"):
        source_sha256([free], locator)
    assert download.urls == []
    locator.fetch_unpinned([free, pinned("data/b.txt")])
    assert len(download.urls) == 1
    assert source_sha256([free], locator) == (SHA256,)
    fill(mirror, content=b"")  # which comes first, here too
    assert source_sha256([free], locator) == (NOTHING,)


def test_unpinned_files_are_kept_by_path_and_revision(tmp_path: Path, locator: Locator, download: Download) -> None:
    kept = locator.locate(pinned(sha=None))
    assert (kept.read_bytes(), kept.name, kept.parents[1]) == (CONTENT, SHA256, tmp_path / "cache" / "unpinned")
    assert locator.locate(pinned(sha=None)) == kept
    others = (pinned("data/b.txt", sha=None), pinned(sha=None, revision="fedcba9876543210"))
    assert len({kept, *map(locator.locate, others)}) == len(download.urls) == 3


def test_md5_is_checked_in_the_mirror(tmp_path: Path) -> None:
    path, locator = fill(tmp_path), Locator(mirror=tmp_path)
    assert locator.locate(BY_MD5) == path.resolve()
    assert source_sha256([BY_MD5], locator) == (SHA256,)
    # Where both hashes are given, sha256 decides.
    assert locator.locate(pinned(md5="1" * 32)) == path.resolve()
    path.write_bytes(b"another line\n")
    with pytest.raises(ChecksumError) as caught:
        locator.locate(BY_MD5)
    # printf 'another line\n' | md5sum
    assert (caught.value.expected, caught.value.got) == (f"md5 {MD5}", "md5 103e86e4b4cf47c92557b9361444c960")
    assert locator.needs([BY_MD5]) == (caught.value.what,)


def test_file_kept_by_another_md5_is_refused(locator: Locator) -> None:
    assert locator.find_file(BY_MD5) is None
    assert locator.locate(BY_MD5) == locator.find_file(BY_MD5)
    with pytest.raises(ChecksumError):
        locator.locate(pinned(sha=None, md5="1" * 32))


@pytest.mark.parametrize("source", [pinned(), pinned(sha=None)])
def test_pointer_in_the_mirror_is_not_the_file(mirror: Path, locator: Locator, download: Download, source: PinnedFile) -> None:
    path = fill(mirror, content=POINTER)
    with pytest.raises(SourceMissingError) as caught:
        locator.locate(source)
    assert (caught.value.what, caught.value.where) == ("data/a.txt is a Git LFS pointer, not the file", str(path))
    assert "git lfs pull" in str(caught.value.next_step)
    assert locator.needs([source]) == (caught.value.what,)
    assert not locator.holds(source)
    assert download.urls == []


def test_presence_is_not_content(tmp_path: Path, mirror: Path) -> None:
    path = fill(mirror, content=b"changed")
    locator = Locator(mirror=mirror, cache=tmp_path / "cache", bundled=tmp_path)
    absent = (pinned("data/b.txt"), pinned("data/b.txt", sha=None), BundledFile(name="a.jsonl"))
    assert [locator.holds(source) for source in (pinned(), LocalFile(path=path), *absent)] == [True, True, False, False, False]
    Locator(cache=tmp_path / "cache", download=Download()).locate(absent[1])
    assert locator.holds(absent[1])


def spec_of(owner: str, paths: tuple[str, ...], alternative: DatasetSpec | None = None) -> DatasetSpec:
    own = local_dataset("tales", "Tales", LocalFile(path=Path("tales.csv")))
    files = tuple(pinned(path, repository=f"github.com/{owner}/data") for path in paths)
    return replace(own, files=files, alternative=alternative)


THIRD = spec_of("third", ("c.txt",))
SECOND = spec_of("second", ("b1.txt", "b2.txt"), THIRD)
FIRST = spec_of("first", ("a1.txt", "a2.txt"), SECOND)


def fill_places(mirror: Path, *places: str, content: bytes = CONTENT) -> None:
    """Files named `owner/path`."""
    for owner, path in (place.split("/") for place in places):
        fill(mirror, path, content, repository=f"github.com/{owner}/data")


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
def test_first_whole_source_is_chosen(places: tuple[str, ...], chosen: DatasetSpec, mirror: Path, locator: Locator) -> None:
    fill_places(mirror, *places)
    assert choose_source(FIRST, locator) is chosen


def test_wrong_content_is_no_reason_for_another_source(mirror: Path, locator: Locator) -> None:
    fill_places(mirror, "first/a1.txt", "second/b1.txt", "second/b2.txt")
    fill_places(mirror, "first/a2.txt", content=b"changed")
    assert choose_source(FIRST, locator) is FIRST
    changed = (mirror / "github.com" / "first" / "data" / "a2.txt").resolve()
    assert needs(FIRST, locator) == (f"{changed} is not the pinned file",)


def test_pointer_is_a_reason_for_another_source(mirror: Path, locator: Locator) -> None:
    fill_places(mirror, "first/a1.txt", "third/c.txt")
    fill_places(mirror, "first/a2.txt", content=POINTER)
    assert choose_source(FIRST, locator) is THIRD
    assert needs(FIRST, locator) == ()
    assert needs(replace(FIRST, alternative=None), locator) == ("a2.txt is a Git LFS pointer, not the file",)


def test_files_of_every_source_are_named(mirror: Path, locator: Locator, download: Download) -> None:
    fill_places(mirror, "first/a1.txt")
    assert needs(FIRST, locator) == (
        "a2.txt was not found",
        "or github.com/second/data: b1.txt was not found",
        "or github.com/second/data: b2.txt was not found",
        "or github.com/third/data: c.txt was not found",
    )
    assert download.urls == []


@pytest.mark.parametrize(("files", "last"), [(4, "3.txt was not found"), (5, "and 2 more files"), (300, "and 297 more files")])
def test_many_files_are_counted(files: int, last: str) -> None:
    found = needs(spec_of("first", tuple(f"{number}.txt" for number in range(files))), Locator())
    assert found == ("0.txt was not found", "1.txt was not found", "2.txt was not found", last)


def test_own_file_needs_no_repository(tmp_path: Path) -> None:
    files: tuple[SourceFile, ...] = (LocalFile(path=tmp_path / "mine.csv"),)
    entry = replace(THIRD, alternative=replace(THIRD, files=files))
    assert needs(entry, Locator()) == ("c.txt was not found", "or files of our own: mine.csv was not found")
