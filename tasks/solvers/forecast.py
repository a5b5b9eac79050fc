"""Forecast a partition: its requests, made with invented replies, which the journal answers, what the others would use."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from math import ceil
from pathlib import Path
from urllib.parse import quote

import dataframely as dy
import polars as pl

from schemas.chat import ChatReply, ChatRequest, ModelEntry
from schemas.context import Chunk, Ranked
from schemas.folders import Folder
from schemas.provider import Rate
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from schemas.usage import TESTED, Expectation, Role
from schemas.vocabulary import Language, Ranking
from tasks.lake.files import parquet_source
from tasks.lake.frames import frame_of_rows, unreadable
from tasks.lake.lake import Lake
from tasks.models.cost import Estimator, Measure, measure_texts
from tasks.models.journal.request_files import OpenCall
from tasks.models.journal.table import JOURNAL, opened_replies
from tasks.retrieval.chunking import split
from tasks.solvers.chunk_rows import read_contexts, split_context
from tasks.solvers.infer_job import InferJob
from tasks.solvers.presentation import Presentation, plan_epochs
from tasks.solvers.registry import SOLVERS
from tasks.solvers.run import BuiltContexts, item_rows, read_item
from tasks.solvers.state import RoleModel, SolverOutput, SolverResources

TOKENS = ("prompt_tokens", "completion_tokens")

SENTENCE_TOKENS = 6
"""Fewest tokens of a sentence of other invented replies, by a model's count and by guess."""

UNSENT = ChatReply(failure="budget", error="not sent: this is a forecast")


class UnsentCalls(list[ChatRequest]):
    """A client that sends nothing and keeps what it was asked, for forecasts."""

    async def __call__(self, request: ChatRequest) -> ChatReply:
        """Note a request."""
        self.append(request)
        return UNSENT


@dataclass(frozen=True)
class LastFirstRetriever:
    """A retriever that ranks a text the higher the later it comes.

    Of what a model wrote itself, each step then finds what the step before it could not: no call would be made for two steps.
    """

    legacy_bos: bool

    async def split(self, text: str, chunk_tokens: int, overlap_tokens: int) -> tuple[Chunk, ...]:
        """Split as the real one does."""
        return split(text, chunk_tokens, overlap_tokens, legacy_bos=self.legacy_bos)

    async def rank(self, texts: Sequence[str], query: str | None, ranking: Ranking, language: Language) -> tuple[Ranked, ...]:  # noqa: ARG002  the protocol's
        """Rank the last one first."""
        return tuple(Ranked(index) for index in reversed(range(len(texts))))


async def rehearse(
    job: InferJob, lake: Lake, reply: Callable[[Role, ChatRequest], ChatReply]
) -> AsyncIterator[tuple[Presentation, SolverOutput]]:
    """Let a solver ask about the items of a job one after the other, answered by a function in place of models.

    Yield each item as it was shown, and its output; ranked texts are not those of a run.
    """
    solver, items, contexts = SOLVERS[job.options.setting], lake.read(job.items, Items), read_contexts(lake, job.contexts)

    def answering(role: Role, entry: ModelEntry) -> RoleModel:
        async def chat(request: ChatRequest) -> ChatReply:
            return reply(role, request)

        return RoleModel(entry, chat)

    retriever = LastFirstRetriever(job.options.retrieval.counts_bos)
    resources = SolverResources({role: answering(role, entry) for role, entry in job.models.items()}, retriever)
    chunks: dict[str, tuple[Chunk, ...]] = {}
    if job.plan.chunking is not None:
        for row in items.iter_rows(named=True):
            chunks[row["item_id"]] = await split_context(read_item(row), job.plan.chunking, retriever)
    built = BuiltContexts(contexts, chunks)
    for presentation in plan_epochs(items, job.epochs):
        yield presentation, await solver.solve(built.item_of(presentation), job.options, resources, presentation.draw)


async def plan_requests(job: InferJob, lake: Lake) -> tuple[dict[Role, list[ChatRequest]], dy.DataFrame[Answers]]:
    """Return the calls about a dataset's items as the solver of a setting makes them, by role, and its answers; none is sent.

    Calls of a solver that asks again are a lower bound; those of a helper about what the model writes itself an upper one. That
    some policies ask again with less of a text is not known here. Parts and turns are as long as a reply may be.
    """
    calls: dict[Role, list[ChatRequest]] = {role: [] for role in job.models}

    def note(role: Role, request: ChatRequest) -> ChatReply:
        calls[role].append(request)
        return _invent(job, role, len(calls[role]))

    system = (job.entry.name, job.options.setting)
    rows = [
        row async for presentation, output in rehearse(job, lake, note) for row in item_rows(presentation, system, output).answers
    ]
    answers = Answers.validate(frame_of_rows(rows, Answers.create_empty().schema).sort(Answers.primary_key()))
    return {role: made for role, made in calls.items() if made}, answers


def _invent(job: InferJob, role: Role, number: int) -> ChatReply:
    """Return the longest reply a model may give, of pieces no two of which are equal: calls about equal ones would count once."""
    invented = SOLVERS[job.options.setting].invented if role != TESTED else None
    pieces = range(ceil(job.models[role].sampling.max_tokens / SENTENCE_TOKENS))
    return ChatReply(text=invented or " ".join(f"Call {number}, continuation {piece}." for piece in pieces))


