"""Layers `responses`: model calls, `answers`: what they come to, `judgements` and `simulation_faults`: what is found in these."""

from typing import get_args

import dataframely as dy
import polars as pl

from schemas.tables.columns import ADDED, MEASURED, OfAskedItem, OfItem, likeliest_tokens
from schemas.vocabulary import FAILURES, REMARKS, FaultSeverity, PaidAs, ParseStatus, ResponseStatus

PAID_AS = dy.Enum(
    get_args(PaidAs), nullable=True, metadata=ADDED, description="how the call was paid; null = not known, or it was not"
)


class Responses(OfAskedItem):
    """One row per model call. Key: (dataset, item_id, model, setting, repetition, turn). Written by infer."""

    turn = dy.Int64(primary_key=True, min=0, description="number of the call among all about the item")
    role = dy.String(min_length=1, description="who was asked; tested = the model under test")
    asked_model = dy.String(min_length=1, description="the model that was asked")
    step = dy.String(min_length=1, description="what for, in the words of the setting")
    call_key = dy.String(regex=r"^[0-9a-f]{64}$", description="key of the reply in the journal")
    messages = dy.String(min_length=2, description="the conversation sent, canonical JSON")
    option_order = dy.List(dy.Int64(), nullable=True, description="the item's option shown at each place; null = as in the item")
    messages_sha256 = dy.String(regex=r"^[0-9a-f]{64}$", description="hash of `messages`")
    status = dy.Enum(get_args(ResponseStatus), description="whether a reply came")
    reply = dy.String(nullable=True, description="text of the reply; null = the call failed")
    reasoning = dy.String(nullable=True, description="what the model thought aloud apart from the reply; null = nothing")
    finish_reason = dy.String(nullable=True, description="why the reply ended, as the server says; null = it does not")
    answered_by = dy.String(nullable=True, description="the model's name as the server gives it; null = it gives none")
    remark = dy.Enum(list(REMARKS), nullable=True, description="what is odd about the answer; null = nothing")
    left_out_characters = dy.Int64(min=0, description="of the context, so that the item fits the model; 0 = asked whole")
    failure = dy.Enum(list(FAILURES), nullable=True, description="how the call failed; null = it did not")
    error = dy.String(nullable=True, metadata=MEASURED, description="message of the failure")
    http_status = dy.Int64(nullable=True, description="status of the answer; null = none came")
    prompt_tokens = dy.Int64(nullable=True, min=0, description="as the server counts; null = it does not")
    completion_tokens = dy.Int64(nullable=True, min=0, description="as the server counts; null = it does not")
    token_logprobs = likeliest_tokens("likeliest at the first place, natural logarithms; null = not asked for or not sent")
    latency_s = dy.Float64(nullable=True, min=0, metadata=MEASURED, description="null = the reply came by a file")
    attempts = dy.Int64(min=1, metadata=MEASURED, description="times the call was sent")
    paid_as = PAID_AS

    @dy.rule()
    def answered_has_a_reply_and_failed_a_failure(cls) -> pl.Expr:
        answered = pl.col("status") == "answered"
        return (pl.col("reply").is_not_null() == answered) & (pl.col("failure").is_null() == answered)


TURN = dy.Struct(
    {
        "speaker": dy.String(),
        "text": dy.String(),
        "turn": dy.Int64(),
        "call_key": dy.String(),
        "language": dy.String(nullable=True),
        "characters": dy.Int64(),
    }
)
"""What one party of a dialogue said. `turn`: from 1, shared by a line and the reply to it. `language`: found in the text, null
where it cannot be told. `characters`: of the text."""


