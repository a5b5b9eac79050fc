"""Fetch one file over HTTPS: resumed where it was cut, tried again where that may help, never larger than allowed."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from ssl import SSLContext
from typing import IO

import httpx

from schemas.addresses import is_loopback
from tasks.sources.answers import ByteRange, DownloadError, DownloadRetryPolicy, SetbackError, read_span, refuse_status


@dataclass(frozen=True)
class PartialFile:
    """The partial file at `path`; beside it, in a note, the strong ETag that its bytes came with.

    Raises, in each method:
        OSError: a file cannot be written.
    """

    path: Path

    @property
    def note(self) -> Path:
        """Where the ETag is."""
        return self.path.with_name(f"{self.path.name}.etag")

    def resumable(self) -> tuple[int, str | None]:
        """Return how many bytes are here and the ETag they belong to; 0 and null if a download must start from the beginning."""
        if not self.path.is_file() or not self.note.is_file():
            return 0, None
        size, etag = self.path.stat().st_size, self.note.read_text(encoding="ascii", errors="replace")
        return (size, etag) if size and is_strong(etag) else (0, None)

    def begin(self, etag: str) -> IO[bytes]:
        """Return an empty part to write to. An ETag that is not strong is not noted, and the part will not be resumed."""
        # In this order, so that a kill in between leaves no bytes with the ETag of others.
        self.note.unlink(missing_ok=True)
        stream = self.path.open("wb")
        if is_strong(etag):
            self.note.write_text(etag, encoding="ascii")
        return stream

    def complete(self) -> None:
        """Keep the file as whole: nothing is to be added to it."""
        self.note.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove file and note."""
        self.complete()
        self.path.unlink(missing_ok=True)


def is_strong(etag: str) -> bool:
    """Return whether equal ETags mean equal bytes (RFC 9110, section 8.8.1); weak ones begin with W/."""
    return len(etag) > 2 and etag.startswith('"') and etag.endswith('"') and etag.isascii() and etag.isprintable()  # noqa: PLR2004


CONNECT_TIMEOUT_S = 10.0
MOST_REDIRECTS = 5
LARGEST_BYTES = 2 * 1024**3


Download = Callable[[str, Path], None]
"""Writes the whole content of a URL to a file, which may hold the first bytes of it from an earlier call.

It raises DownloadError, httpx.HTTPError or OSError if that cannot be had; what came may be kept, to go on from there.
"""


@dataclass(frozen=True)
class MinimumSpeed:
    """The slowest download that is waited for: this many bytes in each such time."""

    least_bytes: int = 16 * 1024
    window_s: float = 60.0


