import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from schemas.dataset import PinnedFile
from schemas.errors import ChecksumError, SourceMissingError
from tasks.sources.downloading import HttpsDownload
from tasks.sources.fetching import Addresses
from tasks.sources.locating import Locator
from tests.tasks.sources.file_server import FileServer

BODY = bytes(range(256)) * 4000
HALF = len(BODY) // 2
SHA256 = sha256(BODY).hexdigest()
PATH = "/someone/something/0123456789abcdef/data/a.bin"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA256}\nsize {len(BODY)}\n".encode()


def pinned(sha: str | None = SHA256, host: str = "github.com") -> PinnedFile:
    return PinnedFile(repository=f"{host}/someone/something", revision="0123456789abcdef", path="data/a.bin", sha256=sha)


def locator(server: FileServer, cache: Path) -> Locator:
    addresses = Addresses(github=server.url, github_lfs=f"{server.url}/media", hugging_face=f"{server.url}/datasets")
    download = HttpsDownload(sleep=lambda _seconds: None, loopback=True)
    return Locator(cache=cache, download=download, addresses=addresses)


def left_in(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "incoming").iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize("sha", [SHA256, None])
def test_cut_download_enters_the_cache_whole(sha: str | None, tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, ["cut", "503", "ok"]) as server:
        path = locator(server, tmp_path).locate(pinned(sha))
    assert sha256(path.read_bytes()).hexdigest() == SHA256
    assert server.spans == [None, f"bytes={HALF}-", f"bytes={HALF}-"]
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("fault", ["wrong", "shorter"])
def test_wrong_content_is_removed_and_said_to_be(fault: str, tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, [fault, "ok"]) as server:
        here = locator(server, tmp_path)
        with pytest.raises(ChecksumError) as caught:
            here.locate(pinned())
        assert left_in(tmp_path) == []
        assert here.find_file(pinned()) is None
        # The next call starts from the beginning.
        assert here.locate(pinned()).read_bytes() == BODY
    assert caught.value.where == f"{server.url}{PATH}"
    assert caught.value.expected == f"sha256 {SHA256}"
    assert "what came was removed" in str(caught.value.next_step)
    assert server.spans == [None, None]


@pytest.mark.parametrize(("fault", "got"), [("404", "HTTP 404"), ("403", "gated"), ("500", "attempt 5 was the last")])
def test_download_that_fails_says_why_and_how_to_supply_the_file(fault: str, got: str, tmp_path: Path) -> None:
    with FileServer({}, [fault]) as server, pytest.raises(SourceMissingError) as caught:
        locator(server, tmp_path).locate(pinned())
    assert caught.value.what == "data/a.bin is not here"
    assert got in str(caught.value.got)
    assert f"{server.url}{PATH}" in str(caught.value.got)
    assert caught.value.next_step == (
        "put it into a folder as github.com/someone/something/data/a.bin and pass that folder with --mirror"
    )


@pytest.mark.parametrize("sha", [SHA256, None])
def test_pointer_is_followed(sha: str | None, tmp_path: Path) -> None:
    with FileServer({PATH: POINTER, f"/media{PATH}": BODY}, ["ok", "cut", "ok"]) as server:
        path = locator(server, tmp_path).locate(pinned(sha))
    assert path.read_bytes() == BODY
    assert [(request.path, request.span) for request in server.requests] == [
        (PATH, None),
        (f"/media{PATH}", None),
        (f"/media{PATH}", f"bytes={HALF}-"),
    ]
    assert left_in(tmp_path) == []


def test_content_behind_a_pointer_must_be_what_it_names_even_where_nothing_is_pinned(tmp_path: Path) -> None:
    with FileServer({PATH: POINTER, f"/media{PATH}": BODY}, ["ok", "wrong"]) as server, pytest.raises(ChecksumError) as caught:
        locator(server, tmp_path).locate(pinned(None))
    assert caught.value.expected == f"sha256 {SHA256}"
    assert left_in(tmp_path) == []


def test_pointer_to_other_content_than_the_pinned_is_not_followed(tmp_path: Path) -> None:
    with FileServer({PATH: POINTER}) as server, pytest.raises(ChecksumError) as caught:
        locator(server, tmp_path).locate(pinned("1" * 64))
    assert caught.value.got == f"sha256 {SHA256} (in the Git LFS pointer)"
    assert len(server.requests) == 1


