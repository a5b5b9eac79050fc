import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import pytest

from schemas.dataset import PinnedFile
from schemas.errors import ChecksumError, SourceError, SourceMissingError
from tasks.sources.downloading import HttpsDownload
from tasks.sources.fetching import Addresses
from tasks.sources.locating import Locator
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


def locator(server: FileServer, cache: Path) -> Locator:
    addresses = Addresses(github=server.url, github_lfs=f"{server.url}/media", hugging_face=f"{server.url}/datasets")
    download = HttpsDownload(sleep=lambda _seconds: None, loopback=True)
    return Locator(cache=cache, download=download, addresses=addresses)


def left_in(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "incoming").iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize("sha", [SHA256, None])
def test_cut_download_enters_the_cache_whole(sha: str | None, tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, ["cut", "503", "ok"]) as server:
        assert locator(server, tmp_path).locate(pinned(sha)).read_bytes() == BODY
    assert server.spans == [None, f"bytes={HALF}-", f"bytes={HALF}-"]
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("fault", ["wrong", "shorter"])
def test_wrong_content_is_removed(fault: str, tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, [fault, "ok"]) as server:
        here = locator(server, tmp_path)
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
    with FileServer({}, [fault]) as server, pytest.raises(SourceMissingError, match=r"data/a\.bin is not here") as caught:
        locator(server, tmp_path).locate(pinned())
    assert got in str(caught.value.got)
    assert f"{server.url}{PATH}" in str(caught.value.got)
    assert "as github.com/someone/something/data/a.bin and pass that folder with --mirror" in str(caught.value.next_step)


@pytest.mark.parametrize("sha", [SHA256, None])
def test_pointer_is_followed(sha: str | None, tmp_path: Path) -> None:
    with FileServer({PATH: POINTER, LFS: BODY}, ["ok", "cut", "ok"]) as server:
        assert locator(server, tmp_path).locate(pinned(sha)).read_bytes() == BODY
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
        locator(server, tmp_path).locate(pinned(sha))
    assert message in str(caught.value)
    assert len(server.requests) == requests
    assert left_in(tmp_path) == []


def test_hugging_face_resolves_pointers_itself(tmp_path: Path) -> None:
    path = "/datasets/someone/something/resolve/0123456789abcdef/data/a.bin"
    with FileServer({path: BODY}, ["moved", "ok"]) as server:
        assert locator(server, tmp_path).locate(pinned(host="huggingface.co")).read_bytes() == BODY
    with FileServer({path: POINTER}) as server, pytest.raises(SourceMissingError, match="is a Git LFS pointer"):
        locator(server, tmp_path / "other").locate(pinned(host="huggingface.co"))
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
        assert locator(server, tmp_path).locate(pinned()).read_bytes() == BODY
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
