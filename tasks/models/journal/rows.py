"""Rows of a journal to rows of the table that is shared, and back; what makes such a row trustworthy."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

import polars as pl

from schemas.chat import ChatReply
from schemas.tables.journal import JournalReplies
from tasks.models.journal.table import JournalRow, read_reply, write_reply

OTHERWISE_NAMED = {"model": "answered_by"}
"""Fields of a reply whose column has another name."""

NOT_SHARED = ("failure", "error", "from_journal")
"""Fields of a reply without a column: only answers are shared."""

REPLY_FIELDS = tuple(name for name in ChatReply.__dataclass_fields__ if name not in NOT_SHARED)
SCHEMA = JournalReplies.create_empty().schema


class CheckedRows(NamedTuple):
    """Rows that keep all rules, and what became of the others: rows refused, and how often each rule was broken."""

    good: list[JournalRow]
    refused: int
    rules: Counter[str]


def to_record(row: JournalRow) -> dict[str, Any]:
    """A row of the journal as a row of `JournalReplies`.

    Raises:
        ValueError, TypeError: the row is damaged, or no answer.
    """
    if tuple(map(type, row)) != (str, str, int, str, str, str):
        raise TypeError(f"a row of {', '.join(type(value).__name__ for value in row)}")
    reply = read_reply(row.reply)
    body = json.loads(row.request)
    fields = {OTHERWISE_NAMED.get(name, name): getattr(reply, name) for name in REPLY_FIELDS}
    if reply.top_logprobs is not None:
        fields["top_logprobs"] = [{"token": token, "logprob": logprob} for token, logprob in reply.top_logprobs]
    return {
        "key": row.key,
        "identity": row.identity,
        "model": body["model"] if isinstance(body, dict) and isinstance(body.get("model"), str) else "",
        "repetition": row.repetition,
        "request": row.request,
        **fields,
        "created": datetime.fromisoformat(row.created).astimezone(UTC),
    }


def from_record(record: dict[str, Any]) -> JournalRow:
    """A row of `JournalReplies` as a row of the journal."""
    fields = {name: record[OTHERWISE_NAMED.get(name, name)] for name in REPLY_FIELDS}
    if fields["top_logprobs"] is not None:
        fields["top_logprobs"] = tuple((pair["token"], pair["logprob"]) for pair in fields["top_logprobs"])
    created = record["created"].astimezone(UTC).isoformat(timespec="milliseconds")
    text = write_reply(ChatReply(**fields))
    return JournalRow(record["key"], record["identity"], record["repetition"], record["request"], text, created)


def check_rows(frame: pl.DataFrame, seen: set[str]) -> CheckedRows:
    """Take the rows that keep every rule of the table, and whose key is that of their call.

    Args:
        frame: rows with the columns of `JournalReplies`.
        seen: keys of earlier rows; those of this frame are added.
    """
    rules: Counter[str] = Counter()
    first = frame.filter([_is_first(key, seen) for key in frame["key"]])
    rules["key_is_unique"] = frame.height - first.height
    result = JournalReplies.filter(first)
    rules.update(result.failure.counts())
    good = []
    for record in result.result.iter_rows(named=True):
        if rule := _broken_rule(record):
            rules[rule] += 1
        else:
            good.append(from_record(record))
    return CheckedRows(good, frame.height - len(good), +rules)


def _is_first(key: str | None, seen: set[str]) -> bool:
    if key in seen:
        return False
    if key is not None:
        seen.add(key)
    return True


def _broken_rule(record: dict[str, Any]) -> str | None:
    try:
        body = json.loads(record["request"])
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return "request_is_a_call"
        if body.get("model") != record["model"]:
            return "model_is_that_of_the_request"
        if recompute_key(record["identity"], body, record["repetition"]) != record["key"]:
            return "key_is_that_of_the_call"
    except (ValueError, RecursionError):
        return "request_is_a_call"
    return None


def recompute_key(identity: str, body: dict[str, Any], repetition: int) -> str:
    """The key of a call (`ChatRequest.key`) from what was sent.

    The meaning of a call has the limit of its length by its usual name, whatever the endpoint calls it.
    """
    meant = dict(body)
    if "max_tokens" not in meant and "max_completion_tokens" in meant:
        meant["max_tokens"] = meant.pop("max_completion_tokens")
    meaning = {"identity": identity, "body": meant, "repetition": repetition}
    return sha256(json.dumps(meaning, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def to_frame(records: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a frame with the columns of `JournalReplies`."""
    return pl.DataFrame(records, schema=SCHEMA, orient="row")
