import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import LakeError
from tasks.retrieval.store import EmbeddingStore, text_key

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
from tasks.retrieval.store import EmbeddingStore, text_key
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
    with pytest.raises(LakeError, match="store of embeddings cannot be used") as caught:
        EmbeddingStore(tmp_path, "model")
    assert caught.value.where == str(store.path)
    assert "delete it" in str(caught.value.next_step)


def test_damaged_vector_is_one_clear_error(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.put({GRIEF: ONE})
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE embeddings SET vector = ?", (TWO.tobytes(),))
    with opened(tmp_path) as store, pytest.raises(LakeError) as caught:
        store.get([GRIEF])
    assert GRIEF.hex() in str(caught.value.got)
