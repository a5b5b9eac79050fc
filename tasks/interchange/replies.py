"""Read replies from a file, place its rows on the calls of a plan, and answer these calls in place of a server."""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, Json, ValidationError

from schemas.base import Frozen
from schemas.chat import ChatReply, ChatRequest, Keep
from schemas.errors import unknown_name
from schemas.tables.items import Items
from schemas.vocabulary import Failure
from tasks.interchange.inspect_logs import read_inspect
from tasks.interchange.lm_eval import read_every_eval_ever, read_sample
from tasks.lake.lake import Lake
from tasks.models.http.parse_reply import read_completion
from tasks.ratings.reading import FORMATS
from tasks.solvers.forecast import UNSENT, rehearse
from tasks.solvers.infer_job import InferJob
from tasks.solvers.presentation import Presentation
from tasks.solvers.registry import SOLVERS
from tasks.sources.files import hash_file
from tasks.sources.filled import require_columns
from tasks.sources.reading import read_records

CONTRACT = "moodflow docs replies-by-file says what such a file holds"
NOT_IN_FILE = ChatReply(failure="not_in_file", error="the file has no reply to this call", latency_s=None, paid_as="file")


class ReplyRow(Frozen):
    """One reply of a model, and the call that it answers, by item or by prompt."""

    dataset: str = Field(min_length=1)
    model: str = Field(min_length=1)
    item_id: str | None = None
    prompt_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    reply: str | None = None
    repetition: int = Field(default=0, ge=0)
    turn: int = Field(default=0, ge=0)
    setting: str = "base"
    reasoning: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    option_order: Json[tuple[int, ...] | None] | tuple[int, ...] | None = None
    failure: Failure | None = None
    prompt: str | None = None

    def chat_reply(self) -> ChatReply:
        """Return the reply as that of a server is read."""
        if self.failure:
            return replace(NOT_IN_FILE, failure=self.failure, error="the file says that the call failed")
        message = {"content": self.reply, "reasoning_content": self.reasoning}
        usage = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        body = {"choices": [{"message": message, "finish_reason": self.finish_reason}], "usage": usage}
        read = read_completion(json.dumps(body).encode(), model=self.model)
        return replace(read, http_status=None, latency_s=None, paid_as="file")


SAMPLES = (
    ({"doc", "resps", "arguments"}, read_sample),
    ({"sample_id", "evaluation_id", "interaction_type"}, read_every_eval_ever),
)
"""The fields by which samples of other harnesses are known, and how they are read."""


@dataclass(frozen=True)
class FileChat:
    """A client that answers calls by their keys from a file and sends nothing."""

    replies: Mapping[str, ChatReply]

    async def __call__(self, request: ChatRequest, keep: Keep | None = None) -> ChatReply:
        """Return the file's reply, or the failure `not_in_file`."""
        reply = self.replies.get(request.key, NOT_IN_FILE)
        if keep and reply.failure is None:
            await keep(request, reply)
        return reply


class RepliesFile(NamedTuple):
    """A file of replies: by line, `rows` that can be read, and the rules `broken` by these and the others."""

    path: Path
    sha256: str
    rows: dict[int, ReplyRow]
    broken: dict[int, str]

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models of its rows, in their order."""
        return tuple(dict.fromkeys(row.model for row in self.rows.values()))

    def about(self, *job: str) -> dict[int, ReplyRow]:
        """Return the rows about a dataset, by a model, in a setting."""
        return {line: row for line, row in self.rows.items() if (row.dataset, row.model, row.setting) == job}


def read_replies(path: Path, model: str | None = None) -> RepliesFile:
    """Read replies from JSONL, CSV, Parquet, a log of Inspect, or samples of lm-evaluation-harness or Every Eval Ever.

    `model` is that of rows which name none. UsageError: another kind of file, or a column unknown or missing. SourceError or
    RecordError: the file cannot be read.
    """
    file, seen = RepliesFile(path, hash_file(path), {}, {}), set[tuple[object, ...]]()
    for line, fields in _read_fields(path):
        try:
            row = ReplyRow.model_validate({"model": model, **fields})
        except ValidationError:
            file.broken[line] = "values_are_of_their_types"
            continue
        call = (row.dataset, row.model, row.setting, row.item_id or row.prompt_sha256, row.repetition, row.turn)
        rules = {
            "item_or_prompt_is_named": bool(row.item_id or row.prompt_sha256),
            "reply_or_failure_is_given": (row.reply is None) != (row.failure is None),
            "row_is_unique": call not in seen,
        }
        if broken := next((rule for rule, holds in rules.items() if not holds), None):
            file.broken[line] = broken
        else:
            seen.add(call)
            file.rows[line] = row
    return file


def _read_fields(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line and the given values of each row; of one with a field too few or too many, none."""
    if path.suffix == ".eval":
        yield from enumerate(read_inspect(path), 1)
        return
    if path.suffix not in FORMATS:
        raise unknown_name(
            "kind of file with replies that ends in", path.suffix or path.name, [*FORMATS, ".eval"], str(path), CONTRACT
        )
    records = read_records(path, FORMATS[path.suffix], own=True)
    if read := next((read for names, read in SAMPLES if records[0].fields.keys() >= names), None):
        seen = set[str]()
        for line, record in enumerate(records, 1):
            try:
                fields = read(record.fields, path)
            except (ValueError, KeyError, TypeError, AttributeError):  # of other kinds
                fields = {"dataset": None}
            text = json.dumps(fields, sort_keys=True, default=str)
            # Such files have a line for each metric or filter: what a line repeats is one reply.
            if fields["dataset"] is None or text not in seen:
                yield line, fields
            seen.add(text)
        return
    columns = ReplyRow.model_fields.keys()
    require_columns(path, records, [*columns], [*columns - {"dataset", "reply"}], CONTRACT)
    is_csv = path.suffix == ".csv"
    for line, record in enumerate(records, 2 if is_csv else 1):
        yield line, {name: value for name, value in record.fields.items() if value is not None and not (is_csv and value == "")}


