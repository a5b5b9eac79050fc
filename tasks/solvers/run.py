"""Run a solver over the items of a partition; rows of `responses`, `answers`, `retrievals` and `chunks`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

import polars as pl

from schemas.chat import ChatReply, ChatRequest
from schemas.context import Chunk, Context
from schemas.errors import UsageError
from schemas.item import Item
from schemas.tables.items import Chunks, Retrievals
from schemas.tables.responses import Answers, Responses
from schemas.usage import TESTED, Role
from schemas.worker_pool import Job, ProgressListener, RunJobs
from tasks.lake.frames import frame_of_rows
from tasks.solvers.answers import restate_turn
from tasks.solvers.chunk_rows import chunk_rows
from tasks.solvers.presentation import Presentation, show_in_order, solve_within_context
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import Answer, AskedItem, Call, RoleModel, SolverOptions, SolverOutput, SolverResources

COPIED = (
    *("reasoning", "finish_reason", "remark", "failure", "error", "http_status"),
    *("prompt_tokens", "completion_tokens", "latency_s", "attempts", "paid_as"),
)
"""Fields of a reply that `responses` has under the same name."""

SCHEMAS = tuple(layer.create_empty().schema for layer in (Responses, Answers, Retrievals, Chunks))
"""Of the fields of `ItemRows`."""

ITEMS_AT_ONCE = 300
Row = dict[str, Any]

Listeners = Mapping[Role, ProgressListener]


@dataclass(frozen=True)
class BuiltContexts:
    """What is known of the contexts that were built for items, and their chunks, by item; most items have none."""

    contexts: Mapping[str, Context] = field(default_factory=dict)
    chunks: Mapping[str, tuple[Chunk, ...]] = field(default_factory=dict)

    def item_of(self, presentation: Presentation) -> AskedItem:
        """Return an item as it is shown."""
        item_id = presentation.row["item_id"]
        item = show_in_order(read_item(presentation.row), presentation.order)
        return AskedItem(item_id, item, self.contexts.get(item_id), self.chunks.get(item_id, ()))


class ItemRows(NamedTuple):
    """Rows that came of asking one item once, by the layer they belong to."""

    responses: list[Row]
    answers: list[Row]
    retrievals: list[Row]
    chunks: list[Row]


async def run_solver(
    presentations: Sequence[Presentation],
    built: BuiltContexts,
    options: SolverOptions[Any],
    resources: SolverResources,
    run_jobs: RunJobs,
    listeners: Listeners,
) -> Iterable[ItemRows]:
    """Ask all presentations of a dataset's items; `run_jobs` and clients limit what is begun and what is in flight.

    Listeners are told of every reply. Returned are the rows of each, in order, which can be kept on disk until all are there.
    """
    system = (resources.roles[TESTED].entry.name, options.setting)

    async def solve_presentation(presentation: Presentation) -> ItemRows:
        asked_item, heard = built.item_of(presentation), with_listeners(resources, listeners)
        return item_rows(presentation, system, await solve_item(asked_item, options, heard, presentation.draw))

    jobs = [Job(_characters(item.row), partial(solve_presentation, item)) for item in presentations]
    return await run_jobs(jobs)


async def solve_item(
    asked_item: AskedItem, options: SolverOptions[Any], resources: SolverResources, repetition: int
) -> SolverOutput:
    """Solve one item; under a policy that cuts, again with less of its context as long as the model finds it too long.

    What is retrieved comes from the whole context all the same.
    """
    output = SolverOutput((), ())

    async def run_once(item: Item) -> tuple[Call, ...]:
        nonlocal output
        output = await SOLVERS[options.setting].solve(replace(asked_item, item=item), options, resources, repetition)
        return output.calls

    calls = await solve_within_context(asked_item.item, options.too_long, run_once)
    return replace(output, calls=calls)


def with_listeners(resources: SolverResources, listeners: Listeners) -> SolverResources:
    """Return the same models for one item, with listeners to their calls; how many calls there will be is not known."""

    def listening(role: Role, role_model: RoleModel) -> RoleModel:
        made = 0

        async def chat(request: ChatRequest) -> ChatReply:
            nonlocal made
            made += 1
            # The first call of the model under test was expected with its item.
            if role != TESTED or made > 1:
                listeners[role].expect(1)
            reply = await role_model.chat(request)
            listeners[role].on_reply(reply)
            return reply

        return replace(role_model, chat=chat)

    return replace(resources, roles={role: listening(role, model) for role, model in resources.roles.items()})


def _characters(row: Mapping[str, Any]) -> float:
    """Return what a server reads of an item: of what is known before, the best guess at how long it takes."""
    options = row.get("options") or ()
    return len(row.get("context") or "") + len(row["question"]) + sum(len(option) for option in options)


def read_item(row: Mapping[str, Any]) -> Item:
    """Return the item of a row of `items`."""
    return Item.model_validate({name: row[name] for name in Item.model_fields if name in row})


def item_rows(presentation: Presentation, system: tuple[str, str], output: SolverOutput) -> ItemRows:
    """Return the rows of an item as it was shown; one of `responses` per call, a failed one with status `failed`.

    Which retrieved chunk holds the needle is not known here. `system`: model and setting. That the item has no answer, or two for
    one part, is a UsageError: it would be lost without a word.
    """
    key = {
        "dataset": presentation.row["dataset"],
        "item_id": presentation.row["item_id"],
        "model": system[0],
        "setting": system[1],
        "repetition": presentation.repetition,
    }
    parts = [answer.part for answer in output.answers]
    if not parts or len(set(parts)) < len(parts):
        raise UsageError(
            "a solver returned no answer, or two for one part",
            where=f"setting {system[1]}, dataset {key['dataset']}, item {key['item_id']}",
            expected="one answer for each part of an item, a failed one too",
            got=f"parts {', '.join(map(repr, parts))}" if parts else "no answer",
            next_step="correct the solver of the installed package; replies are kept",
        )
    shared = {**key, "option_order": presentation.order}
    return ItemRows(
        responses=[{**shared, "turn": turn, **_response_columns(call)} for turn, call in enumerate(output.calls)],
        answers=[{**shared, **_answer_columns(answer)} for answer in output.answers],
        retrievals=[{**key, **vars(chunk), "holds_needle": None} for chunk in output.retrieved],
        chunks=[
            row
            for text in output.written
            for row in chunk_rows(key["dataset"], key["item_id"], text.corpus, text.chunks, (None,) * len(text.chunks))
        ],
    )


def fail_cut(rows: ItemRows, cut: Mapping[str, str]) -> ItemRows:
    """Mark replies to cut prompts, and the answers that rest on them, as failed; `cut` has the errors by key of the call."""
    roles = {row["call_key"]: row["role"] for row in rows.responses if row["call_key"] in cut and row["status"] == "answered"}
    failed = {"status": "failed", "failure": "prompt_cut", "remark": None}

    def failed_answer(row: Row) -> Row:
        keys = [key for key in row["call_keys"] if key in roles][:1]
        lost = {**failed, "failed_role": roles[keys[0]], "text": None, "turns": None, "call_keys": keys} if keys else {}
        return row | lost

    lost = {key: {**failed, "reply": None, "error": cut[key]} for key in roles}
    responses = [row | lost.get(row["call_key"], {}) for row in rows.responses]
    return rows._replace(responses=responses, answers=[failed_answer(row) for row in rows.answers]) if roles else rows


def make_tables(solved: Iterable[ItemRows]) -> dict[str, pl.DataFrame]:
    """Return the rows of all items by layer, in no order, not validated.

    They are read a part at a time: as objects rows take ten times the memory that they have in frames.
    """
    parts, left = [[pl.DataFrame(schema=schema)] for schema in SCHEMAS], iter(solved)
    while some := list(islice(left, ITEMS_AT_ONCE)):
        for frames, of_layer in zip(parts, zip(*some, strict=True), strict=True):
            if rows := [row for of_item in of_layer for row in of_item]:
                frames.append(frame_of_rows(rows, frames[0].schema))
    return {layer: pl.concat(frames, rechunk=True) for layer, frames in zip(ItemRows._fields, parts, strict=True)}


def _response_columns(call: Call) -> dict[str, object]:
    request, reply = call.request, call.reply
    messages = request.messages_json
    return {
        "role": call.role,
        "asked_model": request.model,
        "step": call.step,
        "call_key": request.key,
        "messages": messages,
        "messages_sha256": sha256(messages.encode()).hexdigest(),
        "status": "answered" if reply.failure is None else "failed",
        "reply": reply.text if reply.failure is None else None,
        "answered_by": reply.model,
        "left_out_characters": call.left_out_characters,
        "token_logprobs": _token_logprobs(reply),
        **{name: getattr(reply, name) for name in COPIED},
    }


def _token_logprobs(reply: ChatReply) -> list[dict[str, str | float]] | None:
    tokens = reply.top_logprobs
    return None if tokens is None else [{"token": token, "logprob": logprob} for token, logprob in tokens]


def _answer_columns(answer: Answer) -> dict[str, object]:
    last = answer.rests_on[-1].reply
    return {
        "part": answer.part,
        "status": "answered" if answer.failed_role is None else "failed",
        "failed_role": answer.failed_role,
        "failure": last.failure if answer.failed_role else None,
        "text": answer.text,
        "turns": [
            restate_turn({"speaker": turn.speaker, "turn": turn.turn, "call_key": turn.call.request.key}, turn.text)
            for turn in answer.turns
        ]
        or None,
        "finish_reason": last.finish_reason,
        "remark": last.remark,
        "token_logprobs": _token_logprobs(last),
        "call_keys": [call.request.key for call in answer.rests_on],
    }
