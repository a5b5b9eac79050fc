"""A download that is under way: the file that holds what came so far, and how it may fail."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

LARGEST_BYTES = 2 * 1024**3
"""Of a file, as the server announces it and as it comes, and of a member, as its archive states it."""

Download = Callable[[str, Path], None]
"""Writes the whole content of a URL to a file, which may hold the first bytes of it from an earlier call.

It raises DownloadError or OSError if that cannot be had; what came may be kept, to go on from there.
"""


class DownloadError(Exception):
    """A download that further attempts would not complete. The text says why, for a user."""


@dataclass(frozen=True)
class PartialFile:
    """The partial file at `path`; beside it, in a note, the strong ETag that its bytes came with. OSError: it is not writable."""

    path: Path

    @property
    def note(self) -> Path:
        """Where the ETag is."""
        return self.path.with_name(f"{self.path.name}.etag")

    def resumable(self) -> tuple[int, str]:
        """Return how many bytes are here and the ETag they belong to; 0 if a download must start from the beginning."""
        if not self.path.is_file() or not self.note.is_file():
            return 0, ""
        etag = self.note.read_text(encoding="ascii", errors="replace")
        return (self.path.stat().st_size, etag) if is_strong(etag) else (0, "")

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
