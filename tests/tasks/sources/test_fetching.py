import io
import os
import signal
import stat
import subprocess
import sys
import tarfile
import time
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Literal

import pytest

from schemas.dataset import PinnedFile
from schemas.errors import ChecksumError, SourceError, SourceMissingError
from tasks.sources import fetching
from tasks.sources.downloading import HttpsDownload
from tasks.sources.fetching import Addresses, extract_member
from tasks.sources.files import name_source
from tasks.sources.locating import Locator, source_sha256
from tests.tasks.sources.file_server import FileServer

BODY = bytes(range(256)) * 4000
HALF = len(BODY) // 2
SHA256 = sha256(BODY).hexdigest()
PATH = "/someone/something/0123456789abcdef/data/a.bin"
LFS = f"/media{PATH}"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA256}\nsize {len(BODY)}\n".encode()


def pinned(
    sha: str | None = SHA256, host: str = "github.com", revision: str = "0123456789abcdef", path: str = "data/a.bin"
) -> PinnedFile:
    return PinnedFile(repository=f"{host}/someone/something", revision=revision, path=path, sha256=sha)


def locator_of(server: FileServer, cache: Path) -> Locator:
    addresses = Addresses(github=server.url, github_lfs=f"{server.url}/media", hugging_face=f"{server.url}/datasets")
    download = HttpsDownload(sleep=lambda _seconds: None, loopback=True)
    return Locator(cache=cache, download=download, addresses=addresses)


def left_in(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "incoming").iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize("sha", [SHA256, None])
def test_cut_download_enters_the_cache_whole(sha: str | None, tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, ["cut", "503", "ok"]) as server:
        assert locator_of(server, tmp_path).locate(pinned(sha)).read_bytes() == BODY
    assert server.spans == [None, f"bytes={HALF}-", f"bytes={HALF}-"]
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("fault", ["wrong", "shorter"])
def test_wrong_content_is_removed(fault: str, tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, [fault, "ok"]) as server:
        here = locator_of(server, tmp_path)
        with pytest.raises(ChecksumError) as caught:
            here.locate(pinned())
        assert left_in(tmp_path) == []
        assert here.find_file(pinned()) is None
        # The next call starts from the beginning.
        assert here.locate(pinned()).read_bytes() == BODY
    assert (caught.value.where, caught.value.expected) == (f"{server.url}{PATH}", f"sha256 {SHA256}")
    assert "what came was removed" in str(caught.value.next_step)
    assert server.spans == [None, None]


@pytest.mark.parametrize(("fault", "got"), [("404", "HTTP 404"), ("403", "gated"), ("500", "attempt 5 was the last")])
def test_failed_download_says_how_to_supply_the_file(fault: str, got: str, tmp_path: Path) -> None:
    with FileServer({}, [fault]) as server, pytest.raises(SourceMissingError, match=r"data/a\.bin was not found") as caught:
        locator_of(server, tmp_path).locate(pinned())
    assert got in str(caught.value.got)
    assert f"{server.url}{PATH}" in str(caught.value.got)
    assert "as github.com/someone/something/data/a.bin and pass that folder with --mirror" in str(caught.value.next_step)


@pytest.mark.parametrize("sha", [SHA256, None])
def test_pointer_is_followed(sha: str | None, tmp_path: Path) -> None:
    with FileServer({PATH: POINTER, LFS: BODY}, ["ok", "cut", "ok"]) as server:
        assert locator_of(server, tmp_path).locate(pinned(sha)).read_bytes() == BODY
    asked = [(request.path, request.span) for request in server.requests]
    assert asked == [(PATH, None), (LFS, None), (LFS, f"bytes={HALF}-")]
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    ("sha", "content", "error", "message", "requests"),
    [
        # Even where nothing is pinned, it must be what the pointer names.
        (None, bytes(len(BODY)), ChecksumError, f"expected: sha256 {SHA256}", 2),
        ("1" * 64, BODY, ChecksumError, f"got: sha256 {SHA256} (in the Git LFS pointer)", 1),
        (None, POINTER, SourceMissingError, "is a Git LFS pointer, not the file", 2),
    ],
)
def test_pointer_to_something_else_is_refused(
    sha: str | None, content: bytes, error: type[SourceError], message: str, requests: int, tmp_path: Path
) -> None:
    with FileServer({PATH: POINTER, LFS: content}) as server, pytest.raises(error) as caught:
        locator_of(server, tmp_path).locate(pinned(sha))
    assert message in str(caught.value)
    assert len(server.requests) == requests
    assert left_in(tmp_path) == []


def test_hugging_face_resolves_pointers_itself(tmp_path: Path) -> None:
    path = "/datasets/someone/something/resolve/0123456789abcdef/data/a.bin"
    with FileServer({path: BODY}, ["moved", "ok"]) as server:
        assert locator_of(server, tmp_path).locate(pinned(host="huggingface.co")).read_bytes() == BODY
    with FileServer({path: POINTER}) as server, pytest.raises(SourceMissingError, match="is a Git LFS pointer"):
        locator_of(server, tmp_path / "other").locate(pinned(host="huggingface.co"))
    assert len(server.requests) == 1


