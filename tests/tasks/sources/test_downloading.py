from hashlib import sha256
from pathlib import Path

import pytest

from tasks.sources.downloading import RETRIES, DownloadError, HttpsDownload, PartialFile
from tasks.text.backoff import Backoff
from tests.tasks.sources.file_server import FileServer

BODY = bytes(range(256)) * 400
HALF = len(BODY) // 2
REST = f"bytes={HALF}-"
OTHER = bytes(reversed(BODY))
ETAG = f'"{sha256(BODY).hexdigest()[:12]}"'


Waits = list[float]
"""Seconds that were asked for, none of which is waited."""


@pytest.fixture
def waits() -> Waits:
    return []


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "incoming-a.part"


def downloader(waits: Waits, **settings: object) -> HttpsDownload:
    backoff = Backoff(RETRIES, draw=lambda: 0.0)
    return HttpsDownload(**{"backoff": backoff, "sleep": waits.append, "loopback": True, **settings})  # type: ignore[arg-type]


def serve(*faults: str) -> FileServer:
    return FileServer({"/a": BODY}, faults)


def refusal(server: FileServer, target: Path, waits: Waits, **settings: object) -> str:
    with server, pytest.raises(DownloadError) as caught:
        downloader(waits, **settings)(f"{server.url}/a", target)
    return str(caught.value)


@pytest.mark.parametrize("faults", [("ok",), ("moved", "ok"), ("moved",) * 5 + ("ok",)])
def test_whole_content_is_written_over_what_was_there(faults: tuple[str, ...], target: Path, waits: Waits) -> None:
    target.write_bytes(b"earlier, longer, and without an ETag" * 10_000)
    with serve(*faults) as server:
        downloader(waits)(f"{server.url}/a", target)
    assert target.read_bytes() == BODY
    assert server.spans == [None] * len(faults)
    assert waits == []
    assert list(target.parent.iterdir()) == [target]


def test_empty_file(target: Path, waits: Waits) -> None:
    with FileServer({"/a": b""}) as server:
        downloader(waits)(f"{server.url}/a", target)
    assert target.read_bytes() == b""


def test_cut_connection_is_resumed_where_it_ended_up_to_the_size_limit(target: Path, waits: Waits) -> None:
    with serve("cut", "cut", "ok") as server:
        downloader(waits, largest_bytes=len(BODY))(f"{server.url}/a", target)
    assert target.read_bytes() == BODY
    # Half of the file, then half of the rest: 51,200 and 25,600 of 102,400 bytes.
    assert server.spans == [None, "bytes=51200-", "bytes=76800-"]
    assert [request.etag for request in server.requests] == [None, ETAG, ETAG]
    # 0.5 s, doubled
    assert waits == [0.5, 1.0]


def test_a_later_call_resumes_what_an_earlier_one_gave_up(target: Path, waits: Waits) -> None:
    with serve(*["cut"] * 6, "ok") as server:
        with pytest.raises(DownloadError, match=r"the answer is cut short.*; attempt 6 was the last"):
            downloader(waits)(f"{server.url}/a", target)
        kept = target.stat().st_size
        assert len(BODY) * 0.98 < kept < len(BODY)
        downloader(waits)(f"{server.url}/a", target)
    assert target.read_bytes() == BODY
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
    faults: tuple[str, ...], spans: list[str | None], content: bytes, target: Path, waits: Waits
) -> None:
    with serve(*faults) as server:
        downloader(waits)(f"{server.url}/a", target)
    assert target.read_bytes() == content
    assert server.spans == spans


@pytest.mark.parametrize("note", [None, b'W/"weak"', b"", b'"abc', b'"\xff\x00"', b'"a"\r\nX: "'])
def test_part_without_a_note_of_a_strong_etag_is_not_resumed(note: bytes | None, target: Path, waits: Waits) -> None:
    with PartialFile(target).begin('W/"weak"') as stream:
        stream.write(BODY[:100])
    if note is not None:
        PartialFile(target).note.write_bytes(note)
    with serve("ok") as server:
        downloader(waits)(f"{server.url}/a", target)
    assert (server.spans, target.read_bytes()) == ([None], BODY)


def test_length_below_the_content_ends_the_file_there(target: Path, waits: Waits) -> None:
    # HTTP cannot tell; the hash does, where there is one.
    with serve("shorter") as server:
        downloader(waits)(f"{server.url}/a", target)
    assert target.read_bytes() == BODY[:-1]


