"""A long context: source of its text, the needle in it, and the options for building such items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.item import Item, Record
from schemas.vocabulary import ContextTask

NeedleStyle = Literal["matched", "as_is"]
"""`matched`: needle and haystack have the same case and line layout, so that nothing but its content shows the needle."""


class Context(Frozen):
    """What is known of an item's long context besides its text.

    The text itself is `Item.context`, or in segments `Item.options`. Character spans are offsets into it, end exclusive; token
    spans likewise, counted by the tokenizer that `ContextOptions.tokenizer` names.
    """

    task: ContextTask
    query: str | None = Field(default=None, description="what ranks its chunks; null = the question, or the task has its own")
    tokens: int = Field(ge=0, description="length of the context")
    target_tokens: int | None = Field(default=None, ge=1, description="length that was asked for; null = as the source has it")
    needle: str | None = Field(default=None, description="text that holds the answer; null where there is no such text")
    needle_id: str | None = Field(default=None, description="name of the needle at its source")
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
        default="matched", description="matched: needles look like the text around them; as_is: they are left alone"
    )
    emotion_pairs: Literal["published", "balanced"] = Field(
        default="published",
        description="the emotion of all segments and of the odd one: as often as published, or in balance",
    )
    length_demand: bool = Field(default=True, description="prompts that want long replies say how long")
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