PROCESS = """
import sys
from pathlib import Path
from tasks.sources.downloading import HttpsDownload
from tasks.sources.fetching import Addresses
from tasks.sources.locating import Locator
from tests.tasks.sources.test_fetching import pinned
download, addresses = HttpsDownload(loopback=True), Addresses(github=sys.argv[1])
print(Locator(cache=Path(sys.argv[2]), download=download, addresses=addresses).locate(pinned()))
"""


def start(server: FileServer, cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROCESS, server.url, str(cache)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])


def test_processes_share_one_download(tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, on_request=lambda: time.sleep(1)) as server:
        processes = [start(server, tmp_path) for _ in range(2)]
        outputs = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert outputs == {str(tmp_path / SHA256[:2] / SHA256)}
    assert len(server.requests) == 1
    assert left_in(tmp_path) == []


def test_killed_download_is_resumed_and_unlocked(tmp_path: Path) -> None:
    part = tmp_path / "incoming" / f"incoming-{SHA256}.part"
    with FileServer({PATH: BODY}, ["half_then_wait", "ok"]) as server:
        process = start(server, tmp_path)
        deadline = time.monotonic() + 60
        # A buffer of the process may hold the last bytes that came.
        while not (part.is_file() and part.stat().st_size > HALF - 64 * 1024):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kept = part.stat().st_size
        assert locator_of(server, tmp_path).locate(pinned()).read_bytes() == BODY
    assert server.spans == [None, f"bytes={kept}-"]
    assert left_in(tmp_path) == []


GITHUB, HUGGING_FACE = "someone/something/0123456789abcdef", "https://huggingface.co/datasets/someone/something/resolve"
SPACED = pinned(path="data/a b#1.csv")


@pytest.mark.parametrize(
    ("source", "url"),
    [
        (SPACED, f"https://raw.githubusercontent.com/{GITHUB}/data/a%20b%231.csv"),
        (pinned(host="huggingface.co", path=SPACED.path), f"{HUGGING_FACE}/0123456789abcdef/data/a%20b%231.csv"),
        (pinned(host="huggingface.co", revision="refs/abc", path="茶.csv"), f"{HUGGING_FACE}/refs%2Fabc/%E8%8C%B6.csv"),
    ],
)
def test_address_at_the_pinned_revision(source: PinnedFile, url: str) -> None:
    assert Addresses().of(source) == url


def test_only_known_hosts_have_an_address() -> None:
    with pytest.raises(SourceMissingError, match=r"data/a\.bin cannot be downloaded") as caught:
        Addresses().of(pinned(host="example.org"))
    assert caught.value.expected == "a repository on github.com or a dataset on huggingface.co"
    assert "--mirror" in str(caught.value.next_step)


CONTENT = b"id,text\n1,a line of our own\n"
Mode = Literal["w", "w:gz", "w:xz", "w:bz2"]
MODES: dict[str, Mode] = {"tar": "w", "tar.gz": "w:gz", "tar.xz": "w:xz", "tar.bz2": "w:bz2"}
each_kind = pytest.mark.parametrize("kind", ["zip", *MODES])


