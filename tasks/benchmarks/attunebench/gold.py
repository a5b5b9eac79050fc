"""Layers `turn_annotations` and `conversation_annotations`: what people said of a conversation, gold of its item."""

from typing import get_args

import dataframely as dy

from schemas.tables.columns import OfItem
from tasks.benchmarks.attunebench.conversation import ReplyLabel, YesNo


def _rating(*, nullable: bool = False) -> dy.Int64:
    return dy.Int64(nullable=nullable, min=1, max=7)


class TurnAnnotations(OfItem):
    """One row per turn of an item. Key: (dataset, item_id, number). Written by build; never opened by infer."""

    number = dy.Int64(primary_key=True, min=1)
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
        )
    )
    comparisons = dy.List(
        dy.Struct(
            {
                "question": dy.String(min_length=1),
                "label_a": dy.Enum(get_args(ReplyLabel)),
                "label_b": dy.Enum(get_args(ReplyLabel)),
                "winner": dy.Enum(get_args(ReplyLabel), nullable=True),
            }
        )
    )
    human_edit = dy.String(nullable=True, description="the reply as the person would have had it")


def _panas() -> dy.Struct:
    totals: dict[str, dy.Column] = {name: dy.Int64(nullable=True, min=10, max=70) for name in ("positive", "negative")}
    return dy.Struct(
        {
            "items": dy.List(dy.Struct({"name": dy.String(), "value": _rating()})),
            "stored": dy.Struct(totals, nullable=True),
            "recomputed": dy.Struct(totals, nullable=True),
        }
    )


class ConversationAnnotations(OfItem):
    """One row per item. Key: (dataset, item_id). Written by build; never opened by infer."""

    conversation_id = dy.String(min_length=1)
    participant_id = dy.String(nullable=True)
    pre_panas = _panas()
    post_panas = _panas()
    answers = dy.Struct(
        {
            "q1": dy.List(dy.String(), nullable=True),
            "q2": dy.String(nullable=True),
            "q3": dy.String(nullable=True),
            "follow_up": dy.List(dy.String(), nullable=True),
        }
    )
    branches = dy.List(dy.Struct({"name": dy.String(), "value": _rating(nullable=True)}))
    groups = dy.List(dy.Struct({"name": dy.String(), "value": dy.String()}), description="scores of questionnaires among them")
    na_answers = dy.Int64(min=0, description="answers about replies that are na")
    empty_tag_lists = dy.Int64(min=0, description="turns without a mood")
    remarks = dy.List(dy.String(), description="what is odd in the record, and how it was read")
