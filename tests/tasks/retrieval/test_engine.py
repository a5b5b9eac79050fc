import asyncio
import hashlib
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from schemas.context import Retriever
from schemas.errors import LakeError, UsageError
from tasks.retrieval import engine as engine_module
from tasks.retrieval.chunking import split
from tasks.retrieval.embedding import EmbedderFiles, Vectors
from tasks.retrieval.engine import EmbeddingStore, RetrievalEngine, text_key
from tests.tasks.retrieval.texts import prose

FILES = EmbedderFiles("model", Path("nowhere"), "model sha256:0 embedding:1")


class Model:
    """A model whose vectors depend on the text alone; keeps its calls."""

    def __init__(self, gate: threading.Event | None = None, fails_at: int | None = None) -> None:
        """With a gate every call waits until it is opened."""
        self.calls: list[list[str]] = []
        self.loaded = 0
        self.begun = threading.Event()
        self._gate, self._fails_at = gate, fails_at

    def load(self, files: EmbedderFiles) -> "Model":
        assert files == FILES
        self.loaded += 1
        return self

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        self.begun.set()
        if self._gate is not None:
            assert self._gate.wait(60)
        if len(self.calls) == self._fails_at:
            raise UsageError("The embedding model fell over.")
        return np.stack([vector_of(text) for text in texts])


def vector_of(text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    drawn = np.random.default_rng(seed).normal(size=16)
    return np.asarray(drawn / np.linalg.norm(drawn), dtype=np.float32)


def is_empty(folder: Path) -> bool:
    return not any(folder.iterdir())


def retriever(folder: Path, model: Model) -> RetrievalEngine:
    return RetrievalEngine(FILES, folder, load=model.load)


async def test_it_is_a_retriever(tmp_path: Path) -> None:
    text = prose(100)
    async with retriever(tmp_path, Model()) as engine:
        retrieve: Retriever = engine
        assert await retrieve.split(text, 64, 10) == split(text, 64, 10)
        ranked = await retrieve.rank(["rain", "grief", "sun"], "grief", "dense", "en")
        outliers = await retrieve.rank(["rain", "grief", "sun"], None, "fused", "en")
    nearest = max(vector_of(text) @ vector_of("grief") for text in ("rain", "sun"))
    assert [row.dense for row in ranked[:2]] == [1.0, pytest.approx(nearest, abs=1e-6)]
    assert sorted(row.place for row in outliers) == [0, 1, 2]
    async with RetrievalEngine(FILES, tmp_path, legacy_bos=True, load=Model().load) as engine:
        assert await engine.split(text, 64, 10) == split(text, 64, 10, legacy_bos=True) != split(text, 64, 10)


async def test_simultaneous_requests_share_one_call(tmp_path: Path) -> None:
    model = Model()
    async with retriever(tmp_path, model) as engine:
        texts = [[f"{item} a", f"{item} bb", "the same in all"] for item in range(50)]
        results = await asyncio.gather(*(engine.rank(each, f"{item} bb", "dense", "en") for item, each in enumerate(texts)))
    assert [ranked[0].place for ranked in results] == [1] * 50
    assert len(model.calls) == 1
    assert len(model.calls[0]) == len(set(model.calls[0])) == 101
    assert [len(text) for text in model.calls[0]] == sorted((len(text) for text in model.calls[0]), reverse=True)


async def test_no_text_is_embedded_again_in_later_run(tmp_path: Path) -> None:
    first, second = Model(), Model()
    async with retriever(tmp_path, first) as engine:
        before = await engine.rank(["rain", "sun"], "grief", "dense", "en")
    async with retriever(tmp_path, second) as engine:
        assert await engine.rank(["rain", "sun"], "grief", "dense", "en") == before
        assert await engine.rank(["sun"], "rain", "dense", "en")
    assert second.loaded == 0
    assert first.loaded == 1


async def test_words_alone_need_no_vectors(tmp_path: Path) -> None:
    model = Model()
    async with retriever(tmp_path, model) as engine:
        assert (await engine.rank(["rain", "her grief"], "grief", "bm25", "en"))[0].place == 1
        await engine.rank(["rain", "her grief"], None, "bm25", "en")
        assert await engine.rank([], "grief", "dense", "en") == ()
        assert (await engine.rank(["alone"], None, "dense", "en"))[0].dense is None
    assert model.loaded == 0
    assert is_empty(tmp_path)


async def test_vectors_before_a_failure_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "TEXTS_PER_WRITE", 10)
    texts = [f"{number:02d}" for number in range(29)]
    failing, model = Model(fails_at=3), Model()
    async with retriever(tmp_path, failing) as engine:
        with pytest.raises(UsageError, match="fell over"):
            await engine.rank(texts, "29", "dense", "en")
    async with retriever(tmp_path, model) as engine:
        await engine.rank(texts, "29", "dense", "en")
    assert model.calls == [failing.calls[2]]


async def test_failure_reaches_waiting_and_next_are_served(tmp_path: Path) -> None:
    async with retriever(tmp_path, Model(fails_at=1)) as engine:
        results = await asyncio.gather(
            *(engine.rank([str(item)], "q", "dense", "en") for item in range(3)), return_exceptions=True
        )
        assert [type(result) for result in results] == [UsageError] * 3
        assert (await engine.rank(["0"], "0", "dense", "en"))[0].dense == 1.0