async def place_rows(job: InferJob, lake: Lake, file: RepliesFile, *, draws_options: bool) -> dict[str, ChatReply]:
    """Place the rows of a file about a job on the calls that its solver makes: return the replies by key of the call.

    Every round knows the calls that rest on the replies of the rounds before. The file notes the rules that rows break.
    `draws_options`: the order of options is known to those alone who saw the prompt.
    """
    left = file.about(job.dataset, job.entry.name, job.options.setting)
    if SOLVERS[job.options.setting].retrieves:
        file.broken.update(dict.fromkeys(left, "setting_retrieves_nothing"))
        return {}
    by_call = {(row.item_id, row.repetition, row.turn): line for line, row in left.items() if row.item_id}
    by_prompt = {(row.prompt_sha256, row.repetition): line for line, row in left.items() if row.prompt_sha256 and not row.item_id}
    replies: dict[str, ChatReply] = {}
    known, draws = -1, draws_options or job.epochs.permute > 0
    while known < len(replies):
        known = len(replies)
        async for presentation, turn, request in tested_calls(job, lake, replies):
            digest = sha256(request.messages_json.encode()).hexdigest()
            by = (presentation.row["item_id"], presentation.repetition, turn)
            for line in (by_call.get(by), by_prompt.get((digest, presentation.repetition))):
                if line is not None and (row := left.pop(line, None)):
                    rule, reply = _broken_rule(row, digest, presentation, draws=draws), row.chat_reply()
                    if rule or replies.setdefault(request.key, reply) != reply:
                        file.broken[line] = rule or "row_is_unique"
    items = set(lake.read(job.items, Items)["item_id"])
    for line, row in left.items():
        item = row.item_id
        file.broken[line] = "prompt_is_ours" if not item else "call_is_made" if item in items else "item_is_known"
    return replies


async def tested_calls(
    job: InferJob, lake: Lake, replies: Mapping[str, ChatReply]
) -> AsyncIterator[tuple[Presentation, int, ChatRequest]]:
    """Yield the calls of the tested model, each with the item as it is shown and the call's number about it."""
    async for presentation, output in rehearse(job, lake, lambda _role, request: replies.get(request.key, UNSENT)):
        for turn, call in enumerate(output.calls):
            if call.request.identity == job.entry.identity:
                yield presentation, turn, call.request


def _broken_rule(row: ReplyRow, digest: str, presentation: Presentation, *, draws: bool) -> str | None:
    options: Sequence[str] = presentation.row["options"] or ()
    if row.item_id and row.prompt_sha256 not in (None, digest):
        return "ids_agree"
    if row.option_order is not None and row.option_order != shown_order(presentation):
        return "option_order_is_that_shown"
    is_known = row.option_order is not None or row.prompt_sha256 or not draws or not options or row.reply is None
    return None if is_known or _plain(row.reply) in map(_plain, options) else "option_order_is_stated"


def shown_order(presentation: Presentation) -> tuple[int, ...]:
    """Return the item's option shown at each place."""
    return presentation.order or tuple(range(len(presentation.row["options"] or ())))


def _plain(text: str | None) -> str:
    return (text or "").strip(" \n\t.。\"'").casefold()
