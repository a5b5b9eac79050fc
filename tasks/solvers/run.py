"""All items of a partition through a solver, to rows of `responses`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import polars as pl

from schemas.chat import Chat, ChatReply, ChatRequest, ModelEntry
from schemas.item import Item
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.responses import Responses
from schemas.vocabulary import TooLong
from tasks.lake.fingerprint import partition_key
from tasks.models.http.worker_pool import Job, WorkerPool
from tasks.solvers.base import Call, Transcript
from tasks.solvers.option_order import Epochs, Presentation, show_in_order
from tasks.solvers.truncation import SHORTENING_VERSION

RESPONSES_VERSION = "3"
"""Bumped when solvers ask or record calls differently; prompt texts carry their own hash."""

Solve = Callable[[Item, Chat, int], Awaitable[Transcript]]
RESPONSES_SCHEMA = Responses.create_empty().schema


@dataclass(frozen=True)
class Endpoint:
    """A model server as a stage uses it: who answers, and who sees to what is begun when."""

    chat: Chat
    crew: WorkerPool


@dataclass(frozen=True)
class SolverRun:
    """How items are asked: the model's name, and the setting with its solver, which has model and prompts filled in."""

    model: str
    setting: str
    solve: Solve


async def run_solver(
    asks: Sequence[Presentation], asked: SolverRun, endpoint: Endpoint, on_reply: Callable[[ChatReply], None]
) -> pl.DataFrame:
    """Ask everything, the longest first; crew and client limit what is begun and what is in flight.

    Args:
        asks: the dataset's items, each in the orders it is asked in.
        asked: model and setting.
        endpoint: of the model.
        on_reply: told of every reply.

    Returns:
        One row of `responses` per call, in no order; a failed call is a row with status `failed`.
    """

    async def heard(request: ChatRequest) -> ChatReply:
        reply = await endpoint.chat(request)
        on_reply(reply)
        return reply

    def work_on(ask: Presentation) -> Job:
        return Job(_length(ask.row), lambda: asked.solve(show_in_order(read_item(ask.row), ask.order), heard, ask.draw))

    transcripts: list[Transcript] = await endpoint.crew.do_all([work_on(ask) for ask in asks])
    table = [
        response_row(ask, (asked.model, asked.setting), turn, call)
        for ask, transcript in zip(asks, transcripts, strict=True)
        for turn, call in enumerate(transcript)
    ]
    return pl.DataFrame(table, schema=RESPONSES_SCHEMA)


def _length(row: Mapping[str, Any]) -> float:
    """Characters of an item: what a server reads, and, of what is known before, the best guess at how long it takes."""
    options = row.get("options") or ()
    return len(row.get("context") or "") + len(row["question"]) + sum(len(option) for option in options)


def read_item(row: Mapping[str, Any]) -> Item:
    """The item of a row of `items`."""
    return Item.model_validate({name: row[name] for name in Item.model_fields if name in row})


def response_row(ask: Presentation, asked: tuple[str, str], turn: int, call: Call) -> dict[str, Any]:
    """One row of `responses`; `asked` are model and setting."""
    request, reply = call.request, call.reply
    found = reply.top_logprobs
    messages = request.messages_json
    return {
        "dataset": ask.row["dataset"],
        "item_id": ask.row["item_id"],
        "model": asked[0],
        "setting": asked[1],
        "repetition": ask.repetition,
        "turn": turn,
        "call_key": request.key,
        "option_order": ask.order,
        "messages": messages,
        "messages_sha256": sha256(messages.encode()).hexdigest(),
        "status": "answered" if reply.failure is None else "failed",
        "reply": reply.text if reply.failure is None else None,
        "reasoning": reply.reasoning,
        "finish_reason": reply.finish_reason,
        "answered_by": reply.model,
        "remark": reply.remark,
        "left_out_characters": call.left_out_characters,
        "failure": reply.failure,
        "error": reply.error,
        "http_status": reply.http_status,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "token_logprobs": None if found is None else [{"token": token, "logprob": logprob} for token, logprob in found],
        "latency_s": reply.latency_s,
        "attempts": reply.attempts,
    }


def responses_key(
    items: PartitionRef,
    entry: ModelEntry,
    setting: str,
    prompts_sha256: str,
    rounds: Epochs,
    too_long: TooLong = "missing",
) -> PartitionKey:
    """Key of one model's replies to one dataset's items under one setting.

    Token probabilities count only where they are asked for, the policy for too long items only where it cuts.
    """
    settings = {
        "model": entry.name,
        **entry.meaning,
        "prompts_sha256": prompts_sha256,
        **rounds.settings,
        **({"token_probabilities": True} if entry.token_probabilities else {}),
        **({"too_long": {"policy": too_long, "version": SHORTENING_VERSION}} if too_long != "missing" else {}),
    }
    keys = {"dataset": items.key("dataset"), "model": entry.name, "setting": setting}
    return partition_key("responses", keys, settings, parents=[items.identity], version=RESPONSES_VERSION)