async def test_cancelled_request_does_not_disturb_others(tmp_path: Path) -> None:
    gate = threading.Event()
    model = Model(gate)
    async with retriever(tmp_path, model) as engine:
        first = asyncio.create_task(engine.rank(["rain"], "grief", "dense", "en"))
        assert await asyncio.to_thread(model.begun.wait, 60)
        gone = asyncio.create_task(engine.rank(["fog"], "grief", "dense", "en"))
        stays = asyncio.create_task(engine.rank(["snow"], "grief", "dense", "en"))
        await asyncio.sleep(0)
        gone.cancel()
        first.cancel()
        gate.set()
        assert (await stays)[0].dense == pytest.approx(vector_of("snow") @ vector_of("grief"), abs=1e-6)
    assert model.calls == [["grief", "rain"], ["snow"]]


async def test_closing_ends_work_after_batch_it_is_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "TEXTS_PER_WRITE", 1)
    gate = threading.Event()
    model = Model(gate)
    async with retriever(tmp_path, model) as engine:
        waiting = [
            asyncio.create_task(engine.rank([f"{item} {number}" for number in range(30)], "q", "dense", "en"))
            for item in range(3)
        ]
        assert await asyncio.to_thread(model.begun.wait, 60)
        # Runs once closing has begun.
        asyncio.get_running_loop().call_soon(gate.set)
    assert len(model.calls) == 1
    assert [type(result) for result in await asyncio.gather(*waiting, return_exceptions=True)] == [asyncio.CancelledError] * 3
    with pytest.raises(RuntimeError, match="shutdown"):
        await engine.rank(["rain"], "grief", "dense", "en")


ROOT = Path(__file__).resolve().parents[3]
ONE, TWO = np.array([1.0, 0.0], dtype=np.float32), np.array([0.6, 0.8], dtype=np.float32)
GRIEF, RAIN = text_key("grief"), text_key("rain")


def opened(folder: Path, identity: str = "model") -> "closing[EmbeddingStore]":
    return closing(EmbeddingStore(folder, identity))


def test_stored_vectors_come_back_to_the_bit(tmp_path: Path) -> None:
    # A lone half of a surrogate pair can be in JSON.
    vectors = {GRIEF: np.array([0.1, np.nextafter(np.float32(0.7), np.float32(1))], dtype=np.float32), text_key("\ud83d"): TWO}
    with opened(tmp_path / "embeddings", "org/model sha256:1") as store:
        assert store.get([GRIEF]) == {}
        store.put(vectors)
    with opened(tmp_path / "embeddings", "org/model sha256:1") as store:
        stored = store.get([RAIN, *vectors])
    assert {key: vector.tobytes() for key, vector in stored.items()} == {key: vector.tobytes() for key, vector in vectors.items()}
    assert store.path.name.startswith("org-model-")


def test_models_do_not_share_a_store(tmp_path: Path) -> None:
    with opened(tmp_path, "model sha256:1") as first, opened(tmp_path, "model sha256:2") as second:
        first.put({GRIEF: ONE})
        assert second.get([GRIEF]) == {}


def test_the_first_vector_of_a_text_stays(tmp_path: Path) -> None:
    with opened(tmp_path) as first, opened(tmp_path) as second:
        first.put({GRIEF: ONE})
        returned = second.put({GRIEF: TWO, RAIN: TWO})
    assert [returned[key].tolist() for key in (GRIEF, RAIN)] == [ONE.tolist(), TWO.tolist()]


def test_two_processes_end_with_the_same_vectors(tmp_path: Path) -> None:
    code = """
import sys
from contextlib import closing
from pathlib import Path
import numpy as np
from tasks.retrieval.engine import EmbeddingStore, text_key
own = np.array([float(sys.argv[2]), 0.0], dtype=np.float32)
with closing(EmbeddingStore(Path(sys.argv[1]), "model")) as store:
    kept = [store.put({text_key(str(number)): own for number in range(start, start + 10)}) for start in range(0, 600, 10)]
print(sum(len(part) for part in kept), *(float(vector[0]) for part in kept for vector in part.values()))
"""
    commands = [[sys.executable, "-c", code, str(tmp_path), own] for own in ("1.0", "2.0")]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for command in commands]
    outputs = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert outputs[0] == outputs[1]
    assert outputs[0][0] == "600"


def test_damaged_file_is_one_clear_error(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        pass
    store.path.write_bytes(b"no database at all" * 500)
    with pytest.raises(LakeError, match="embedding cache cannot be used") as caught:
        EmbeddingStore(tmp_path, "model")
    assert caught.value.where == str(store.path)
    assert "delete a damaged file" in str(caught.value.next_step)


def test_damaged_vector_is_one_clear_error(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.put({GRIEF: ONE})
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE embeddings SET vector = ?", (TWO.tobytes(),))
    with opened(tmp_path) as store, pytest.raises(LakeError) as caught:
        store.get([GRIEF])
    assert GRIEF.hex() in str(caught.value.got)