@pytest.mark.parametrize(("fault", "expected"), [("503", [7.0]), ("429", [7.0]), ("408", [1.0]), ("500", [1.0])])
def test_busy_server_is_asked_again_when_it_wants(fault: str, expected: list[float], target: Path, waits: Waits) -> None:
    with serve(fault, "ok") as server:
        downloader(waits)(f"{server.url}/a", target)
    assert target.read_bytes() == BODY
    assert (len(server.requests), waits) == (2, expected)


def test_busy_for_good(target: Path, waits: Waits) -> None:
    server = serve("503")
    assert refusal(server, target, waits) == "HTTP 503, to be tried again in 7 s; attempt 5 was the last"
    assert (len(server.requests), waits) == (5, [7.0] * 4)


def test_server_that_wants_too_long_a_pause_is_not_waited_for(target: Path, waits: Waits) -> None:
    backoff = Backoff(RETRIES, budget_s=6.9)
    assert refusal(serve("429"), target, waits, backoff=backoff).endswith("attempt 1 was the last")
    assert waits == []


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("404", "HTTP 404"),
        ("403", "HTTP 403: the dataset is gated or not public, so its licence must be accepted at its host"),
        ("401", "HTTP 401: the dataset is gated or not public, so its licence must be accepted at its host"),
        ("204", "HTTP 204"),
        ("gzip", "the content is encoded as gzip, which was not asked for"),
        ("unbounded", "the server does not say where the file ends, so a part could pass for the whole"),
        ("loop", "redirected more than 5 times"),
        ("to_http", "http://files.example.org/a is not an https address, and nothing else is followed"),
    ],
)
def test_what_waiting_would_not_change_fails_at_once(fault: str, text: str, target: Path, waits: Waits) -> None:
    server = serve(fault)
    assert refusal(server, target, waits) == text
    assert len(server.requests) == (6 if fault == "loop" else 1)
    assert waits == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/a", "http://example.org/a", "ftp://example.org/a", "file:///etc/hostname"])
def test_only_https_is_asked(url: str, target: Path) -> None:
    with pytest.raises(DownloadError, match="is not an https address"):
        HttpsDownload(loopback="127" not in url)(url, target)


def test_announced_size_beyond_the_limit_is_not_read(target: Path, waits: Waits) -> None:
    text = refusal(serve("ok"), target, waits, largest_bytes=len(BODY) - 1)
    assert text == "102400 bytes (announced by the server) are more than the limit of 102399 bytes"
    assert not target.exists()


def test_endless_content_ends_at_the_limit_and_is_removed(target: Path, waits: Waits) -> None:
    server = serve("endless")
    text = refusal(server, target, waits, largest_bytes=100_000)
    # Blocks of 256 bytes: 391 of them are the first to exceed the limit, and some may come together.
    size = int(text.split()[0])
    assert 100_000 < size < 200_000
    assert size % 256 == 0
    assert text == f"{size} bytes (received so far) are more than the limit of 100000 bytes"
    assert (list(target.parent.iterdir()), len(server.requests)) == ([], 1)


def test_silent_server(target: Path, waits: Waits) -> None:
    server = serve("silent")
    assert refusal(server, target, waits, silence_s=0.05) == "no answer in time (ReadTimeout); attempt 4 was the last"
    assert waits == [1.0, 2.0, 4.0]


def test_silence_in_the_middle_is_resumed(target: Path, waits: Waits) -> None:
    with serve("half_then_wait", "ok") as server:
        downloader(waits, silence_s=1.0)(f"{server.url}/a", target)
    assert (server.spans, target.read_bytes()) == ([None, f"bytes={HALF}-"], BODY)


def test_trickle_is_no_download_though_it_is_never_silent(target: Path, waits: Waits) -> None:
    server = serve("trickle")
    text = refusal(server, target, waits, silence_s=5.0, least_bytes=1000, window_s=0.2)
    assert text.endswith("bytes came in 0.2 s; attempt 4 was the last")
    assert len(server.requests) == 4


def test_server_that_hangs_up_is_asked_again(target: Path, waits: Waits) -> None:
    with serve("hang_up", "ok") as server:
        downloader(waits)(f"{server.url}/a", target)
    assert (target.read_bytes(), waits) == (BODY, [0.5])


def test_server_that_is_gone(target: Path, waits: Waits) -> None:
    with serve("ok") as server:
        url = server.url
    with pytest.raises(DownloadError, match=r"no connection .*; attempt 4 was the last"):
        downloader(waits)(f"{url}/a", target)
    assert waits == [0.5, 1.0, 2.0]


def test_full_disk_is_told_as_it_is(target: Path, waits: Waits) -> None:
    with serve("ok") as server, pytest.raises(OSError, match="No such file or directory"):
        downloader(waits)(f"{server.url}/a", target.parent / "gone" / "a")
