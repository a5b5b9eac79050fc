"""An item as it was asked: what was shown and answered, what that earned, and the calls sent for it."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, JsonValue
from pydantic.dataclasses import dataclass

from schemas.base import Frozen, omittable
from schemas.documents.document import Document
from schemas.metrics import Metric
from schemas.tables.columns import OfAskedItem, row_model
from schemas.tables.items import Contexts, Items, Retrievals
from schemas.tables.responses import Responses, SimulationFaults
from schemas.vocabulary import ItemStatus


@dataclass(frozen=True)
class ShownOption:
    """An option as shown to the model."""

    letter: str
    index: Annotated[int, Field(description="its place in the item")]
    text: str
    gold: bool
    chosen: bool
    points: float | None = omittable(description="of a questionnaire; absent = it has none")


if TYPE_CHECKING:
    ItemColumns = Frozen
    ContextRow = Frozen
    CallColumns = Frozen
    RetrievedChunk = Frozen
    DialogueFault = Frozen
else:
    ItemColumns, ContextRow = row_model(Items), row_model(Contexts)
    _KEY = OfAskedItem.column_names()
    CallColumns = row_model(Responses, without=(*_KEY, "messages", "option_order", "paid_as"))
    RetrievedChunk = row_model(Retrievals, without=_KEY)
    DialogueFault = row_model(SimulationFaults, without=(*_KEY, "number", "refused"))

Rebuilt = Literal["same", "different", "not rebuilt"]
Journaled = Literal["same", "different", "no such call", "no journal"]


class SpokenLine(Frozen):
    """What one party of a dialogue said."""

    speaker: str = Field(description="role that said it")
    text: str
    turn: int = Field(description="from 1, shared by a line and the reply to it")
    call_key: str
    language: str | None = Field(description="found in the text; null = it cannot be told")
    characters: int


class AnswerScore(Frozen):
    """What an answer earned under a metric."""

    part: str = Field(description="which of the item's answers; empty = it has one")
    method: str = Field(description="as the blueprint names it")
    metric: Metric = Field(description="what is measured")
    value: float | None = Field(description="null = missing")
    points: float | None = Field(description="what it is worth on 0-100; null = missing, or no item is right or wrong by it")
    status: ItemStatus
    parsed_answer: str | None = Field(description="what the reply was read as")
    predicted: tuple[str, ...] | None = Field(description="labels that are named, for F1")
    gold: tuple[str, ...] | None = Field(description="right labels, for F1")
    chosen_place: int | None = Field(description="0-based place of the chosen option as shown, of a single choice")
    gold_place: int | None = Field(description="0-based place of the right option as shown")
    why: str = Field(description="in words")


class AnswerRating(Frozen):
    """A judge's rating of an answer in a dimension."""

    part: str = Field(description="which of the item's answers; empty = it has one")
    judge: str
    judge_repetition: int = Field(description="times the judge rated the answer before")
    rubric: str = Field(description="its id")
    dimension: str = Field(description="of the rubric")
    rating: int | None = Field(description="null = none came, or it cannot be read")
    lowest: int = Field(description="end of the scale")
    highest: int = Field(description="other end of the scale")
    parse_status: str = Field(description="how the rating was read")
    rationale: str | None = Field(description="the judge's reason")
    raw_reply: str | None = Field(description="the judge's reply")


class GivenAnswer(Frozen):
    """What was answered, and what that earned. Null where it is not in this run."""

    call: str | None = Field(description="how the last call ended that it rests on")
    reply: str | None
    turns: tuple[SpokenLine, ...] | None = Field(description="null = it is no dialogue")
    finish_reason: str | None = Field(description="why the reply ended, as the server says")
    remark: str | None = Field(description="what is odd about the reply")
    failure: str | None
    failed_role: str | None = Field(description="whose call failed")
    scores: tuple[AnswerScore, ...]
    ratings: tuple[AnswerRating, ...]


class PartAnswer(GivenAnswer):
    """One of the answers of an item that has several."""

    part: str = Field(description="which of the item's answers; empty = it has one")