class Answers(OfAskedItem):
    """What calls come to: read, judged, scored. Key: (dataset, item_id, model, setting, repetition, part). Written by infer."""

    part = dy.String(primary_key=True, description="of an item with several answers; empty = it has one")
    status = dy.Enum(get_args(ResponseStatus), description="whether the answer came")
    failed_role = dy.String(nullable=True, description="whose call failed, so that there is no answer; null = no call did")
    failure = dy.Enum(list(FAILURES), nullable=True, description="of that call")
    text = dy.String(nullable=True, description="what was answered; null = no answer, or a dialogue")
    turns = dy.List(TURN, nullable=True, description="of a dialogue, in order")
    option_order = dy.List(dy.Int64(), nullable=True, description="the item's option shown at each place; null = as in the item")
    finish_reason = dy.String(nullable=True, description="of the last call that the answer rests on")
    remark = dy.Enum(list(REMARKS), nullable=True, description="what is odd about that call's reply; null = nothing")
    token_logprobs = likeliest_tokens("as that call has them")
    call_keys = dy.List(dy.String(), description="of the calls that the answer rests on, or of the one that failed")

    @dy.rule()
    def answered_says_something_and_failed_whose_call(cls) -> pl.Expr:
        answered = pl.col("status") == "answered"
        says_something = pl.col("text").is_not_null() | pl.col("turns").is_not_null()
        return (says_something == answered) & (pl.col("failed_role").is_null() == answered)


class Judgements(OfItem):
    """One row per rating of an answer in a dimension, by a judge or a person. Written by infer.

    Key: (dataset, item_id, part, model, setting, repetition, judge, judge_repetition, dimension).
    """

    part = dy.String(primary_key=True, description="which of the item's answers; empty = it has one")
    model = dy.String(primary_key=True, min_length=1, description="model under test")
    setting = dy.String(primary_key=True, min_length=1, description="how it was asked")
    repetition = dy.Int64(primary_key=True, min=0, description="0-based number of the time that the item was asked")
    judge = dy.String(primary_key=True, min_length=1, description="model that rated, or people")
    judge_repetition = dy.Int64(primary_key=True, min=0, description="times the judge rated this answer before")
    dimension = dy.String(primary_key=True, min_length=1, description="dimension of the rubric")
    rubric = dy.String(min_length=1, description="rubric that the judge rated by")
    call_key = dy.String(regex=r"^[0-9a-f]{64}$", description="key of the judge's reply in the journal")
    lowest = dy.Int64(description="end of the dimension's scale")
    highest = dy.Int64(description="other end of the dimension's scale")
    rating = dy.Int64(nullable=True, description="on the scale from lowest to highest; no = 0 and yes = 1")
    rationale = dy.String(nullable=True, description="the judge's reason, where the rubric asks for one")
    parse_status = dy.Enum(get_args(ParseStatus), description="how the rating was read")
    raw_reply = dy.String(nullable=True, description="the judge's reply; null = none came")
    prompt_tokens = dy.Int64(nullable=True, min=0, description="of the call; the same in all rows of one call")
    completion_tokens = dy.Int64(nullable=True, min=0, description="of the call; the same in all rows of one call")
    error = dy.String(nullable=True, metadata=MEASURED, description="message of the failure")
    paid_as = PAID_AS

    @dy.rule()
    def rating_lies_on_its_scale(cls) -> pl.Expr:
        return pl.col("rating").is_null() | pl.col("rating").is_between(pl.col("lowest"), pl.col("highest"))

    @dy.rule()
    def parsed_has_a_rating(cls) -> pl.Expr:
        return pl.col("rating").is_not_null() == pl.col("parse_status").is_in(["parsed", "repaired"])


class SimulationFaults(OfAskedItem):
    """One row per fault. Key: that of the answer, found_by, number. Written by score."""

    part = dy.String(primary_key=True, description="which of the item's answers; empty = it has one")
    found_by = dy.String(primary_key=True, min_length=1, description="`rule`, or the judge that named it")
    number = dy.Int64(primary_key=True, min=0, description="among those that it found in the answer")
    speaker = dy.String(nullable=True, description="role that said the line; null = the judge named none of such a role")
    turn = dy.Int64(nullable=True, min=1, description="which of the speaker's lines")
    kind = dy.String(regex=r"^[a-z][a-z0-9_]*$", description="of the fault")
    severity = dy.Enum(get_args(FaultSeverity), description="what it did to the model under test")
    evidence = dy.String(min_length=1, description="words of the line, as the judge quotes them where it named the fault")
    refused = dy.String(nullable=True, description="why what a judge named does not count; null = it counts")
