"""What a server's answer says about a download, and which failures are tried again."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import httpx

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
"""The one table of what is retried, how often and after which delay."""


@dataclass(frozen=True)
class DownloadRetryPolicy(Backoff[Setback]):
    """Decides on the next attempt of a download; `sleep` waits for a number of seconds."""

    retries: Mapping[Setback, Retry] = field(default_factory=lambda: RETRIES)
    sleep: Callable[[float], None] = time.sleep


class DownloadError(Exception):
    """A download that further attempts would not complete. The text says why, for a user."""


class SetbackError(Exception):
    """An attempt failed in a way that a further one may not; the text says how."""

    def __init__(self, kind: Setback, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.retry_after_s = retry_after_s


class ByteRange(NamedTuple):
    """Which bytes of the file an answer holds: from `start` (0-based) to its end."""

    start: int
    total: int | None
    """Size of the whole file; null if the server does not say."""


def refuse_status(response: httpx.Response) -> None:
    """Let an answer with content pass, and one that says the range does not exist.

    Raises:
        SetbackError: 408, 425, 429 and 5xx.
        DownloadError: any other status, as waiting would not change it; or content that is not the file's own bytes.
    """
    status = response.status_code
    if status in RETRIED or status >= 500:  # noqa: PLR2004
        after_s = read_retry_after(response.headers)
        text = f"HTTP {status}" if after_s is None else f"HTTP {status}, to be tried again in {after_s:g} s"
        raise SetbackError(RETRIED.get(status, "http_5xx"), text, after_s)
    if status not in {200, 206, 416}:
        raise DownloadError(f"HTTP {status}" + (f": {GATED}" if status in {401, 403} else ""))
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise DownloadError(f"the content is encoded as {encoding}, which was not asked for")


RETRIED: dict[int, Setback] = {408: "timeout", 425: "http_429", 429: "http_429"}
GATED = "the dataset is gated or not public, so its licence must be accepted at its host"


def read_span(response: httpx.Response, here: int, etag: str | None) -> ByteRange | None:
    """Return which bytes came.

    Args:
        response: a 200, a 206 or a 416.
        here: how many bytes the request asked to leave out; 0 = it asked for all.
        etag: of the content that these bytes belong to.

    Returns: null if what came neither starts at the beginning nor continues what is here to the end of the file.
    """
    length = _read_length(response.headers)
    if response.status_code == httpx.codes.OK:
        return ByteRange(0, length)
    found = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", response.headers.get("Content-Range", "").strip())
    if response.status_code != httpx.codes.PARTIAL_CONTENT or not here or found is None:
        return None
    start, last, total = (int(number) for number in found.groups())
    fits = start == here <= last == total - 1 and length in {None, total - start}
    return ByteRange(start, total) if fits and response.headers.get("ETag", etag) == etag else None


def _read_length(headers: httpx.Headers) -> int | None:
    text = headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdecimal() else None
