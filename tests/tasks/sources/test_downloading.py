import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from schemas.dataset import PinnedFile
from schemas.errors import SourceMissingError
from tasks.sources.downloading import download, raw_url

BODY = bytes(range(256)) * 1000


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/file")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        length = len(BODY) + 1 if self.path == "/cut" else len(BODY)
        self.send_response(404 if self.path == "/absent" else 200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class names it so
        pass


@pytest.fixture
def server() -> Iterator[str]:
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.mark.parametrize("path", ["/file", "/moved"])
def test_whole_content_is_written(server: str, path: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"earlier and longer" * 100_000)
    download(server + path, target)
    assert target.read_bytes() == BODY


def test_error_status_raises(server: str, tmp_path: Path) -> None:
    with pytest.raises(httpx.HTTPStatusError, match="404"):
        download(server + "/absent", tmp_path / "target")


def test_connection_cut_short_raises(server: str, tmp_path: Path) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        download(server + "/cut", tmp_path / "target")


def test_only_known_hosts_have_an_address() -> None:
    source = PinnedFile(repository="example.org/someone/something", revision="0123456", path="a.txt", sha256="0" * 64)
    with pytest.raises(SourceMissingError, match=r"a\.txt cannot be downloaded") as caught:
        raw_url(source)
    assert caught.value.expected == "a repository on github.com"
