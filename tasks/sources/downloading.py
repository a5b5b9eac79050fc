"""Fetch one file over HTTPS: resumed where it was cut, tried again where that may help, never larger than allowed."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from ssl import SSLContext
from typing import IO, Literal

import httpx

from schemas.addresses import is_loopback
from tasks.sources.partial_file import LARGEST_BYTES, DownloadError, PartialFile
from tasks.text.backoff import Backoff, Retry, read_retry_after

Setback = Literal["connect", "timeout", "cut", "http_429", "http_5xx"]
"""What a further attempt may overcome.

`connect`: no connection. `timeout`: no bytes or too few in the time given, or HTTP 408. `cut`: the answer ended early or
contradicts itself. `http_429`: asked to come later, 425 too. `http_5xx`: the server is out of order.
"""

RETRIES: Mapping[Setback, Retry] = {
    "connect": Retry(attempts=4, first_delay_s=0.5, longest_delay_s=4),
    "timeout": Retry(attempts=4, first_delay_s=1, longest_delay_s=8),
    # What came is kept, so each attempt starts where the one before ended.
    "cut": Retry(attempts=6, first_delay_s=0.5, longest_delay_s=8),
    "http_429": Retry(attempts=6, first_delay_s=2, longest_delay_s=60),
    "http_5xx": Retry(attempts=5, first_delay_s=1, longest_delay_s=30),
}
RETRIED: Mapping[int, Setback] = {408: "timeout", 425: "http_429", 429: "http_429"}
"""What a status means that is not 5xx and may go by."""

GATED = "the dataset is gated or not public, so its licence must be accepted at its host"
CONNECT_TIMEOUT_S = 10.0
SILENCE_S = 60.0
"""Longest wait for the next byte."""

LEAST_BYTES, WINDOW_S = 16 * 1024, 60.0
"""Slowest download that is waited for: so many bytes in each window."""

MOST_REDIRECTS = 5


class SetbackError(Exception):
    """An attempt failed in a way that a further one may not; the text says how."""

    def __init__(self, kind: Setback, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class HttpsDownload:
    """Downloads over HTTPS. `loopback`: let plain HTTP through to this machine itself, as tests need it."""

    backoff: Backoff[Setback] = field(default_factory=lambda: Backoff(RETRIES))
    loopback: bool = False
    sleep: Callable[[float], None] = time.sleep

    def __call__(self, url: str, target: Path) -> None:
        """Write the whole content to `target`, going on from the first bytes of it if an earlier call left them there.

        An ETag noted beside `target` tells whether the server still has that content. The caller verifies what came.
        DownloadError: refused, too large, not encrypted, or still failing after the last attempt; OSError: `target` cannot be
        written.
        """
        part = PartialFile(target)
        attempt, waited_s = 0, 0.0
        timeout = httpx.Timeout(SILENCE_S, connect=CONNECT_TIMEOUT_S)
        # A proxy from the environment is for remote servers.
        direct = is_loopback(httpx.URL(url).host)
        with httpx.Client(timeout=timeout, verify=_trusted(), trust_env=not direct) as client:
            while True:
                attempt += 1
                try:
                    self._attempt(client, url, part)
                except SetbackError as setback:
                    delay_s = self.backoff.delay_s(setback.kind, attempt, setback.retry_after_s, waited_s)
                    if delay_s is None:
                        raise DownloadError(f"{setback}; attempt {attempt} was the last") from setback
                    self.sleep(delay_s)
                    waited_s += delay_s
                else:
                    return part.complete()

    def _attempt(self, client: httpx.Client, url: str, part: PartialFile) -> None:
        here, etag = part.resumable()
        headers = {"Accept-Encoding": "identity"}
        if here:
            headers |= {"Range": f"bytes={here}-", "If-Range": etag}
        try:
            with self._answer(client, url, headers) as response:
                _refuse_status(response)
                _take(response, here, etag, part)
        except httpx.TimeoutException as error:
            raise SetbackError("timeout", f"no answer in time ({type(error).__name__})") from error
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise SetbackError("connect", f"no connection ({error})") from error
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            raise SetbackError("cut", f"the answer is incomplete ({error})") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise DownloadError(f"{type(error).__name__}: {error}") from error

    @contextmanager
    def _answer(self, client: httpx.Client, url: str, headers: dict[str, str]) -> Iterator[httpx.Response]:
        request = client.build_request("GET", url, headers=headers)
        for _ in range(MOST_REDIRECTS + 1):
            here = request.url
            if here.scheme != "https" and not (self.loopback and here.scheme == "http" and is_loopback(here.host)):
                # Without the query: it may hold a signature that gives access.
                text = f"{here.scheme}://{here.host}{here.path} is not an https address, and nothing else is followed"
                raise DownloadError(text)
            response = client.send(request, stream=True)
            try:
                if response.next_request is None:
                    yield response
                    return
                request = response.next_request
            finally:
                response.close()
        raise DownloadError(f"redirected more than {MOST_REDIRECTS} times")


def _take(response: httpx.Response, here: int, etag: str, part: PartialFile) -> None:
    span = _read_span(response, here, etag)
    if span is None:
        # What is here cannot be continued, so the next attempt starts from the beginning.
        part.discard()
        got = f"HTTP {response.status_code}, range {response.headers.get('Content-Range', 'none')}"
        raise SetbackError("cut", f"asked for the bytes from {here}, the server sent {got}")
    start, total = span
    if total is None and response.headers.get("Transfer-Encoding", "").lower() != "chunked":
        raise DownloadError("the server does not state the file's size, so an incomplete file could not be detected")
    _require_allowed(total or 0, "announced by the server", part)
    with part.path.open("ab") if start else part.begin(response.headers.get("ETag", "")) as stream:
        size = _copy(response, start, stream, part)
    if total is not None and size != total:
        if size > total:
            part.discard()
        raise SetbackError("cut", f"received {size} of {total} bytes")


def _copy(response: httpx.Response, size: int, stream: IO[bytes], part: PartialFile) -> int:
    since, counted = time.monotonic(), 0
    for block in response.iter_raw():
        size, counted = size + len(block), counted + len(block)
        _require_allowed(size, "received so far", part)
        stream.write(block)
        if time.monotonic() - since >= WINDOW_S:
            if counted < LEAST_BYTES:
                raise SetbackError("timeout", f"received only {counted} bytes in {WINDOW_S:g} s")
            since, counted = time.monotonic(), 0
    return size


def _require_allowed(size: int, which: str, part: PartialFile) -> None:
    if size > LARGEST_BYTES:
        part.discard()
        raise DownloadError(f"{size} bytes ({which}) are more than the limit of {LARGEST_BYTES} bytes")


def _refuse_status(response: httpx.Response) -> None:
    """Let an answer with content pass, and one that says the range does not exist."""
    status = response.status_code
    if status in RETRIED or response.is_server_error:
        after_s = read_retry_after(response.headers)
        text = f"HTTP {status}" if after_s is None else f"HTTP {status}, to be tried again in {after_s:g} s"
        raise SetbackError(RETRIED.get(status, "http_5xx"), text, after_s)
    if status not in {200, 206, 416}:
        raise DownloadError(f"HTTP {status}" + (f": {GATED}" if status in {401, 403} else ""))
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise DownloadError(f"the content is encoded as {encoding}, which was not requested")


def _read_span(response: httpx.Response, here: int, etag: str) -> tuple[int, int | None] | None:
    """Return the first byte that came (0-based; the others follow to the end of the file), and the file's size where it is said.

    Null if they neither start at the beginning nor continue what is here to the end of the file.
    """
    text = response.headers.get("Content-Length", "")
    length = int(text) if text.isascii() and text.isdecimal() else None
    if response.status_code == httpx.codes.OK:
        return 0, length
    match = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", response.headers.get("Content-Range", "").strip())
    if response.status_code != httpx.codes.PARTIAL_CONTENT or not here or match is None:
        return None
    start, last, total = (int(number) for number in match.groups())
    fits = start == here <= last == total - 1 and length in {None, total - start}
    return (start, total) if fits and response.headers.get("ETag", etag) == etag else None


@cache
def _trusted() -> SSLContext:
    # Certificates are read once: it takes 20 ms, and a dataset may have 300 files.
    return httpx.create_ssl_context()