def test_pointer_behind_a_pointer_is_not_the_file(tmp_path: Path) -> None:
    with (
        FileServer({PATH: POINTER, f"/media{PATH}": POINTER}) as server,
        pytest.raises(SourceMissingError, match="is a Git LFS pointer"),
    ):
        locator(server, tmp_path).locate(pinned(None))
    assert left_in(tmp_path) == []


def test_hugging_face_resolves_pointers_itself(tmp_path: Path) -> None:
    path = "/datasets/someone/something/resolve/0123456789abcdef/data/a.bin"
    with FileServer({path: BODY}, ["moved", "ok"]) as server:
        assert locator(server, tmp_path).locate(pinned(host="huggingface.co")).read_bytes() == BODY
    with FileServer({path: POINTER}) as server, pytest.raises(SourceMissingError, match="is a Git LFS pointer"):
        locator(server, tmp_path / "other").locate(pinned(host="huggingface.co"))
    assert len(server.requests) == 1


@pytest.mark.parametrize("sha", [SHA256, None])
def test_threads_that_want_the_same_file_make_one_download(sha: str | None, tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, on_request=lambda _number: time.sleep(0.1)) as server:
        here = locator(server, tmp_path)
        with ThreadPoolExecutor(4) as pool:
            paths = set(pool.map(here.locate, [pinned(sha)] * 4))
    assert len(paths) == len(server.requests) == 1
    assert paths.pop().read_bytes() == BODY


PROCESS = """
import sys
from pathlib import Path
from schemas.dataset import PinnedFile
from tasks.sources.fetching import Addresses
from tasks.sources.downloading import HttpsDownload
from tasks.sources.locating import Locator

url, cache, sha256 = sys.argv[1:]
source = PinnedFile(repository="github.com/someone/something", revision="0123456789abcdef", path="data/a.bin", sha256=sha256)
print(Locator(cache=Path(cache), download=HttpsDownload(loopback=True), addresses=Addresses(github=url)).locate(source))
"""


def start(server: FileServer, cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROCESS, server.url, str(cache), SHA256]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])


def test_processes_that_want_the_same_file_make_one_download(tmp_path: Path) -> None:
    with FileServer({PATH: BODY}, on_request=lambda _number: time.sleep(1)) as server:
        processes = [start(server, tmp_path) for _ in range(2)]
        outputs = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert outputs == [str(tmp_path / SHA256[:2] / SHA256)] * 2
    assert Path(outputs[0]).read_bytes() == BODY
    assert len(server.requests) == 1
    assert left_in(tmp_path) == []


def test_killed_download_is_resumed_and_its_lock_is_free(tmp_path: Path) -> None:
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


def at(repository: str, revision: str = "0123456789abcdef", path: str = "data/a b#1.csv") -> PinnedFile:
    return PinnedFile(repository=repository, revision=revision, path=path, sha256="0" * 64)


@pytest.mark.parametrize(
    ("source", "url"),
    [
        (
            at("github.com/someone/something"),
            "https://raw.githubusercontent.com/someone/something/0123456789abcdef/data/a%20b%231.csv",
        ),
        (
            at("huggingface.co/someone/something"),
            "https://huggingface.co/datasets/someone/something/resolve/0123456789abcdef/data/a%20b%231.csv",
        ),
        (
            at("huggingface.co/someone/something", "refs/convert/parquet", "茶.csv"),
            "https://huggingface.co/datasets/someone/something/resolve/refs%2Fconvert%2Fparquet/%E8%8C%B6.csv",
        ),
    ],
)
def test_address_at_the_pinned_revision(source: PinnedFile, url: str) -> None:
    assert Addresses().of(source) == url


def test_address_of_what_git_lfs_keeps() -> None:
    expected = "https://media.githubusercontent.com/media/someone/something/0123456789abcdef/data/a%20b%231.csv"
    assert Addresses().of_lfs(at("github.com/someone/something")) == expected
    assert Addresses().of_lfs(at("huggingface.co/someone/something")) is None


def test_only_known_hosts_have_an_address() -> None:
    with pytest.raises(SourceMissingError, match=r"data/a b#1\.csv cannot be downloaded") as caught:
        Addresses().of(at("example.org/someone/something"))
    assert caught.value.expected == "a repository on github.com or a dataset on huggingface.co"
    assert "--mirror" in str(caught.value.next_step)