def pack(path: Path, kind: str, *members: tuple[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members:
                archive.writestr(name, content)
        return path
    with tarfile.open(path, MODES[kind]) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def refusal(archive: Path, member: str) -> SourceError:
    with pytest.raises(SourceError, match="cannot be extracted from its archive") as caught:
        extract_member(archive, member, archive.parent / "out")
    assert caught.value.where == f"{archive}, member {member}"
    return caught.value


@each_kind
@pytest.mark.parametrize("name", ["data/a.csv", "./data/a.csv"])
def test_one_member_is_taken_out(kind: str, name: str, tmp_path: Path) -> None:
    others = [("data/b.csv", b"other"), ("a.csv", b"another"), ("../data/a.csv", b"outside"), ("/data/a.csv", b"root")]
    # The kind shows in the content; files of the cache have no suffix.
    extract_member(pack(tmp_path / "archive", kind, (name, CONTENT), *others), "data/a.csv", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "out"]


@each_kind
def test_there_must_be_one_such_member(kind: str, tmp_path: Path) -> None:
    archive = pack(tmp_path / "archive", kind, ("a.csv", b"one"), ("./a.csv", b"two"))
    assert refusal(archive, "a.csv").got == "2 members of this name"
    assert refusal(archive, "b.csv").got == "0 members of this name"


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_tar_member_that_is_no_regular_file(kind: bytes, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "archive", "w") as tar:
        inside = tarfile.TarInfo("b.csv")
        inside.size = len(CONTENT)
        tar.addfile(inside, io.BytesIO(CONTENT))
        info = tarfile.TarInfo("a.csv")
        info.type, info.linkname = kind, "b.csv"
        tar.addfile(info)
    assert refusal(tmp_path / "archive", "a.csv").got == "a folder, a link or a device"


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_zip_member_that_is_no_regular_file(kind: int, tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a.csv")
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "archive", "w") as archive:
        archive.writestr(info, "/etc/passwd")
        archive.mkdir("folder")
    assert refusal(tmp_path / "archive", "a.csv").got == "a folder, a link or a device"
    assert refusal(tmp_path / "archive", "folder").got == "a folder, a link or a device"


@each_kind
def test_unpacked_size_has_a_limit(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "LARGEST_BYTES", 2_999_999)
    archive = pack(tmp_path / "archive", kind, ("bomb.csv", bytes(3_000_000)), ("small.csv", bytes(2_999_999)))
    error = refusal(archive, "bomb.csv")
    assert (error.expected, error.got) == ("at most 2999999 bytes", "3000000 bytes unpacked")
    assert not (tmp_path / "out").exists()
    extract_member(archive, "small.csv", tmp_path / "out")
    assert (tmp_path / "out").stat().st_size == 2_999_999


def test_zip_that_states_too_small_a_size(tmp_path: Path) -> None:
    archive = pack(tmp_path / "archive", "zip", ("bomb.csv", bytes(3_000_000)))
    content = archive.read_bytes()
    # The size stands little-endian in the local header and in the central directory: 3,000,000 = 0x2DC6C0.
    assert content.count(b"\xc0\xc6\x2d\x00") == 2
    archive.write_bytes(content.replace(b"\xc0\xc6\x2d\x00", b"\x64\x00\x00\x00"))
    assert "BadZipFile" in str(refusal(archive, "bomb.csv").got)
    assert (tmp_path / "out").stat().st_size <= 100


def test_tar_too_large_to_look_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "LARGEST_TAR_BYTES", 1_000_000)
    archive = pack(tmp_path / "archive", "tar.gz", ("bomb", bytes(2_000_000)), ("a.csv", CONTENT))
    assert "more than 1000000 bytes" in str(refusal(archive, "a.csv").got)


@each_kind
@pytest.mark.parametrize("keep", [0.0, 0.4, 0.8])
def test_archive_cut_short(kind: str, keep: float, tmp_path: Path) -> None:
    noise = b"".join(sha256(bytes([number])).digest() for number in range(256)) * 20
    content = pack(tmp_path / "archive", kind, ("a.csv", noise)).read_bytes()
    (tmp_path / "archive").write_bytes(content[: int(len(content) * keep)])
    error = refusal(tmp_path / "archive", "a.csv")
    assert (error.expected, error.next_step) == ("a complete zip or tar archive without a password", "download the archive again")


def fill(mirror: Path, kind: str = "zip", content: bytes = CONTENT) -> Path:
    return pack(mirror / "github.com" / "someone" / "something" / "data.zip", kind, ("a.csv", content), ("b.csv", b"other"))


def member_of(archive: Path | None, member: str = "a.csv") -> PinnedFile:
    pin = archive and sha256(archive.read_bytes()).hexdigest()
    repository = "github.com/someone/something"
    return PinnedFile(repository=repository, revision="0123456789abcdef", path="data.zip", sha256=pin, member=member)


@pytest.fixture
def locator(tmp_path: Path) -> Locator:
    return Locator(mirror=tmp_path / "mirror", cache=tmp_path / "cache")


@pytest.mark.parametrize("is_pinned", [True, False])
def test_member_is_kept_by_hash_of_its_archive(is_pinned: bool, tmp_path: Path, locator: Locator) -> None:
    archive = fill(tmp_path / "mirror")
    source = member_of(archive if is_pinned else None)
    path = locator.locate(source)
    assert (path.read_bytes(), path.name) == (CONTENT, sha256(CONTENT).hexdigest())
    assert locator.locate(source) == path
    assert locator.locate(member_of(archive, "b.csv")).read_bytes() == b"other"
    assert {found.suffix for found in (tmp_path / "cache" / "incoming").iterdir()} == {".lock"}
    path.write_bytes(b"changed")
    with pytest.raises(ChecksumError):
        locator.locate(source)


def test_members_of_one_archive(tmp_path: Path, locator: Locator) -> None:
    archive = fill(tmp_path / "mirror")
    sources = [member_of(archive, "a.csv"), member_of(archive, "b.csv")]
    assert [name_source(source) for source in sources] == ["data.zip/a.csv", "data.zip/b.csv"]
    # sha256 of the archive's hash, a zero byte and the member's path
    pin = str(sources[0].sha256).encode()
    assert source_sha256(sources, Locator()) == tuple(sha256(pin + b"\0" + name).hexdigest() for name in (b"a.csv", b"b.csv"))
    # What is needed is the archive, once; asking unpacks nothing.
    assert Locator().needs(sources) == ("data.zip was not found",)
    assert locator.needs(sources) == ()
    assert not (tmp_path / "cache").exists()


def test_failed_extraction_leaves_nothing(tmp_path: Path, locator: Locator) -> None:
    source = member_of(fill(tmp_path / "mirror"), "gone.csv")
    with pytest.raises(SourceError, match=r"gone\.csv cannot be extracted from its archive"):
        locator.locate(source)
    assert [path.suffix for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [".lock"]