class AnsweredItem(GivenAnswer):
    """An item as it was asked once; of several answers the first."""

    item_id: str = Field(description="id in its dataset")
    repetition: int = Field(description="0-based number of the time that it was asked")
    value: float | None = Field(description="mean of its values over the metrics; null = it has none")
    points: float | None = Field(description="mean of what they are worth on 0-100; null = none is worth anything of its own")
    language: str = Field(description="of its texts")
    question_type: str = Field(description="decides prompt, parser and metrics")
    subset: str | None = Field(description="part of the dataset that it is in")
    question: str
    references: tuple[str, ...] | None = Field(description="right answers as texts")
    wrong_references: tuple[str, ...] | None = Field(description="wrong answers as texts")
    option_points: tuple[float | None, ...] | None = Field(description="what each option earns")
    fixed_order: bool = Field(description="the options must keep their order")
    context: str | None = Field(description="text before the question; null = none, or a long one")
    context_characters: int
    options: tuple[ShownOption, ...] | None = Field(description="in the order shown; null = it has none")
    error: str | None
    http_status: int | None = Field(description="of the answer")
    left_out_characters: int | None = Field(description="of the context, so that it fits the model")
    answers: tuple[PartAnswer, ...] = Field(description="each of several; empty = it has one")
    next: str = Field(description="the command that shows all of it")


class PromptProof(Frozen):
    """What is known of the messages of one call."""

    hash_holds: bool = Field(description="they have the hash that the layer names")
    rebuilt: Rebuilt = Field(description="whether the stored item gives that hash again")
    why: str | None = Field(description="what is in the way of it")
    journal: Journaled = Field(description="whether the journal's call has the same messages and the key of its content")
    journal_messages: JsonValue = Field(default=None, description="the journal's own, where they differ and may be shown")


class SentCall(CallColumns):
    """A call that was sent for an item."""

    messages: JsonValue = Field(description="null = they are withheld")
    proof: PromptProof


class PromptChunk(Frozen):
    """A chunk in the prompt."""

    query_number: int
    rank: int
    text: str
    holds_needle: bool | None


class AskedOnce(Frozen):
    """One time that an item was asked."""

    repetition: int = Field(description="0-based number of the time that it was asked")
    option_order: tuple[int, ...] | None = Field(description="the item's option shown at each place; null = as in the item")
    options: tuple[ShownOption, ...] | None
    turns: tuple[SpokenLine, ...] | None
    calls: tuple[SentCall, ...]
    retrieved: tuple[RetrievedChunk, ...]
    chunks: tuple[PromptChunk, ...]
    ratings: tuple[AnswerRating, ...]
    scores: tuple[AnswerScore, ...]
    answers: tuple[PartAnswer, ...]
    faults: tuple[DialogueFault, ...] = omittable(
        default=(), description="of whoever was played in the dialogue, as far as they count; absent = none"
    )


class GoldRow(Frozen):
    """What is right, where items do not hold it: a row of a layer of gold."""

    layer: str
    columns: dict[str, JsonValue]


class ItemSource(Frozen):
    """The row of a source file."""

    source_file: str
    source_row: int = Field(description="0-based, header not counted")
    source_row_sha256: str


class SourcedItem(ItemColumns):
    """An item, and where it is from."""

    source: ItemSource


class LakeFile(Frozen):
    """A file of the lake that holds what is shown."""

    layer: str
    file: str
    fingerprint: str = Field(description="hash of what it was computed from")
    content_sha256: str
    package_version: str = Field(description="of MoodFlow, which wrote it")
    git_commit: str | None = Field(description="of the code that wrote it")


class ItemExplanation(Document):
    """Everything about an item and how one model and setting answered it."""

    run: str = Field(description="its name")
    benchmark: str = Field(description="id of its blueprint")
    level: Literal["item"] = "item"
    dataset: str = Field(description="its id")
    model: str = Field(description="its name")
    setting: str = Field(description="how it was asked")
    redacted: bool = Field(description="texts that must not be passed on are left out")
    item: SourcedItem
    context: ContextRow | None = Field(description="of a long item")
    gold: tuple[GoldRow, ...] = omittable(default=(), description="absent = the item has it, or it is withheld")
    withheld: str | None = Field(description="licence for which texts are left out of a redacted run")
    asked: tuple[AskedOnce, ...]
    stored: tuple[LakeFile, ...]
    above: str = Field(description="the command that lists the rows of the dataset")
