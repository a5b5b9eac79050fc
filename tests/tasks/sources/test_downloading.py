from hashlib import sha256
from pathlib import Path

import pytest

from tasks.sources import downloading
from tasks.sources.downloading import RETRIES, HttpsDownload
from tasks.sources.partial_file import DownloadError, PartialFile
from tasks.text.backoff import BUDGET_S, Backoff
from tests.tasks.sources.file_server import FileServer

BODY = bytes(range(256)) * 400
HALF = len(BODY) // 2
REST = f"bytes={HALF}-"
OTHER = bytes(reversed(BODY))
ETAG = f'"{sha256(BODY).hexdigest()[:12]}"'


class Client:
    """Downloads `/a` of a server to `target`, and notes in `waits` the seconds it would have waited."""

    def __init__(self, target: Path) -> None:
        self.target, self.waits = target, list[float]()

    def fetch(self, server: FileServer, budget_s: float = BUDGET_S) -> bytes:
        backoff = Backoff(RETRIES, budget_s, draw=lambda: 0.0)
        HttpsDownload(backoff, loopback=True, sleep=self.waits.append)(f"{server.url}/a", self.target)
        return self.target.read_bytes()

    def refusal(self, server: FileServer, budget_s: float = BUDGET_S) -> str:
        with server, pytest.raises(DownloadError) as caught:
            self.fetch(server, budget_s)
        return str(caught.value)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "incoming-a.part")


def serve(*faults: str) -> FileServer:
    return FileServer({"/a": BODY}, faults)


@pytest.mark.parametrize("faults", [("ok",), ("moved", "ok"), ("moved",) * 5 + ("ok",)])
def test_whole_content_is_written_over_what_was_there(faults: tuple[str, ...], client: Client) -> None:
    client.target.write_bytes(b"earlier, longer, and without an ETag" * 10_000)
    with serve(*faults) as server:
        assert client.fetch(server) == BODY
    assert (server.spans, client.waits) == ([None] * len(faults), [])
    assert list(client.target.parent.iterdir()) == [client.target]


def test_empty_file(client: Client) -> None:
    with FileServer({"/a": b""}) as server:
        assert client.fetch(server) == b""


def test_cut_connection_is_resumed_where_it_ended(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "LARGEST_BYTES", len(BODY))
    with serve("cut", "cut", "ok") as server:
        assert client.fetch(server) == BODY
    # Half of the file, then half of the rest: 51,200 and 25,600 of 102,400 bytes.
    assert server.spans == [None, "bytes=51200-", "bytes=76800-"]
    assert [request.etag for request in server.requests] == [None, ETAG, ETAG]
    assert client.waits == [0.5, 1.0]


def test_later_call_resumes_what_earlier_gave_up(client: Client) -> None:
    with serve(*["cut"] * 6, "ok") as server:
        with pytest.raises(DownloadError, match=r"the answer is incomplete.*; attempt 6 was the last"):
            client.fetch(server)
        kept = client.target.stat().st_size
        assert len(BODY) * 0.98 < kept < len(BODY)
        assert client.fetch(server) == BODY
    assert server.spans[6] == f"bytes={kept}-"


@pytest.mark.parametrize(
    ("faults", "spans", "content"),
    [
        (("cut", "no_ranges"), [None, REST], BODY),
        # Content that changed meanwhile is not glued to the first half.
        (("cut", "changed"), [None, REST], OTHER),
        (("cut", "mixed", "ok"), [None, REST, None], OTHER),
        (("cut", "other_range", "ok"), [None, REST, None], BODY),
        (("cut", "416", "ok"), [None, REST, None], BODY),
        # Nothing follows what came, so the server has no such range.
        (("longer", "ok"), [None, f"bytes={len(BODY)}-", None], BODY),
    ],
)
def test_what_cannot_be_continued_starts_over(
    faults: tuple[str, ...], spans: list[str | None], content: bytes, client: Client
) -> None:
    with serve(*faults) as server:
        assert client.fetch(server) == content
    assert server.spans == spans


