"""A conversation of AttuneBench in two parts: what a model may be shown, and what the person who talked made of it (the gold).

The gold is stored in the layers `turn_annotations` and `conversation_annotations`. Names are those of the codebook; adjectives
are in lower case, as there. A prompt is built of the visible part alone.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal, get_args

import dataframely as dy
from pydantic import Field

from schemas.base import Frozen
from schemas.tables.columns import OfItem
from schemas.vocabulary import Language

ReplyLabel = Literal["original", "alternate", "human"]
"""Whose reply a text is: the original model's, an improved one of a model, the person's own edit."""

YesNo = Literal["yes", "no", "na"]

POST = "post"
"""The part that is asked once; all others belong to a turn."""


def part_of(call: str, turn: int | None = None) -> str:
    """Return the name of the answer to a call: `turn 2 review`, `post`."""
    return call if turn is None else f"turn {turn} {call}"


class Wording(Frozen):
    """A question about a reply as it is put to an observer, and to the person who got the reply."""

    observer: str = Field(min_length=1)
    participant: str = Field(min_length=1)


class ShownCodebook(Frozen):
    """What names mean, cut to those that a conversation uses; an id without a wording is shown as it is."""

    questions: Mapping[str, Wording]
    pairwise: Mapping[str, str]
    adjectives: tuple[str, ...] = Field(description="of moods and of PANAS, in its order")
    q1_options: tuple[str, ...]
    q2_options: tuple[str, ...]
    q3_options: tuple[str, ...] = Field(description="best first")
    follow_up_options: tuple[str, ...] = Field(default=(), description="none = free short phrases")
    branches: Mapping[str, str]


class VisibleComparison(Frozen):
    """Which two replies are compared, and by which question."""

    question: str
    label_a: ReplyLabel
    label_b: ReplyLabel


class VisibleTurn(Frozen):
    """A message, the reply to it, and what is asked about both."""

    number: int = Field(ge=1)
    user_message: str
    model_reply: str
    questions: tuple[str, ...] = Field(description="ids of those that apply, in the order of the record")
    comparisons: tuple[VisibleComparison, ...]
    alternates: Mapping[ReplyLabel, str] = Field(description="replies but the original one, by label")

    def reply(self, label: ReplyLabel) -> str:
        """Return the text behind a label."""
        return self.model_reply if label == "original" else self.alternates[label]


class PanasTotals(Frozen):
    """Sums of the ten positive and of the ten negative items, 10 to 70; null = not known."""

    positive: int | None = Field(default=None, ge=10, le=70)
    negative: int | None = Field(default=None, ge=10, le=70)


class VisibleConversation(Frozen):
    """What a model may be shown of a conversation; no value of an annotation but the totals before it."""

    conversation_id: str
    language: Language = "en"
    topic: str | None = None
    turns: tuple[VisibleTurn, ...]
    profile: Mapping[str, Any] = Field(description="of the person, without participant_id; shown in the omniscient modes")
    pre_panas: PanasTotals = Field(description="summed from the items, or as stated where items lack")
    codebook: ShownCodebook

    def to_json(self) -> str:
        """Return it as JSON, the same for equal conversations."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, sort_keys=True)


class EmotionTag(Frozen):
    """A mood that a person marked in a turn."""

    name: str
    intensity: int | None = Field(default=None, ge=1, le=7)


class Judgement(Frozen):
    """A person's answer about a reply: what it did, and what was wanted of it; null = not given."""

    question: str
    observed: YesNo | None = None
    preferred: YesNo | None = None


class Comparison(VisibleComparison):
    """A comparison with the label of the reply that was preferred; null = none was."""

    winner: ReplyLabel | None = None


