from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from schemas.dataset import BundledFile, DatasetSpec, LocalFile, PinnedFile, SourceFile
from schemas.errors import ChecksumError, SourceError, SourceMissingError, UsageError
from tasks.datasets.own_items import local_dataset
from tasks.sources.checksums import name_source
from tasks.sources.locating import Locator, choose_source, needs, source_sha256

CONTENT = b"a line of our own\n"
# printf 'a line of our own\n' | sha256sum
SHA256 = "634ad2a5adcdd6cddb713c2c7ed0179427c010d232a6a533043aab53e3538d1c"

# printf 'a line of our own\n' | md5sum
MD5 = "65f8e815d13d9571e0c6d938adcdd7a3"

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + SHA256.encode() + b"\nsize 18\n"


def pinned(path: str = "data/a.txt", sha: str | None = SHA256, repository: str = "github.com/someone/something") -> PinnedFile:
    return PinnedFile(repository=repository, revision="0123456789abcdef", path=path, sha256=sha)


def fill(
    folder: Path, path: str = "data/a.txt", content: bytes = CONTENT, repository: str = "github.com/someone/something"
) -> Path:
    target = folder / repository / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


class RecordingDownload:
    def __init__(self, content: bytes = CONTENT) -> None:
        self.content = content
        self.urls: list[str] = []

    def __call__(self, url: str, target: Path) -> None:
        self.urls.append(url)
        target.write_bytes(self.content)


def files_in(folder: Path) -> list[str]:
    """Names of all files but locks, which stay when they are free."""
    return [path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_mirror_comes_first(tmp_path: Path) -> None:
    mirrored = fill(tmp_path / "mirror")
    fetch = RecordingDownload()
    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=fetch)
    assert locator.locate(pinned()) == mirrored.resolve()
    assert fetch.urls == []
    assert not (tmp_path / "cache").exists()


def test_cache_is_laid_out_by_hash_and_used_without_a_mirror(tmp_path: Path) -> None:
    cached = tmp_path / SHA256[:2] / SHA256
    cached.parent.mkdir()
    cached.write_bytes(CONTENT)
    fetch = RecordingDownload()
    assert Locator(cache=tmp_path, download=fetch).locate(pinned()) == cached
    assert fetch.urls == []


def test_download_fills_the_cache_once(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    fetch = RecordingDownload()
    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=fetch)
    first, second = locator.locate(pinned("data/a b.txt")), locator.locate(pinned("data/a b.txt"))
    assert first == second == tmp_path / "cache" / SHA256[:2] / SHA256
    assert first.read_bytes() == CONTENT
    assert fetch.urls == ["https://raw.githubusercontent.com/someone/something/0123456789abcdef/data/a%20b.txt"]


def test_absent_everywhere_names_the_file_and_how_to_supply_it(tmp_path: Path) -> None:
    with pytest.raises(SourceMissingError) as caught:
        Locator(mirror=tmp_path, cache=tmp_path / "cache").locate(pinned())
    error = caught.value
    assert error.what == "data/a.txt is not here"
    assert error.where == "github.com/someone/something at 0123456789abcdef"
    assert error.next_step == "put it into a folder as github.com/someone/something/data/a.txt and pass that folder with --mirror"


def test_wrong_bytes_in_the_mirror_are_an_error_not_a_reason_to_look_further(tmp_path: Path) -> None:
    changed = fill(tmp_path / "mirror", content=b"changed")
    fetch = RecordingDownload()
    with pytest.raises(ChecksumError) as caught:
        Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=fetch).locate(pinned())
    error = caught.value
    assert error.where == str(changed)
    assert error.expected == f"sha256 {SHA256}"
    assert error.got == f"sha256 {sha256(b'changed').hexdigest()}"
    assert error.next_step is not None
    assert fetch.urls == []


