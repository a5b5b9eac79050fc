"""Fetch one pinned file over HTTPS."""

from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import httpx

from schemas.dataset import PinnedFile
from schemas.errors import SourceMissingError

TIMEOUT = httpx.Timeout(60.0, connect=10.0)


class Download(Protocol):
    """Writes what a URL holds to a file."""

    def __call__(self, url: str, target: Path) -> None:
        """Write the whole content to `target`; raise httpx.HTTPError or OSError if it cannot be had."""
        ...


def raw_url(source: PinnedFile) -> str:
    """Address of the file's bytes at its pinned revision.

    Raises:
        SourceMissingError: the host is one whose address scheme is not known.
    """
    host, owner, name = source.repository.split("/")
    if host != "github.com":
        raise SourceMissingError(
            f"{source.path} cannot be downloaded.",
            where=source.repository,
            expected="a repository on github.com",
            next_step="fetch it yourself and pass its folder with --mirror",
        )
    return f"https://raw.githubusercontent.com/{owner}/{name}/{quote(source.revision)}/{quote(source.path)}"


def download(url: str, target: Path) -> None:
    """Stream `url` to `target`, which is overwritten; redirects are followed. The caller verifies the content.

    Raises:
        httpx.HTTPError: no connection, a timeout, or an answer that is not 2xx.
        OSError: `target` cannot be written.
    """
    with httpx.Client(follow_redirects=True, timeout=TIMEOUT) as client, client.stream("GET", url) as response:
        response.raise_for_status()
        with target.open("wb") as stream:
            for block in response.iter_bytes():
                stream.write(block)
