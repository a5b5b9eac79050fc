"""All items of a partition through a solver, to rows of `responses`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any

import dataframely as dy
import polars as pl

from schemas.chat import Chat, ChatReply, ChatRequest, ModelEntry
from schemas.item import Item
from schemas.tables.items import Items
from schemas.tables.responses import Responses
from tasks.inference.solvers.direct import Transcript


async def ask_items(
    items: dy.DataFrame[Items],
    entry: ModelEntry,
    chat: Chat,
    solve: Callable[[Item, Chat], Awaitable[Transcript]],
    setting: str,
    on_reply: Callable[[ChatReply], None],
) -> dy.DataFrame[Responses]:
    """Ask every item at once; the client limits what is in flight.

    Args:
        items: the dataset's items.
        entry: the model under test.
        chat: its client.
        solve: the setting's solver, with model and prompts filled in.
        setting: name of the setting.
        on_reply: told of every reply.

    Returns:
        One row per call, sorted by key; a failed call is a row with status `failed`.
    """

    async def heard(request: ChatRequest) -> ChatReply:
        reply = await chat(request)
        on_reply(reply)
        return reply

    rows = list(items.iter_rows(named=True))
    asked = [asyncio.ensure_future(solve(read_item(row), heard)) for row in rows]
    try:
        transcripts = await asyncio.gather(*asked)
    finally:
        # A call that raises means that replies cannot be kept: what is not sent yet would be paid for and lost.
        for question in asked:
            question.cancel()
    table = [
        _row(row, entry.name, setting, turn, call)
        for row, transcript in zip(rows, transcripts, strict=True)
        for turn, call in enumerate(transcript)
    ]
    frame = pl.DataFrame(table, schema=Responses.create_empty().schema)
    return Responses.validate(frame.sort(Responses.primary_key()))


def read_item(row: Mapping[str, Any]) -> Item:
    """The item of a row of `items`."""
    return Item.model_validate({name: row[name] for name in Item.model_fields if name in row})


def _row(item: Mapping[str, Any], model: str, setting: str, turn: int, call: tuple[ChatRequest, ChatReply]) -> dict[str, Any]:
    request, reply = call
    messages = request.messages_json
    return {
        "dataset": item["dataset"],
        "item_id": item["item_id"],
        "model": model,
        "setting": setting,
        "repetition": request.repetition,
        "turn": turn,
        "call_key": request.key,
        "messages": messages,
        "messages_sha256": sha256(messages.encode()).hexdigest(),
        "status": "answered" if reply.failure is None else "failed",
        "reply": reply.text if reply.failure is None else None,
        "reasoning": reply.reasoning,
        "finish_reason": reply.finish_reason,
        "failure": reply.failure,
        "error": reply.error,
        "http_status": reply.http_status,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "latency_s": reply.latency_s,
        "attempts": reply.attempts,
    }