def test_damaged_cache_entry_is_an_error(tmp_path: Path) -> None:
    cached = tmp_path / SHA256[:2] / SHA256
    cached.parent.mkdir()
    cached.write_bytes(CONTENT[:-1])
    with pytest.raises(ChecksumError):
        Locator(cache=tmp_path).locate(pinned())


@pytest.mark.parametrize(
    "source",
    [
        *map(pinned, ("../../../../outside.txt", "/outside.txt", "data/../../../../../outside.txt", "data/../data/a.txt")),
        pinned("outside.txt", repository="x/../.."),
    ],
)
def test_path_that_leaves_the_mirror_is_refused(tmp_path: Path, source: PinnedFile) -> None:
    fill(tmp_path / "mirror")
    (tmp_path / "outside.txt").write_bytes(CONTENT)
    with pytest.raises(SourceError, match="leaves the mirror"):
        Locator(mirror=tmp_path / "mirror").locate(source)


def test_link_out_of_the_mirror_is_refused_and_one_inside_it_followed(tmp_path: Path) -> None:
    target = fill(tmp_path / "mirror")
    (tmp_path / "outside.txt").write_bytes(CONTENT)
    (target.parent / "out.txt").symlink_to(tmp_path / "outside.txt")
    (target.parent / "in.txt").symlink_to(target)
    locator = Locator(mirror=tmp_path / "mirror")
    with pytest.raises(SourceError, match="leaves the mirror") as caught:
        locator.locate(pinned("data/out.txt"))
    assert caught.value.got == str((tmp_path / "outside.txt").resolve())
    assert locator.locate(pinned("data/in.txt")) == target.resolve()


def test_mirror_may_itself_be_a_link(tmp_path: Path) -> None:
    target = fill(tmp_path / "mirror")
    (tmp_path / "link").symlink_to(tmp_path / "mirror")
    assert Locator(mirror=tmp_path / "link").locate(pinned()) == target.resolve()


def test_mirror_that_is_no_folder_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the mirror is not a folder") as caught:
        Locator(mirror=tmp_path / "typo").locate(pinned())
    assert "--mirror" in str(caught.value.next_step)


def test_download_without_a_cache_cannot_be_configured() -> None:
    with pytest.raises(ValueError, match="cache"):
        Locator(download=RecordingDownload())


def test_bundled_file_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(SourceMissingError, match=r"a\.jsonl is not here") as caught:
        Locator(bundled=tmp_path).locate(BundledFile(name="a.jsonl"))
    assert "install the package again" in str(caught.value.next_step)


def test_local_file_is_taken_as_given_and_verified_if_it_has_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(CONTENT)
    assert Locator().locate(LocalFile(path=path)) == path
    assert Locator().locate(LocalFile(path=path, sha256=SHA256)) == path
    with pytest.raises(ChecksumError):
        Locator().locate(LocalFile(path=path, sha256="0" * 64))
    with pytest.raises(SourceMissingError, match=r"other\.csv is not here"):
        Locator().locate(LocalFile(path=tmp_path / "other.csv"))


def test_source_names_hold_no_path_of_this_machine(tmp_path: Path) -> None:
    sources = (pinned(), BundledFile(name="a.jsonl"), LocalFile(path=tmp_path / "mine.csv"))
    assert [name_source(source) for source in sources] == ["data/a.txt", "a.jsonl", "mine.csv"]


def test_source_hashes_need_only_the_files_that_are_not_pinned(tmp_path: Path) -> None:
    bundled, local = tmp_path / "a.jsonl", tmp_path / "mine.csv"
    bundled.write_bytes(CONTENT)
    local.write_bytes(b"")
    # sha256 of nothing, as in FIPS 180-4 test vectors
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    files: list[SourceFile] = [pinned("absent.txt", sha="1" * 64), BundledFile(name="a.jsonl"), LocalFile(path=local)]
    assert source_sha256(files, Locator(bundled=tmp_path)) == ("1" * 64, SHA256, nothing)
    with pytest.raises(SourceMissingError):
        source_sha256([LocalFile(path=tmp_path / "gone.csv")], Locator())


