import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_hub import constants

from schemas.errors import UsageError
from tasks.retrieval import embedding
from tasks.retrieval.embedding import VECTOR_TOLERANCE, SentenceEmbedder, find_embedder
from tasks.retrieval.ranking import TIE
from tests.tasks.retrieval.texts import CLAUSES

# Of libraries below sentence-transformers.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _own_hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*_: Any) -> None:
        raise AssertionError("a model was looked for in the network")

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    find_embedder.cache_clear()
    yield
    find_embedder.cache_clear()


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    return SentenceEmbedder(find_embedder("minilm"))


def cached_model(tmp_path: Path, name: str, weights: bytes | None = b"weights") -> Path:
    folder = tmp_path / "hub" / f"models--{name.replace('/', '--')}"
    snapshot = folder / "snapshots" / "a1b2"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("a1b2", encoding="utf-8")
    (snapshot / "modules.json").write_text("[]", encoding="utf-8")
    (snapshot / "config.json").write_text("{}", encoding="utf-8")
    if weights is not None:
        (snapshot / "pytorch_model.bin").write_bytes(weights)
    return snapshot


def test_auto_is_papers_model_if_complete(tmp_path: Path) -> None:
    snapshot = cached_model(tmp_path, "BAAI/bge-m3", weights=None)
    assert find_embedder("auto") == find_embedder("minilm")
    assert find_embedder("minilm").name == "all-MiniLM-L6-v2"
    (snapshot / "pytorch_model.bin").write_bytes(b"weights")
    find_embedder.cache_clear()
    files = find_embedder("auto")
    assert (files.name, files.folder) == ("BAAI/bge-m3", snapshot)
    assert find_embedder("BAAI/bge-m3") == files


def test_the_identity_follows_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def identity(folder: str, **files: str) -> str:
        (tmp_path / folder / "mine").mkdir(parents=True)
        for name, content in {"modules": "[]", **files}.items():
            (tmp_path / folder / "mine" / f"{name}.json").write_text(content, encoding="utf-8")
        return find_embedder(str(tmp_path / folder / "mine")).identity

    first = identity("a", config="{}")
    assert identity("b", config="{}") == first
    assert first.startswith("mine sha256:")
    assert len({first, identity("c", config="{ }"), identity("d", other="{}"), identity("e", config="{}", other="{}")}) == 4
    monkeypatch.setattr(embedding, "VERSION", embedding.VERSION + 1)
    assert identity("f", config="{}") != first


def test_ends_and_size_stand_for_very_large_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "WHOLE_FILE_BYTES", 10)
    monkeypatch.setattr(embedding, "END_BYTES", 4)
    identities = []
    for number, weights in enumerate((b"head....tail", b"head,,,,tail", b"head.....tail", b"heat....tail", b"head....tall")):
        snapshot = cached_model(tmp_path, f"org/m{number}", weights)
        identities.append(find_embedder(str(snapshot)).identity)
    assert identities[0] == identities[1]
    assert len(set(identities)) == 4


@pytest.mark.parametrize("name", ["nobody/nothing", "no such model!", "BAAI/bge-m3"])
def test_model_not_here_is_not_fetched(name: str) -> None:
    with pytest.raises(UsageError, match="was not found") as caught:
        find_embedder(name)
    assert f"hf download {name}" in str(caught.value.next_step)


def test_unloadable_model_is_one_clear_error(tmp_path: Path) -> None:
    files = find_embedder(str(cached_model(tmp_path, "org/broken")))
    with pytest.raises(UsageError, match="cannot be loaded"):
        SentenceEmbedder(files)


def test_vectors_are_those_of_sentence_transformers(embedder: SentenceEmbedder) -> None:
    texts = [*CLAUSES, "", "I am sad, and " * 50]
    vectors = embedder(texts)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-6)
    assert vectors == pytest.approx(embedder._model.encode(texts), abs=2e-6)


def test_long_text_is_mean_of_windows(embedder: SentenceEmbedder) -> None:
    # One token per word; a window holds 256 with the first and the last mark, so 254 words, and 46 are left.
    draw = np.random.default_rng(0)
    words = [str(word) for word in draw.choice(["sorrow", "bread", "winter", "laughing", "engine"], 300)]
    first, second = embedder._model.encode([" ".join(words[:254]), " ".join(words[254:])])
    mean = (254 * first + 46 * second) / 300
    vector = embedder([" ".join(words)])[0]
    assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=2e-6)
    assert float(vector @ first) < 0.9999


def test_batching_keeps_vectors_within_tolerance(embedder: SentenceEmbedder) -> None:
    texts = [f"{text} {CLAUSES[index - 1]}" * (1 + index % 3) for index, text in enumerate(CLAUSES[:3])]
    texts += ["Fear", "word " * 80]
    together = embedder(texts)
    for again in (embedder(texts[::-1])[::-1], np.concatenate([embedder([text]) for text in texts])):
        assert np.linalg.norm(together - again, axis=1).max() <= VECTOR_TOLERANCE
    # Two vectors of one text have cosines with a third that differ by their own difference at most: they are tied in rankings.
    assert VECTOR_TOLERANCE <= TIE
