"""A download that is not complete yet: its first bytes, and what says whether the server still has the same content."""

from dataclasses import dataclass
from pathlib import Path
from typing import IO


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
        """How many bytes are here and the ETag they belong to; 0 and null if a download must start from the beginning."""
        if not self.path.is_file() or not self.note.is_file():
            return 0, None
        size, etag = self.path.stat().st_size, self.note.read_text(encoding="ascii", errors="replace")
        return (size, etag) if size and is_strong(etag) else (0, None)

    def begin(self, etag: str) -> IO[bytes]:
        """An empty part to write to. An ETag that is not strong is not noted, and the part will not be resumed."""
        # In this order, so that a kill in between leaves no bytes with the ETag of others.
        self.note.unlink(missing_ok=True)
        stream = self.path.open("wb")
        if is_strong(etag):
            self.note.write_text(etag, encoding="ascii")
        return stream

    def proceed(self) -> IO[bytes]:
        """The part to write further bytes to."""
        return self.path.open("ab")

    def complete(self) -> None:
        """Keep the file as whole: nothing is to be added to it."""
        self.note.unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove file and note."""
        self.note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


def is_strong(etag: str) -> bool:
    """Whether equal ETags mean equal bytes (RFC 9110, section 8.8.1); weak ones begin with W/."""
    return len(etag) > 2 and etag.startswith('"') and etag.endswith('"') and etag.isascii() and etag.isprintable()  # noqa: PLR2004