def test_hash_of_a_file_that_only_its_revision_pins_is_that_of_what_is_here(tmp_path: Path) -> None:
    (tmp_path / "mirror").mkdir()
    fetch, free = RecordingDownload(), pinned(sha=None)
    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=fetch)
    with pytest.raises(SourceMissingError, match=r"data/a\.txt is not here"):
        source_sha256([free], locator)
    assert fetch.urls == []
    locator.fetch_unpinned([free, pinned("data/b.txt")])
    assert len(fetch.urls) == 1
    assert source_sha256([free], locator) == (SHA256,)
    # The mirror comes first, here too: sha256 of nothing.
    fill(tmp_path / "mirror", content=b"")
    assert source_sha256([free], locator)[0].startswith("e3b0c44298fc1c14")


def test_file_that_only_its_revision_pins_is_kept_by_its_name_and_guarded_by_its_hash(tmp_path: Path) -> None:
    fetch = RecordingDownload()
    locator = Locator(cache=tmp_path, download=fetch)
    kept = locator.locate(pinned(sha=None))
    assert (kept.read_bytes(), kept.name, kept.parents[1]) == (CONTENT, SHA256, tmp_path / "unpinned")
    assert locator.locate(pinned(sha=None)) == kept
    other = pinned("data/b.txt", sha=None)
    later = pinned(sha=None).model_copy(update={"revision": "fedcba9876543210"})
    assert len({kept, locator.locate(other), locator.locate(later)}) == 3
    assert len(fetch.urls) == 3
    kept.write_bytes(b"changed")
    with pytest.raises(ChecksumError):
        locator.locate(pinned(sha=None))


def by_md5(md5: str = MD5) -> PinnedFile:
    return pinned(sha=None).model_copy(update={"md5": md5})


def test_a_file_without_sha256_is_checked_against_its_md5_in_the_mirror(tmp_path: Path) -> None:
    path = fill(tmp_path)
    assert Locator(mirror=tmp_path).locate(by_md5()) == path.resolve()
    path.write_bytes(b"another line\n")
    with pytest.raises(ChecksumError) as caught:
        Locator(mirror=tmp_path).locate(by_md5())
    error = caught.value
    # printf 'another line\n' | md5sum
    assert (error.expected, error.got) == (f"md5 {MD5}", "md5 103e86e4b4cf47c92557b9361444c960")
    assert (error.what, error.where) == (f"{path.resolve()} is not the pinned file", str(path.resolve()))
    assert Locator(mirror=tmp_path).needs([by_md5()]) == (error.what,)


def test_a_download_is_checked_against_its_md5_and_is_kept_only_if_it_agrees(tmp_path: Path) -> None:
    wrong = Locator(cache=tmp_path, download=RecordingDownload(content=b"an error page"))
    with pytest.raises(ChecksumError) as caught:
        wrong.locate(by_md5())
    assert caught.value.expected == f"md5 {MD5}"
    assert files_in(tmp_path) == []
    right = Locator(cache=tmp_path, download=RecordingDownload())
    assert right.locate(by_md5()).read_bytes() == CONTENT
    assert right.find_file(by_md5()) == right.locate(by_md5())
    # The entry names another content now: what an earlier one kept is not it.
    with pytest.raises(ChecksumError):
        right.locate(by_md5("1" * 32))


def test_sha256_decides_where_both_hashes_are_given_and_is_the_fingerprint_where_md5_pins(tmp_path: Path) -> None:
    path = fill(tmp_path)
    locator = Locator(mirror=tmp_path)
    assert locator.locate(pinned().model_copy(update={"md5": "1" * 32})) == path.resolve()
    assert source_sha256([by_md5()], locator) == (SHA256,)


