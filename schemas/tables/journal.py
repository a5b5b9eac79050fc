"""Replies of the journal as a table, to be shared: the layout of what `moodflow journal export` writes and `import` reads."""

from typing import get_args

import dataframely as dy
import polars as pl

from schemas.provider import ReasoningPlace
from schemas.vocabulary import REMARKS


class JournalReplies(dy.Schema):
    """Key: key. One answered call per row.

    Closed sets of words are plain strings, so that other programs can read and write them.
    """

    key = dy.String(primary_key=True, regex=r"^[0-9a-f]{64}$", description="SHA-256 of identity, request and repetition")
    identity = dy.String(min_length=1, description="of the endpoint: its base URL, or a name for it")
    model = dy.String(min_length=1, description="that was asked; as in the request")
    repetition = dy.Int64(min=0)
    request = dy.String(min_length=2, description="JSON body of the call, as it was sent")
    text = dy.String(description="the answer")
    reasoning = dy.String(nullable=True)
    finish_reason = dy.String(nullable=True)
    prompt_tokens = dy.Int64(nullable=True, min=0)
    completion_tokens = dy.Int64(nullable=True, min=0)
    top_logprobs = dy.List(
        dy.Struct({"token": dy.String(), "logprob": dy.Float64()}),
        nullable=True,
        description="likeliest tokens at the answer's first place, natural logarithms; null = not asked for or not sent",
    )
    answered_by = dy.String(nullable=True, description="the model's name as the server gives it")
    reasoning_in = dy.String(nullable=True)
    remark = dy.String(nullable=True, description="what is odd about the answer; null = nothing")
    http_status = dy.Int64(nullable=True)
    latency_s = dy.Float64(min=0)
    attempts = dy.Int64(min=1)
    created = dy.Datetime(time_unit="ms", time_zone="UTC", description="when the reply was kept")

    @dy.rule()
    def remark_is_known(cls) -> pl.Expr:
        return pl.col("remark").is_null() | pl.col("remark").is_in(list(REMARKS))

    @dy.rule()
    def place_of_reasoning_is_known(cls) -> pl.Expr:
        return pl.col("reasoning_in").is_null() | pl.col("reasoning_in").is_in(list(get_args(ReasoningPlace)))
