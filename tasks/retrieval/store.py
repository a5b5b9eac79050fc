"""Store embeddings by the content of their texts: one SQLite file per embedding model.

Several processes may use it at once. What a process wrote is there even if it is killed later; a write that is interrupted leaves
nothing behind.
"""

import hashlib
import re
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock

from schemas.errors import LakeError

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]

EMBEDDINGS = "embeddings"
"""Folder of a lake that holds the stores."""

TABLE = "CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, checksum INTEGER NOT NULL, vector BLOB NOT NULL)"

LOCK_TIMEOUT_S = 60.0
KEYS_PER_STATEMENT = 1000


def text_key(text: str) -> bytes:
    """Return SHA-256 of a text."""
    # A lone half of a surrogate pair can be in JSON, and has no UTF-8.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class EmbeddingStore:
    """Vectors by key, used by one thread at a time; LakeError, from all methods: the file cannot be used, or is damaged."""

    def __init__(self, folder: Path, identity: str) -> None:
        name = re.sub(r"[^\w.-]", "-", identity.partition(" ")[0])
        self.path = folder / f"{name}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.sqlite"
        with self._errors():
            folder.mkdir(parents=True, exist_ok=True)
            # Two processes that switch a new file to write-ahead logging at once fail without waiting for each other.
            with FileLock(f"{self.path}.lock", timeout=LOCK_TIMEOUT_S):
                self._connection = self._open()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors that the store has."""
        vectors: dict[bytes, Vector] = {}
        with self._errors():
            for start in range(0, len(keys), KEYS_PER_STATEMENT):
                part = keys[start : start + KEYS_PER_STATEMENT]
                marks = ", ".join("?" * len(part))
                query = f"SELECT key, checksum, vector FROM embeddings WHERE key IN ({marks})"  # noqa: S608  question marks
                for key, checksum, vector in self._connection.execute(query, part):
                    if zlib.crc32(vector) != checksum:
                        raise ValueError(f"the vector of the text with SHA-256 {key.hex()} is not the one that was written")
                    vectors[key] = np.frombuffer(vector, dtype="<f4")
        return vectors

    def put(self, vectors: dict[bytes, Vector]) -> dict[bytes, Vector]:
        """Add vectors, all or none, and return those that the store then holds.

        Where another process was faster its own stay, so that all processes work with the same bytes.
        """
        contents = {key: vector.astype("<f4", copy=False).tobytes() for key, vector in vectors.items()}
        rows = [(key, zlib.crc32(content), content) for key, content in contents.items()]
        with self._errors(), self._connection:
            added = self._connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", rows).rowcount
        return vectors if added == len(rows) else self.get(list(vectors))

    def close(self) -> None:
        """Close the file."""
        with self._errors():
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=LOCK_TIMEOUT_S, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            # A power cut may cost the last vectors, which are computed again; it damages nothing.
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, ValueError, TypeError) as error:
            raise LakeError(
                "the store of embeddings cannot be used",
                where=str(self.path),
                expected="a store as moodflow writes it, in a folder this user may write to, on a disk with space left",
                got=f"{type(error).__name__}: {error}",
                next_step="free space or mend permissions and run again; if the file is damaged, delete it: "
                "its vectors are computed again",
            ) from error