def test_pointer_in_the_mirror_is_named_as_one(tmp_path: Path) -> None:
    path = fill(tmp_path / "mirror", content=POINTER)
    fetch = RecordingDownload()
    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=fetch)
    for source in (pinned(), pinned(sha=None)):
        with pytest.raises(SourceMissingError) as caught:
            locator.locate(source)
        assert (caught.value.what, caught.value.where) == ("data/a.txt is a Git LFS pointer, not the file", str(path))
        assert "git lfs pull" in str(caught.value.next_step)
        assert locator.needs([source]) == ("data/a.txt is a Git LFS pointer, not the file",)
        assert not locator.holds(source)
    assert fetch.urls == []


def test_presence_is_not_content(tmp_path: Path) -> None:
    fill(tmp_path / "mirror", content=b"changed")
    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", bundled=tmp_path)
    assert locator.holds(pinned())
    assert not locator.holds(pinned("data/b.txt"))
    assert not locator.holds(pinned("data/b.txt", sha=None))
    assert not locator.holds(BundledFile(name="a.jsonl"))
    assert locator.holds(LocalFile(path=tmp_path / "mirror" / "github.com" / "someone" / "something" / "data" / "a.txt"))
    Locator(cache=tmp_path / "cache", download=RecordingDownload()).locate(pinned("data/b.txt", sha=None))
    assert locator.holds(pinned("data/b.txt", sha=None))


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
def test_first_source_that_is_here_whole_else_the_entry(places: tuple[str, ...], chosen: DatasetSpec, tmp_path: Path) -> None:
    fill_places(tmp_path, *places)
    locator = Locator(mirror=tmp_path, cache=tmp_path / "cache")
    assert choose_source(FIRST, locator) is chosen


def test_cache_counts_as_here_and_a_download_does_not(tmp_path: Path) -> None:
    fill_places(tmp_path / "mirror", "third/c.txt")

    def download(url: str, target: Path) -> None:
        target.write_bytes(CONTENT if "/first/" in url else b"")

    locator = Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=download)
    assert choose_source(FIRST, locator) is THIRD
    # All files of these entries have the same content, so one download brings all of them.
    locator.locate(FIRST.files[0])
    assert choose_source(FIRST, locator) is FIRST


def test_wrong_content_is_no_silent_reason_for_another_source(tmp_path: Path) -> None:
    fill_places(tmp_path / "mirror", "first/a1.txt", "second/b1.txt", "second/b2.txt")
    fill_places(tmp_path / "mirror", "first/a2.txt", content=b"changed")
    locator = Locator(mirror=tmp_path / "mirror")
    assert choose_source(FIRST, locator) is FIRST
    with pytest.raises(ChecksumError):
        [locator.locate(file) for file in FIRST.files]
    changed = (tmp_path / "mirror" / "github.com" / "first" / "data" / "a2.txt").resolve()
    assert needs(FIRST, locator) == (f"{changed} is not the pinned file",)


def test_pointer_is_not_the_file(tmp_path: Path) -> None:
    fill_places(tmp_path / "mirror", "first/a1.txt", "third/c.txt")
    fill_places(tmp_path / "mirror", "first/a2.txt", content=POINTER)
    locator = Locator(mirror=tmp_path / "mirror")
    assert choose_source(FIRST, locator) is THIRD
    assert needs(FIRST, locator) == ()
    assert needs(replace(FIRST, alternative=None), locator) == ("a2.txt is a Git LFS pointer, not the file",)


def test_what_is_needed_names_the_files_of_every_source(tmp_path: Path) -> None:
    fill_places(tmp_path / "mirror", "first/a1.txt")
    fetch = RecordingDownload()
    assert needs(FIRST, Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache", download=fetch)) == (
        "a2.txt is not here",
        "or github.com/second/data: b1.txt is not here",
        "or github.com/second/data: b2.txt is not here",
        "or github.com/third/data: c.txt is not here",
    )
    assert fetch.urls == []


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