class TurnGold(Frozen):
    """A person's annotations of a turn."""

    number: int = Field(ge=1)
    emotions: tuple[EmotionTag, ...] | None = Field(default=(), description="none = neutral or stable; null = not said")
    judgements: tuple[Judgement, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    human_edit: str | None = Field(default=None, description="the reply as the person would have had it")


class Panas(Frozen):
    """Answers to the questionnaire on a scale from 1 to 7, not the usual 1 to 5."""

    items: Mapping[str, int] = Field(default_factory=dict, description="by adjective")
    stored: PanasTotals | None = Field(default=None, description="as the record has them")
    recomputed: PanasTotals | None = Field(default=None, description="sums of the items; null if there are not all ten")


class WideAnswers(Frozen):
    """What a person said of the conversation as a whole."""

    q1: tuple[str, ...] | None = None
    q2: str | None = None
    q3: str | None = None
    follow_up: tuple[str, ...] | None = ()


class ConversationGold(Frozen):
    """A person's annotations of a conversation."""

    conversation_id: str
    participant_id: str | None = None
    turns: tuple[TurnGold, ...]
    pre_panas: Panas = Panas()
    post_panas: Panas = Panas()
    answers: WideAnswers = WideAnswers()
    branches: Mapping[str, int | None] = Field(default_factory=dict, description="perceiving, facilitating, ...: 1 to 7")
    groups: Mapping[str, str] = Field(default_factory=dict, description="what results are filtered and broken down by")


def _rating(*, nullable: bool = False) -> dy.Int64:
    return dy.Int64(nullable=nullable, min=1, max=7)


class TurnAnnotations(OfItem):
    """One row per turn of an item. Key: (dataset, item_id, number). Written by build; never opened by infer."""

    number = dy.Int64(primary_key=True, min=1, description="of the turn, from 1")
    emotions = dy.List(
        dy.Struct({"name": dy.String(min_length=1), "intensity": _rating(nullable=True)}),
        nullable=True,
        description="none = neutral or stable; null = not said",
    )
    judgements = dy.List(
        dy.Struct(
            {
                "question": dy.String(min_length=1),
                "observed": dy.Enum(get_args(YesNo), nullable=True),
                "preferred": dy.Enum(get_args(YesNo), nullable=True),
            }
        ),
        description="what the person saw in the reply, and what they wanted to see",
    )
    comparisons = dy.List(
        dy.Struct(
            {
                "question": dy.String(min_length=1),
                "label_a": dy.Enum(get_args(ReplyLabel)),
                "label_b": dy.Enum(get_args(ReplyLabel)),
                "winner": dy.Enum(get_args(ReplyLabel), nullable=True),
            }
        ),
        description="which of two replies the person preferred; no winner = a tie, or not said",
    )
    human_edit = dy.String(nullable=True, description="the reply as the person would have had it")


def _panas(when: str) -> dy.Struct:
    totals: dict[str, dy.Column] = {name: dy.Int64(nullable=True, min=10, max=70) for name in ("positive", "negative")}
    return dy.Struct(
        {
            "items": dy.List(dy.Struct({"name": dy.String(), "value": _rating()})),
            "stored": dy.Struct(totals, nullable=True),
            "recomputed": dy.Struct(totals, nullable=True),
        },
        description=f"mood {when}: ratings of adjectives, and their sums as stored and as added up here",
    )


class ConversationAnnotations(OfItem):
    """One row per item. Key: (dataset, item_id). Written by build; never opened by infer."""

    conversation_id = dy.String(min_length=1, description="id of the conversation")
    participant_id = dy.String(nullable=True, description="who talked; null = not said")
    pre_panas = _panas("before the conversation")
    post_panas = _panas("after the conversation")
    answers = dy.Struct(
        {
            "q1": dy.List(dy.String(), nullable=True),
            "q2": dy.String(nullable=True),
            "q3": dy.String(nullable=True),
            "follow_up": dy.List(dy.String(), nullable=True),
        },
        description="to the questions about the whole conversation",
    )
    branches = dy.List(
        dy.Struct({"name": dy.String(), "value": _rating(nullable=True)}), description="ratings of the four branches"
    )
    groups = dy.List(dy.Struct({"name": dy.String(), "value": dy.String()}), description="scores of questionnaires among them")
    na_answers = dy.Int64(min=0, description="answers about replies that are na")
    empty_tag_lists = dy.Int64(min=0, description="turns without a mood")
    remarks = dy.List(dy.String(), description="what is odd in the record, and how it was read")
