"""Run a solver over the items of a partition, to rows of `responses`; the key of the partition."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import polars as pl

from schemas.chat import Chat, ChatReply, ChatRequest, ModelEntry
from schemas.item import Item
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.responses import Responses
from schemas.vocabulary import TooLong
from schemas.worker_pool import Job
from tasks.lake.fingerprint import partition_key
from tasks.models.http.worker_pool import WorkerPool
from tasks.solvers.base import Call, Transcript
from tasks.solvers.option_order import Epochs, Presentation, show_in_order
from tasks.solvers.truncation import truncation_settings

RESPONSES_VERSION = "3"
"""Bumped when solvers ask or record calls differently; prompt texts carry their own hash."""

COPIED = (
    *("reasoning", "finish_reason", "remark", "failure", "error", "http_status"),
    *("prompt_tokens", "completion_tokens", "latency_s", "attempts"),
)
"""Fields of a reply that `responses` has under the same name."""

Solve = Callable[[Item, Chat, int], Awaitable[Transcript]]
RESPONSES_SCHEMA = Responses.create_empty().schema


@dataclass(frozen=True)
class Endpoint:
    """A model server as a stage uses it: its client, and the worker pool that begins its calls."""

    chat: Chat
    pool: WorkerPool


async def run_solver(
    presentations: Sequence[Presentation],
    system: tuple[str, str],
    solve: Solve,
    endpoint: Endpoint,
    on_reply: Callable[[ChatReply], None],
) -> pl.DataFrame:
    """Ask everything, the longest first; pool and client limit what is begun and what is in flight.

    Args:
        presentations: the dataset's items, each in the orders it is asked in.
        system: name of the model, and the setting.
        solve: solver of the setting, which has model and prompts filled in.
        endpoint: of the model.
        on_reply: told of every reply.

    Returns:
        One row of `responses` per call, in no order; a failed call is a row with status `failed`.
    """

    async def listening_chat(request: ChatRequest) -> ChatReply:
        reply = await endpoint.chat(request)
        on_reply(reply)
        return reply

    async def solve_presentation(presentation: Presentation) -> Transcript:
        item = show_in_order(read_item(presentation.row), presentation.order)
        return await solve(item, listening_chat, presentation.draw)

    jobs = [Job(_length(presentation.row), partial(solve_presentation, presentation)) for presentation in presentations]
    transcripts: list[Transcript] = await endpoint.pool.do_all(jobs)
    table = [
        response_row(presentation, system, turn, call)
        for presentation, transcript in zip(presentations, transcripts, strict=True)
        for turn, call in enumerate(transcript)
    ]
    return pl.DataFrame(table, schema=RESPONSES_SCHEMA)


def _length(row: Mapping[str, Any]) -> float:
    """Return characters of an item: what a server reads, and, of what is known before, the best guess at how long it takes."""
    options = row.get("options") or ()
    return len(row.get("context") or "") + len(row["question"]) + sum(len(option) for option in options)


def read_item(row: Mapping[str, Any]) -> Item:
    """Return the item of a row of `items`."""
    return Item.model_validate({name: row[name] for name in Item.model_fields if name in row})


def response_row(presentation: Presentation, system: tuple[str, str], turn: int, call: Call) -> dict[str, Any]:
    """Return one row of `responses`.

    Args:
        presentation: the item, and the order of its options.
        system: model and setting.
        turn: number of the call, from 0.
        call: request and reply.
    """
    request, reply = call.request, call.reply
    found = reply.top_logprobs
    messages = request.messages_json
    return {
        "dataset": presentation.row["dataset"],
        "item_id": presentation.row["item_id"],
        "model": system[0],
        "setting": system[1],
        "repetition": presentation.repetition,
        "turn": turn,
        "call_key": request.key,
        "option_order": presentation.order,
        "messages": messages,
        "messages_sha256": sha256(messages.encode()).hexdigest(),
        "status": "answered" if reply.failure is None else "failed",
        "reply": reply.text if reply.failure is None else None,
        "answered_by": reply.model,
        "left_out_characters": call.left_out_characters,
        "token_logprobs": None if found is None else [{"token": token, "logprob": logprob} for token, logprob in found],
        **{name: getattr(reply, name) for name in COPIED},
    }


def responses_key(
    items: PartitionRef,
    entry: ModelEntry,
    setting: str,
    prompts_sha256: str,
    epochs: Epochs,
    too_long: TooLong = "missing",
) -> PartitionKey:
    """Return the key of one model's replies to one dataset's items under one setting.

    Token probabilities count only where they are asked for, the policy for too long items only where it cuts.

    Args:
        items: what is asked.
        entry: the model under test.
        setting: name of the setting.
        prompts_sha256: hash of the prompt texts.
        epochs: how often and in which orders of options items are asked.
        too_long: policy for items longer than the model's context.
    """
    settings = {
        "model": entry.name,
        **entry.meaning,
        "prompts_sha256": prompts_sha256,
        **epochs.settings,
        **({"token_probabilities": True} if entry.token_probabilities else {}),
        **truncation_settings(too_long),
    }
    keys = {"dataset": items.key("dataset"), "model": entry.name, "setting": setting}
    return partition_key("responses", keys, settings, parents=[items.identity], version=RESPONSES_VERSION)
