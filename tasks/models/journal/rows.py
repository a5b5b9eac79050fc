"""Convert rows of a journal to rows of the table that is shared, and back, and verify them."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any, get_args

import dataframely as dy
import polars as pl

from schemas.chat import ChatReply, call_key
from schemas.json_yaml import read_json
from schemas.provider import ReasoningPlace
from schemas.tables.columns import likeliest_tokens
from schemas.vocabulary import REMARKS, PaidAs
from tasks.models.journal.table import JournalRow, read_reply, write_reply

NOT_SHARED = ("failure", "error", "from_journal")
"""Fields of a reply without a column: only answers are shared."""


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
    top_logprobs = likeliest_tokens(
        "likeliest tokens at the answer's first place, natural logarithms; null = not asked for or not sent"
    )
    answered_by = dy.String(nullable=True, description="the model's name as the server gives it")
    reasoning_in = dy.String(nullable=True)
    remark = dy.String(nullable=True, description="what is odd about the answer; null = nothing")
    http_status = dy.Int64(nullable=True)
    latency_s = dy.Float64(nullable=True, min=0)
    attempts = dy.Int64(min=1)
    paid_as = dy.String(nullable=True, description="how the reply came: live, by a batch or by a file; null = not known")
    created = dy.Datetime(time_unit="ms", time_zone="UTC", description="when the reply was kept")

    @dy.rule()
    def remark_is_known(cls) -> pl.Expr:
        """Hold for a warning of the closed set, or none."""
        return pl.col("remark").is_null() | pl.col("remark").is_in(list(REMARKS))

    @dy.rule()
    def way_it_was_paid_is_known(cls) -> pl.Expr:
        """Hold for a way of the closed set, or none."""
        return pl.col("paid_as").is_null() | pl.col("paid_as").is_in(list(get_args(PaidAs)))

    @dy.rule()
    def place_of_reasoning_is_known(cls) -> pl.Expr:
        """Hold for a place of the closed set, or none."""
        return pl.col("reasoning_in").is_null() | pl.col("reasoning_in").is_in(list(get_args(ReasoningPlace)))


REPLY_FIELDS = tuple(name for name in ChatReply.__dataclass_fields__ if name not in {*NOT_SHARED, "model"})
"""Fields of a reply that have a column of their name; its `model` is `answered_by`."""
SCHEMA = JournalReplies.create_empty().schema


def to_record(row: JournalRow) -> dict[str, object]:
    """Convert a row of the journal to a row of `JournalReplies`; ValueError or TypeError: it is damaged, or no answer."""
    if tuple(map(type, row)) != (str, str, int, str, str, str):
        raise TypeError(f"a row of {', '.join(type(value).__name__ for value in row)}")
    reply = read_reply(row.reply)
    body = read_json(row.request)
    fields = {name: getattr(reply, name) for name in REPLY_FIELDS}
    if reply.top_logprobs is not None:
        fields["top_logprobs"] = [{"token": token, "logprob": logprob} for token, logprob in reply.top_logprobs]
    return {
        "key": row.key,
        "identity": row.identity,
        "model": body["model"] if isinstance(body, dict) and isinstance(body.get("model"), str) else "",
        "repetition": row.repetition,
        "request": row.request,
        **fields,
        "answered_by": reply.model,
        "created": datetime.fromisoformat(row.created).astimezone(UTC),
    }


def from_record(record: dict[str, Any]) -> JournalRow:
    """Convert a row of `JournalReplies` to a row of the journal."""
    fields = {name: record[name] for name in REPLY_FIELDS}
    if fields["top_logprobs"] is not None:
        fields["top_logprobs"] = tuple((pair["token"], pair["logprob"]) for pair in fields["top_logprobs"])
    created = record["created"].astimezone(UTC).isoformat(timespec="milliseconds")
    text = write_reply(ChatReply(**fields, model=record["answered_by"]))
    return JournalRow(record["key"], record["identity"], record["repetition"], record["request"], text, created)


def check_rows(frame: pl.DataFrame, seen: set[str]) -> tuple[list[JournalRow], Counter[str]]:
    """Return the rows that keep every rule of the table, and whose key is that of their call; and how often rules were broken.

    `seen` are the keys of earlier rows; those of this frame are added.
    """
    rules: Counter[str] = Counter()
    is_new = [key not in seen for key in frame["key"]]
    first = frame.filter(is_new, pl.col("key").is_null() | pl.col("key").is_first_distinct())
    seen.update(first["key"].drop_nulls())
    rules["key_is_unique"] = frame.height - first.height
    result = JournalReplies.filter(first)
    rules.update(result.failure.counts())
    good = []
    for record in result.result.iter_rows(named=True):
        if rule := _broken_rule(record):
            rules[rule] += 1
        else:
            good.append(from_record(record))
    return good, +rules


def _broken_rule(record: dict[str, Any]) -> str | None:
    try:
        body = read_json(record["request"])
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return "request_is_a_call"
        if body.get("model") != record["model"]:
            return "model_is_that_of_the_request"
        if recompute_key(record["identity"], body, record["repetition"]) != record["key"]:
            return "key_is_that_of_the_call"
    except ValueError:
        return "request_is_a_call"
    return None


def recompute_key(identity: str, body: dict[str, Any], repetition: int) -> str:
    """Compute the key of a call (`ChatRequest.key`) from what was sent.

    The meaning of a call has the limit of its length by its usual name, whatever the endpoint calls it.
    """
    meant = dict(body)
    if "max_tokens" not in meant and "max_completion_tokens" in meant:
        meant["max_tokens"] = meant.pop("max_completion_tokens")
    return call_key(identity, json.dumps(meant, ensure_ascii=False, sort_keys=True), repetition)