@dataclass(frozen=True)
class HttpsDownload:
    """Downloads over HTTPS.

    Args:
        largest_bytes: limit of a file's size, on what the server announces and on what comes.
        policy: what is tried again.
        silence_s: longest wait for the next byte.
        minimum_speed: slowest download that is waited for.
        loopback: let plain HTTP through to this machine itself, as tests need it.
        clock: seconds, monotonic.
    """

    largest_bytes: int = LARGEST_BYTES
    policy: DownloadRetryPolicy = field(default_factory=DownloadRetryPolicy)
    silence_s: float = 60.0
    minimum_speed: MinimumSpeed = field(default_factory=MinimumSpeed)
    loopback: bool = False
    clock: Callable[[], float] = time.monotonic

    def __call__(self, url: str, target: Path) -> None:
        """Write the whole content to `target`, going on from the first bytes of it if an earlier call left them there.

        An ETag noted beside `target` tells whether the server still has that content. The caller verifies what came.

        Raises:
            DownloadError: refused, too large, not encrypted, or still failing after the last attempt.
            OSError: `target` cannot be written.
        """
        part = PartialFile(target)
        attempt, waited_s = 0, 0.0
        timeout = httpx.Timeout(self.silence_s, connect=CONNECT_TIMEOUT_S)
        # A proxy from the environment is for remote servers.
        direct = is_loopback(httpx.URL(url).host)
        with httpx.Client(timeout=timeout, verify=_trusted(), trust_env=not direct) as client:
            while True:
                attempt += 1
                try:
                    self._attempt(client, url, part)
                except SetbackError as setback:
                    delay_s = self.policy.delay_s(setback.kind, attempt, setback.retry_after_s, waited_s)
                    if delay_s is None:
                        raise DownloadError(f"{setback}; attempt {attempt} was the last") from setback
                    self.policy.sleep(delay_s)
                    waited_s += delay_s
                else:
                    return part.complete()

    def _attempt(self, client: httpx.Client, url: str, part: PartialFile) -> None:
        here, etag = part.resumable()
        headers = {"Accept-Encoding": "identity"}
        if here and etag:
            headers |= {"Range": f"bytes={here}-", "If-Range": etag}
        try:
            with self._answer(client, url, headers) as response:
                self._take(response, here, etag, part)
        except httpx.TimeoutException as error:
            raise SetbackError("timeout", f"no answer in time ({type(error).__name__})") from error
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise SetbackError("connect", f"no connection ({error})") from error
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            raise SetbackError("cut", f"the answer is cut short ({error})") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise DownloadError(f"{type(error).__name__}: {error}") from error

    @contextmanager
    def _answer(self, client: httpx.Client, url: str, headers: dict[str, str]) -> Iterator[httpx.Response]:
        request = client.build_request("GET", url, headers=headers)
        for _ in range(MOST_REDIRECTS + 1):
            self._require_encrypted(request.url)
            response = client.send(request, stream=True)
            try:
                if response.next_request is None:
                    yield response
                    return
                request = response.next_request
            finally:
                response.close()
        raise DownloadError(f"redirected more than {MOST_REDIRECTS} times")

    def _require_encrypted(self, url: httpx.URL) -> None:
        if url.scheme == "https" or (self.loopback and url.scheme == "http" and is_loopback(url.host)):
            return
        # Without the query: it may hold a signature that gives access.
        raise DownloadError(f"{url.scheme}://{url.host}{url.path} is not an https address, and nothing else is followed")

    def _take(self, response: httpx.Response, here: int, etag: str | None, part: PartialFile) -> None:
        refuse_status(response)
        span = self._span(response, here, etag, part)
        self._require_allowed(span.total, "announced by the server", part)
        stream = part.path.open("ab") if span.start else part.begin(response.headers.get("ETag", ""))
        with stream:
            size = self._copy(response, span.start, stream.write, part)
        if span.total is not None and size != span.total:
            if size > span.total:
                part.discard()
            raise SetbackError("cut", f"{size} bytes came of {span.total}")

    def _span(self, response: httpx.Response, here: int, etag: str | None, part: PartialFile) -> ByteRange:
        span = read_span(response, here, etag)
        if span is None:
            # What is here cannot be continued, so the next attempt starts from the beginning.
            part.discard()
            got = response.headers.get("Content-Range", "none")
            raise SetbackError(
                "cut", f"asked for the bytes from {here} on, the server gave HTTP {response.status_code}, range {got}"
            )
        if span.total is None and response.headers.get("Transfer-Encoding", "").lower() != "chunked":
            raise DownloadError("the server does not say where the file ends, so a part could pass for the whole")
        return span

    def _copy(self, response: httpx.Response, size: int, write: Callable[[bytes], object], part: PartialFile) -> int:
        since, counted = self.clock(), 0
        for block in response.iter_raw():
            size, counted = size + len(block), counted + len(block)
            self._require_allowed(size, "received so far", part)
            write(block)
            if self.clock() - since >= self.minimum_speed.window_s:
                if counted < self.minimum_speed.least_bytes:
                    raise SetbackError("timeout", f"only {counted} bytes came in {self.minimum_speed.window_s:g} s")
                since, counted = self.clock(), 0
        return size

    def _require_allowed(self, size: int | None, which: str, part: PartialFile) -> None:
        if size is not None and size > self.largest_bytes:
            part.discard()
            raise DownloadError(f"{size} bytes ({which}) are more than the limit of {self.largest_bytes} bytes")


@cache
def _trusted() -> SSLContext:
    # Certificates are read once: it takes 20 ms, and a dataset may have 300 files.
    return httpx.create_ssl_context()
