"""A long context: source of its text, its needle, the options for building such items, and the retrieval of its chunks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Field

from schemas.base import Frozen
from schemas.item import Item, Record
from schemas.vocabulary import ContextTask, Language, Preset, Ranking

NeedleStyle = Literal["matched", "as_is"]
"""`matched`: needle and haystack have the same case and line layout, so that nothing but its content shows the needle."""


class Context(Frozen):
    """What is known of an item's long context besides its text.

    The text itself is `Item.context`, or in segments `Item.options`. Character spans are offsets into it, end exclusive; token
    spans likewise, counted by the tokenizer that `ContextOptions.tokenizer` names.
    """

    task: ContextTask
    query: str | None = Field(default=None, description="query that ranks its chunks; null = the question, or the task's own")
    tokens: int = Field(ge=0, description="length of the context")
    target_tokens: int | None = Field(default=None, ge=1, description="requested length; null = as in the source")
    needle: str | None = Field(default=None, description="text that holds the answer; null where there is no such text")
    needle_id: str | None = Field(default=None, description="name of the needle in its source")
    needle_start: int | None = Field(default=None, ge=0)
    needle_end: int | None = Field(default=None, ge=1)
    needle_token_start: int | None = Field(default=None, ge=0)
    needle_token_end: int | None = Field(default=None, ge=1)
    target_depth_percent: float | None = Field(default=None, ge=0, le=100)
    depth_percent: float | None = Field(default=None, ge=0, le=100, description="tokens before the needle / all but its own")
    haystack: str | None = Field(default=None, description="where the text around the needle comes from, with its span there")
    needle_style: NeedleStyle | None = None
    renamed: tuple[tuple[str, str], ...] = Field(default=(), description="proper nouns changed, from and to, in needle and item")


class ContextOptions(Frozen):
    """How long contexts are built. Tasks that read whole documents as they are know none of this."""

    lengths: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(), description="target lengths in tokens; several = a grid; none = drawn per task"
    )
    depths: tuple[Annotated[float, Field(ge=0, le=100)], ...] = Field(
        default=(), description="needle depths in percent; several = a grid; none = drawn"
    )
    needle_style: NeedleStyle = Field(
        default="matched", description="matched: needles look like the text around them; as_is: unchanged"
    )
    emotion_pairs: Literal["published", "balanced"] = Field(
        default="published",
        description="how often each emotion is that of the odd segment: as published, or balanced",
    )
    length_demand: bool = Field(default=True, description="prompts for long replies state the length")
    tokenizer: Literal["minilm"] = Field(default="minilm", description="counts lengths: WordPiece of all-MiniLM-L6-v2")


@dataclass(frozen=True)
class Sample:
    """An item that there could be; `record` is the one its question comes from.

    `build` raises ValueError, LookupError, TypeError or AttributeError where the record does not allow an item.
    """

    item_id: str
    record: Record
    build: Callable[[], tuple[Item, Context | None]]
    cluster: str | None = None
    """As in `Item`, for the draw, which takes one sample of each cluster before it takes a second of any; null = its own."""

    unit: str | None = None
    """What its place in the draw rests on besides its record: the needle, whatever its length and depth; null = its own name.

    Empty: its record alone.
    """


@dataclass(frozen=True)
class LazySample(Sample):
    """A sample with a long context: cheap to list, long to build, so that only those that are sampled are built."""

    build: Callable[[], tuple[Item, Context]]


SampleBuilder = Callable[[Sequence[Record], ContextOptions, int], Sequence[LazySample]]
"""From the records of all files of a dataset in order, the options and a seed to all items that there are.

The same arguments give the same items, whichever of them are built and in which order. Record.file tells the files apart.
"""


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

    preset: Preset = Field(default="paper", description="default parameters: the paper's, or the released code's")
    chunk_tokens: int | None = Field(default=None, ge=16, le=8192, description="longest chunk, in tokens")
    overlap_tokens: int = Field(default=50, ge=0, description="most tokens shared by neighbouring chunks; below chunk_tokens")
    top_k: int | None = Field(default=None, ge=1, description="chunks shown to the model")
    initial_k: int | None = Field(default=None, ge=1, description="chunks that a setting with a helper enriches and reranks")
    ranking: Ranking = Field(default="dense", description="by meaning (dense), by words (bm25), or both (fused)")
    embedder: str = Field(
        default="auto",
        description="sentence-transformers model or folder; auto = BAAI/bge-m3 if installed, else minilm",
    )
    legacy_bos: bool | None = Field(
        default=None, description="count a beginning-of-text token per piece, as the released code does; null = as the preset"
    )
    question_as_query: bool = Field(default=False, description="rank by the question even if an item has a subject for ranking")
    most_searches: int = Field(default=5, ge=1, le=20, description="most searches by the model, per item or step")

    @property
    def counts_bos(self) -> bool:
        """Whether a beginning-of-text token is counted per piece."""
        return self.preset == "code_2026_01" if self.legacy_bos is None else self.legacy_bos
