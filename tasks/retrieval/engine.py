"""The retriever of solvers: split and rank in threads, embed the texts of many items together, and store their vectors.

Embeddings are stored by the content of their texts, in one SQLite file per embedding model, which several processes may use at
once. What a process wrote is there even if it is killed later; a write that is interrupted leaves nothing behind.
"""

import asyncio
import hashlib
import re
import sqlite3
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

import numpy as np
from filelock import FileLock

from schemas.context import Chunk, Ranked
from schemas.errors import LakeError
from schemas.vocabulary import Language, Ranking
from tasks.retrieval import chunking
from tasks.retrieval.embedding import EmbedderFiles, SentenceEmbedder, Vectors
from tasks.retrieval.ranking import rank_by_query, rank_outliers

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
                        raise ValueError(f"the vector of the text with SHA-256 {key.hex()} is damaged")
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
                "the embedding cache cannot be used",
                where=str(self.path),
                expected="a cache that MoodFlow wrote, in a folder this user may write, on a disk with space left",
                got=f"{type(error).__name__}: {error}",
                next_step="free space or fix permissions; delete a damaged file, its vectors are recomputed",
            ) from error


Encode = Callable[[Sequence[str]], Vectors]
"""From texts to vectors of length 1, shape [texts, dimensions]."""

TEXTS_PER_ROUND = 8192
"""Least texts of waiting requests that are looked up and embedded together; a request is not divided."""

TEXTS_PER_WRITE = 1024
"""Texts that are embedded between two writes to the store: what a crash can cost."""

GATHER_S = 0.002
"""How long a round waits for requests that come at the same time as its first."""

ResultT = TypeVar("ResultT")


class _Request(NamedTuple):
    texts: list[str]
    vectors: "asyncio.Future[Vectors]"


class _ClosedError(Exception):
    """The engine is closed while texts are embedded."""


class RetrievalEngine:
    """A `Retriever` over one embedding model and its store. An async context manager; not usable after it.

    Requests that wait while texts are embedded share the next round: each distinct text is embedded once, in batches of similar
    length. The model is loaded with the first text that the store does not have. No method blocks the event loop.

    Args:
        files: the embedding model, from `find_embedder`; null = texts are ranked by words alone.
        folder: where its store is, or is made.
        legacy_bos: count tokens as the released code does.
        load: makes the model; called in the embedding thread.
    """

    def __init__(
        self,
        files: EmbedderFiles | None,
        folder: Path,
        *,
        legacy_bos: bool = False,
        load: Callable[[EmbedderFiles], Encode] = SentenceEmbedder,
    ) -> None:
        self._files, self._folder, self._legacy_bos, self._load = files, folder, legacy_bos, load
        self._embedder = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._workers = ThreadPoolExecutor(2, thread_name_prefix="retrieval")
        self._waiting: deque[_Request] = deque()
        self._rounds: asyncio.Task[None] | None = None
        self._closing = threading.Event()
        self._store: EmbeddingStore | None = None
        self._encode: Encode | None = None

    async def split(self, text: str, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
        """Return chunks of at most so many tokens; see `chunking.split`."""
        return await self._work(lambda: chunking.split(text, chunk_tokens, overlap_tokens, legacy_bos=self._legacy_bos))

    async def rank(self, texts: Sequence[str], query: str | None, ranking: Ranking, language: Language) -> tuple[Ranked, ...]:
        """Return all texts, best first; see `rank_by_query`, and `rank_outliers` for those without a query.

        UsageError: the model cannot be loaded; LakeError: the store cannot be used.
        """
        if query is None:
            vectors = await self._vectors(list(texts)) if ranking != "bm25" and len(texts) > 1 else None
            return await self._work(lambda: rank_outliers(texts, vectors, ranking, language))
        vectors = await self._vectors([*texts, query]) if ranking != "bm25" and texts else None
        return await self._work(lambda: rank_by_query(texts, query, vectors, ranking, language))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the threads after the batch they are at; requests that still wait are cancelled."""
        self._closing.set()
        if self._rounds is not None:
            await asyncio.gather(self._rounds, return_exceptions=True)
        loop = asyncio.get_running_loop()
        if self._store is not None:
            await loop.run_in_executor(self._embedder, self._store.close)
        await loop.run_in_executor(None, self._embedder.shutdown)
        await loop.run_in_executor(None, self._workers.shutdown)

    async def _work(self, job: Callable[[], ResultT]) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._workers, job)

    async def _vectors(self, texts: list[str]) -> Vectors:
        request = _Request(texts, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._rounds is None or self._rounds.done():
            self._rounds = asyncio.create_task(self._run_rounds())
        return await request.vectors

    async def _run_rounds(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(GATHER_S)
        while requests := self._next_round():
            rows = {text: row for row, text in enumerate(dict.fromkeys(text for each in requests for text in each.texts))}
            try:
                outcome: Vectors | Exception = await loop.run_in_executor(self._embedder, self._look_up, list(rows))
            except Exception as error:  # noqa: BLE001  raised again where the vectors are awaited
                outcome = error
            for request in requests:
                if request.vectors.done():
                    continue
                if isinstance(outcome, _ClosedError):
                    request.vectors.cancel()
                elif isinstance(outcome, Exception):
                    request.vectors.set_exception(outcome)
                else:
                    request.vectors.set_result(outcome[[rows[text] for text in request.texts]])

    def _next_round(self) -> list[_Request]:
        requests: list[_Request] = []
        texts = 0
        while self._waiting and texts < TEXTS_PER_ROUND:
            request = self._waiting.popleft()
            # The request of a cancelled item is done.
            if not request.vectors.done():
                requests.append(request)
                texts += len(request.texts)
        return requests

    def _look_up(self, texts: list[str]) -> Vectors:
        """Return vectors of distinct texts (in the embedding thread), from the store as far as it has them."""
        if self._closing.is_set():
            raise _ClosedError
        if self._files is None:
            raise AssertionError("texts are ranked by meaning without an embedding model")
        self._store = self._store or EmbeddingStore(self._folder, self._files.identity)
        keys = [text_key(text) for text in texts]
        vectors = self._store.get(keys)
        # Sorted over the whole round, so that what is embedded together is of similar length.
        missing = [index for index, key in enumerate(keys) if key not in vectors]
        order = sorted(missing, key=lambda index: len(texts[index]), reverse=True)
        for start in range(0, len(order), TEXTS_PER_WRITE):
            if self._closing.is_set():
                raise _ClosedError
            part = order[start : start + TEXTS_PER_WRITE]
            self._encode = self._encode or self._load(self._files)
            encoded = self._encode([texts[index] for index in part])
            vectors |= self._store.put({keys[index]: vector for index, vector in zip(part, encoded, strict=True)})
        return np.stack([vectors[key] for key in keys])