async def plan_wave(job: InferJob, lake: Lake) -> list[OpenCall]:
    """Return the calls that a run would make now, each once: the journal does not answer them, and all that they rest on it does.

    Two rehearsals are answered by the journal; of what it does not answer all calls fail in one, and have invented replies in the
    other. A call that is made in both, word for word, rests on no reply that is still to come. Of a solver that retrieves none is
    known, since nothing is ranked here. LakeError: the file is no journal, or a reply in it is damaged.
    """
    if SOLVERS[job.options.setting].retrieves:
        return []
    failing, invented = [
        {call.request.key: call async for calls in _rehearse_unanswered(job, lake, fails=fails) for call in calls}
        for fails in (True, False)
    ]
    return [call for key, call in failing.items() if key in invented]


async def is_answered(job: InferJob, lake: Lake) -> bool:
    """Return whether the journal answers all that a run would ask now; raises what `plan_wave` does."""
    async with aclosing(_rehearse_unanswered(job, lake, fails=True)) as rehearsal:
        async for calls in rehearsal:
            if calls:
                return False
    return True


async def _rehearse_unanswered(job: InferJob, lake: Lake, *, fails: bool) -> AsyncGenerator[list[OpenCall]]:
    unanswered = set[str]()
    numbers = count(1)
    with opened_replies(lake.state / JOURNAL) as find:

        def reply(role: Role, request: ChatRequest) -> ChatReply:
            if stored := find(request.key):
                return stored
            unanswered.add(request.key)
            return UNSENT if fails else _invent(job, role, next(numbers))

        async for presentation, output in rehearse(job, lake, reply):
            calls = [call for call in output.calls if call.request.key in unanswered]
            yield [OpenCall(call.request, presentation.row["item_id"], call.step) for call in calls]
            unanswered.clear()


async def place_replies(
    job: InferJob, lake: Lake, replies: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], tuple[ChatRequest, str]]:
    """Return the calls that texts answer, with the texts, by item and step; of repetitions the first.

    `replies`: by id of the item and step of the call. A call that rests on a reply is found if that reply is among them.
    """
    placed: dict[tuple[str, str], tuple[ChatRequest, str]] = {}
    texts: dict[str, str] = {}

    def reply(_role: Role, request: ChatRequest) -> ChatReply:
        return ChatReply(text=texts[request.key]) if request.key in texts else UNSENT

    placed_before = -1
    while placed_before < len(placed):
        placed_before = len(placed)
        async for presentation, output in rehearse(job, lake, reply):
            steps = {
                (presentation.row["item_id"], call.step): call.request for call in output.calls if presentation.repetition == 0
            }
            placed |= {step: (request, replies[step]) for step, request in steps.items() if step in replies}
        texts = {request.key: text for request, text in placed.values()}
    return placed


def read_replies(lake: Folder, layer: str, pattern: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return columns, `call_key` among them, of all partitions of a layer whose files fit a pattern, complete or not.

    Every call is there once. LakeError: a file cannot be read.
    """
    frames = [pl.DataFrame(schema={name: pl.Int64 if name in TOKENS else pl.String for name in columns})]
    paths: list[Folder] = sorted((lake / layer).glob(pattern), key=str)
    for path in paths:
        with unreadable(path):
            stored = pl.read_parquet(parquet_source(path), hive_partitioning=False)
        if {*columns} <= {*stored.columns}:  # files of another version may lack one
            frames.append(stored.select(columns))
    counted = pl.concat(frames).drop_nulls(TOKENS)
    return counted.unique("call_key", keep="first", maintain_order=True)


def learn_from_lake(lake: Folder, tested: Iterable[str], judges: Iterable[str]) -> Estimator:
    """Return an estimator that knows every stored reply of these models, whichever run asked for it; raises as read_replies."""
    estimator = Estimator()
    for model in dict.fromkeys(tested):
        pattern = f"*/model={quote(model, safe='')}/*/*.parquet"
        replies = read_replies(lake, "responses", pattern, [*TOKENS, "call_key", "asked_model", "messages"])
        for asked_model, messages, prompt, completion in replies.select("asked_model", "messages", *TOKENS).iter_rows():
            texts = [message["content"] for message in json.loads(messages)]
            estimator.learn(measure_texts(asked_model, texts, judged=False), prompt, completion)
    for judge in dict.fromkeys(judges):
        pattern = f"*/*/*/judge={quote(judge, safe='')}/*/*.parquet"
        # Of a judge only the lengths of its replies: what it was asked is not stored.
        for length in read_replies(lake, "judgements", pattern, [*TOKENS, "call_key"])["completion_tokens"]:
            estimator.learn(Measure(judge, judged=True, script="other", guessed=0), 0, length)
    return estimator


def expect_calls(requests: Sequence[ChatRequest], estimator: Estimator, rate: Rate | None) -> Expectation:
    """Return what calls would use at a price; null = it is not known."""
    expected = [estimator.expect(request) for request in requests]
    prompt, completion = (round(sum(getattr(usage, name) for usage in expected)) for name in TOKENS)
    cost = rate.cost(prompt, completion) if rate else None
    return Expectation(calls=len(expected), prompt_tokens=prompt, completion_tokens=completion, cost=cost if expected else 0.0)


def choose_unsent(requests: Iterable[ChatRequest], journal: Path) -> list[ChatRequest]:
    """Return the calls that would be sent: not in the journal, if there is one, and equal ones once; raises as plan_wave."""
    distinct = {request.key: request for request in requests}
    with opened_replies(journal) as find:
        return [request for key, request in distinct.items() if find(key) is None]