@pytest.mark.parametrize("note", [None, b'W/"weak"', b"", b'"abc', b'"\xff\x00"', b'"a"\r\nX: "'])
def test_part_without_a_strong_etag_is_not_resumed(note: bytes | None, client: Client) -> None:
    with PartialFile(client.target).begin('W/"weak"') as stream:
        stream.write(BODY[:100])
    if note is not None:
        PartialFile(client.target).note.write_bytes(note)
    with serve("ok") as server:
        assert client.fetch(server) == BODY
    assert server.spans == [None]


@pytest.mark.parametrize(
    ("fault", "wait"), [("503", 7.0), ("429", 7.0), ("408", 1.0), ("500", 1.0), ("hang_up", 0.5), ("half_then_wait", 1.0)]
)
def test_what_may_go_by_is_tried_again(fault: str, wait: float, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "SILENCE_S", 1.0)
    with serve(fault, "ok") as server:
        assert client.fetch(server) == BODY
    assert server.spans == [None, REST if fault == "half_then_wait" else None]
    assert client.waits == [wait]


@pytest.mark.parametrize(
    ("fault", "text", "waits"),
    [
        ("503", "HTTP 503, to be tried again in 7 s; attempt 5 was the last", [7.0] * 4),
        ("silent", "no answer in time (ReadTimeout); attempt 4 was the last", [1.0, 2.0, 4.0]),
        ("trickle", "bytes in 0.2 s; attempt 4 was the last", [1.0, 2.0, 4.0]),
    ],
)
def test_what_does_not_go_by_ends_the_download(
    fault: str, text: str, waits: list[float], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloading, "SILENCE_S", 0.05 if fault == "silent" else 5.0)
    monkeypatch.setattr(downloading, "WINDOW_S", 0.2)
    server = serve(fault)
    assert client.refusal(server).endswith(text)
    assert (len(server.requests), client.waits) == (len(waits) + 1, waits)


def test_too_long_a_pause_is_not_waited_for(client: Client) -> None:
    assert client.refusal(serve("429"), budget_s=6.9).endswith("attempt 1 was the last")
    assert client.waits == []


GATED = "the dataset is gated or not public, so its licence must be accepted at its host"


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("404", "HTTP 404"),
        ("403", f"HTTP 403: {GATED}"),
        ("401", f"HTTP 401: {GATED}"),
        ("204", "HTTP 204"),
        ("gzip", "the content is encoded as gzip, which was not requested"),
        ("unbounded", "the server does not state the file's size, so an incomplete file could not be detected"),
        ("loop", "redirected more than 5 times"),
        ("to_http", "http://files.example.org/a is not an https address, and nothing else is followed"),
    ],
)
def test_what_waiting_would_not_change_fails_at_once(fault: str, text: str, client: Client) -> None:
    server = serve(fault)
    assert client.refusal(server) == text
    assert (len(server.requests), client.waits) == (6 if fault == "loop" else 1, [])


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/a", "http://example.org/a", "ftp://example.org/a", "file:///etc/hostname"])
def test_only_https_is_asked(url: str, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="is not an https address"):
        HttpsDownload(loopback="127" not in url)(url, tmp_path / "a")


def test_announced_size_beyond_the_limit_is_not_read(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "LARGEST_BYTES", len(BODY) - 1)
    text = client.refusal(serve("ok"))
    assert text == "102400 bytes (announced by the server) are more than the limit of 102399 bytes"
    assert not client.target.exists()


def test_endless_content_ends_at_the_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "LARGEST_BYTES", 100_000)
    server = serve("endless")
    text = client.refusal(server)
    # Blocks of 256 bytes: 391 of them are the first to exceed the limit, and some may come together.
    size = int(text.split()[0])
    assert 100_000 < size < 200_000
    assert size % 256 == 0
    assert text == f"{size} bytes (received so far) are more than the limit of 100000 bytes"
    assert (list(client.target.parent.iterdir()), len(server.requests)) == ([], 1)


def test_server_that_is_gone(client: Client) -> None:
    with serve("ok") as server:
        pass
    with pytest.raises(DownloadError, match=r"no connection .*; attempt 4 was the last"):
        client.fetch(server)
    assert client.waits == [0.5, 1.0, 2.0]


def test_full_disk_is_told_as_it_is(tmp_path: Path) -> None:
    with serve("ok") as server, pytest.raises(OSError, match="No such file or directory"):
        Client(tmp_path / "gone" / "a").fetch(server)
