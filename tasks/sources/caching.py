"""The cache: a folder of verified files, each whole and named by its content."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from tasks.sources.checksums import hash_file

HASH_DIGITS = 64


@dataclass(frozen=True)
class Cache:
    """Files by the hash of their content, or by a key and, inside its folder, by that hash.

        ab/abcdef...                 a pinned file, by its sha256
        unpinned/KEY/SHA256          a file pinned by its revision only, or by its md5
        members/KEY/SHA256           a file out of an archive
        incoming/incoming-NAME.part  a download that goes on where it ended; with .part.etag and .lock

    Args:
        folder: where; made when the first file comes.
    """

    folder: Path

    def path_of(self, sha256: str) -> Path:
        """Return where the file with this content is, if it is here."""
        return self.folder / sha256[:2] / sha256

    def find(self, kind: str, key: str) -> Path | None:
        """Return the file kept under this key; its content is not looked at."""
        folder = self.folder / kind / key
        kept = [path for path in folder.iterdir() if len(path.name) == HASH_DIGITS] if folder.is_dir() else []
        return kept[0] if len(kept) == 1 else None

    def keep(self, part: Path, kind: str, key: str) -> Path:
        """Take a whole file in under this key."""
        return self.move(part, self.folder / kind / key / hash_file(part))

    def move(self, part: Path, target: Path) -> Path:
        """Take a whole file in under this path."""
        target.parent.mkdir(parents=True, exist_ok=True)
        # Inside one folder tree, so the rename is atomic: a reader sees the whole file or none.
        return part.replace(target)

    @contextmanager
    def filling(self, name: str) -> Iterator[Path]:
        """Return the partial file of this name, for one process and thread at a time; others wait until the block ends.

        The operating system frees the lock of a process that was killed.
        """
        incoming = self.folder / "incoming"
        incoming.mkdir(parents=True, exist_ok=True)
        with FileLock(incoming / f"incoming-{name}.lock"):
            yield incoming / f"incoming-{name}.part"
