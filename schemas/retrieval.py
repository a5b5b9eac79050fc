"""Chunks of a context, their ranking, and the options of the settings that retrieve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pydantic import Field

from schemas.base import Frozen
from schemas.vocabulary import Language, Preset, Ranking


@dataclass(frozen=True)
class Chunk:
    """A piece of a text: `text[start:end]`, end exclusive; token spans count the tokens of the whole text."""

    number: int
    text: str
    start: int
    end: int
    token_start: int
    token_end: int


class Ranked(NamedTuple):
    """A text in a ranking: its place in the list given, and its scores; null where a ranking does not compute them.

    `dense`: cosine with the query, in [-1, 1] (ranking of outliers: mean cosine with the other texts). `bm25`: Okapi BM25.
    `fused`: reciprocal-rank fusion, k = 60; the ranking by words weighs the more, the fewer texts hold any.
    """

    place: int
    dense: float | None = None
    bm25: float | None = None
    fused: float | None = None


class Retriever(Protocol):
    """Splits texts and ranks pieces of them. Passed to solvers, which know nothing of tokenizers and embeddings."""

    async def split(self, text: str, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
        """Chunks of at most so many tokens."""

    async def rank(self, texts: Sequence[str], query: str | None, ranking: Ranking, language: Language) -> tuple[Ranked, ...]:
        """All texts, best first, without a query the one least like the others first; equal scores in the order given."""


class RetrievalOptions(Frozen):
    """Parameters of the settings; what is null follows from preset, task and model (arXiv 2509.07403, Table 8)."""

    preset: Preset = Field(default="paper", description="whose parameters count where none is given: paper or released code")
    chunk_tokens: int | None = Field(default=None, ge=16, le=8192, description="longest chunk")
    overlap_tokens: int = Field(default=50, ge=0, description="most tokens that neighbouring chunks share; below chunk_tokens")
    top_k: int | None = Field(default=None, ge=1, description="chunks shown to the model")
    initial_k: int | None = Field(default=None, ge=1, description="chunks that a setting with a helper enriches and ranks again")
    ranking: Ranking = Field(default="dense", description="by meaning (dense), by words (bm25), or both (fused)")
    embedder: str = Field(
        default="auto",
        description="sentence-transformers model or folder; auto = BAAI/bge-m3 if it is here, else minilm",
    )
    legacy_bos: bool | None = Field(
        default=None, description="count a beginning-of-text token per piece, as the released code does; null = as the preset"
    )
    question_as_query: bool = Field(default=False, description="rank by the question also where an item has a subject for it")
    most_searches: int = Field(default=5, ge=1, le=20, description="most searches of the model itself, per item or step")

    @property
    def counts_bos(self) -> bool:
        """Whether a beginning-of-text token is counted per piece."""
        return self.preset == "code_2026_01" if self.legacy_bos is None else self.legacy_bos
