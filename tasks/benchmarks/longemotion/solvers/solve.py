"""The settings of LongEmotion: Base asks its tasks; RAG, CoEM, Self-RAG and Search-o1 retrieve from the context first."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import Any

from schemas.chat import ModelEntry
from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.solvers.asking import Query, SolverState, build_messages, call_tested
from tasks.benchmarks.longemotion.solvers.emotion_expression import express, join_steps
from tasks.benchmarks.longemotion.solvers.parameters import FAMILIES, PLAIN_STAGES, choose_parameters
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tasks.benchmarks.longemotion.solvers.rag import FAVOURABLE, context_pool, context_queries, retrieve
from tasks.benchmarks.longemotion.solvers.search_o1 import Hits, SearchQuery, Turn, converse, look_up
from tasks.retrieval.embedding import find_embedder
from tasks.retrieval.ranking import RANKING_VERSION
from tasks.solvers.chunk_rows import CHUNKS_VERSION
from tasks.solvers.prompts import OwnPrompts
from tasks.solvers.registry import ContextSolver, Solver, setting_title
from tasks.solvers.state import (
    AskedItem,
    Chunking,
    NoOptions,
    PlainOptions,
    SolverCode,
    SolverOutput,
    SolverPlan,
    SolverResources,
    first_failed,
    state_answer,
)
from tasks.text.number_format import listed

CODE = SolverCode("3", LongEmotionPrompts, {"solvers_version": "1"})
"""Bumped when rows are recorded otherwise, or a setting asks otherwise; prompt texts carry their own hash."""


def plan(options: PlainOptions, task: ContextTask | None, entry: ModelEntry) -> SolverPlan:
    """Plan how a task is asked; raise UsageError if the parameters do not fit, or the embedding model is not here."""
    if task is None:
        raise AssertionError(f"setting {options.setting} needs items with contexts built for them")
    retrieval, parameters = options.retrieval, choose_parameters(options.retrieval, task, options.setting, entry.name)
    settings: dict[str, object] = {"length_demand": options.length_demand}
    if options.setting != "base":
        settings |= {"retrieval": retrieval.model_dump(mode="json", exclude={"embedder"}), "chunks_version": CHUNKS_VERSION}
    if not parameters.retrieves:
        return SolverPlan(CODE, settings)
    settings |= {"ranking_version": RANKING_VERSION}
    if retrieval.ranking != "bm25":
        settings |= {"embedder": find_embedder(retrieval.embedder).identity}
    if FAMILIES[task] == "ee":  # what the model wrote before is searched
        return SolverPlan(CODE, settings, yields=frozenset({"retrievals", "chunks"}))
    tokens = None if FAMILIES[task] == "ed" else parameters.chunk_tokens
    chunking = Chunking(tokens, retrieval.overlap_tokens, retrieval.counts_bos)
    return SolverPlan(CODE, settings, chunking, frozenset({"retrievals"}))


async def solve(asked_item: AskedItem, options: PlainOptions, resources: SolverResources, repetition: int = 0) -> SolverOutput:
    """Ask one item; raise UsageError if the parameters do not fit each other, or chunks are missing."""
    task, model = asked_item.built_context.task, resources.roles["tested"].entry.name
    parameters = choose_parameters(options.retrieval, task, options.setting, model)
    state = SolverState(asked_item, options, resources, repetition, parameters, LongEmotionPrompts.load(options.prompts))
    if state.family == "ee":
        return await express(state)
    if not parameters.retrieves or state.retrieves_first:
        return await _answer(state)
    return await _search(state)


async def _answer(state: SolverState) -> SolverOutput:
    queries = context_queries(state) if state.retrieves_first else ()
    pool = context_pool(state) if queries else None
    retrieved = await asyncio.gather(*(retrieve(state, pool, query) for query in queries)) if pool else []
    rows = tuple(row for group in retrieved for row in group.rows)
    calls = tuple(call for group in retrieved for call in group.calls)
    if not first_failed(calls):
        calls += (await call_tested(state, build_messages(state, retrieved)),)
    return SolverOutput(calls, state_answer(calls), rows)


async def _search(state: SolverState) -> SolverOutput:
    pool, numbers = context_pool(state), count()
    texts = state.prompts.search.template(state.language)

    async def seek(search: SearchQuery, _: Sequence[Turn]) -> Hits:
        return await look_up(state, pool, Query(next(numbers), search.query, state.parameters.counts))

    turns = await converse(state, build_messages(state), texts.results, texts.last_results, seek)
    calls = tuple(turn.call for turn in turns)
    return SolverOutput(calls, state_answer(calls), tuple(row for turn in turns for row in turn.rows))


def longest_reply(task: ContextTask, own: OwnPrompts) -> int:
    """Return the longest reply of the embedded model to a task, in its tokens; `own`: prompts of the blueprint."""
    return int(getattr(LongEmotionPrompts.load(own), FAMILIES[task]).max_tokens)


def remark_on_plain_stages(tasks: Collection[ContextTask], settings: Sequence[str]) -> Iterator[str]:
    """Say that early stages of a conversation are asked plainly, so that gains there say nothing."""
    retrieving = [setting_title(setting) for setting in settings if setting not in {"base", "retrieve_only"}]
    if retrieving and PLAIN_STAGES & set(tasks):
        yield (
            f"In the first three stages of emotion conversation nothing is retrieved with {listed(retrieving)}: their items are "
            "asked as with Base, and gains there say nothing."
        )


def _retrieving(setting: str, title: str, words: str, **more: Any) -> Solver[NoOptions]:
    return Solver(setting, title, solve, (CODE,), plan, retrieves=True, words=words, **more)


_ENRICHED = "the same as base, and chunks that a Sage enriched, ranked again with what it wrote"
_CRITICISED = "the same as base, and those of the nearest chunks that a critic does not dismiss"
SOLVERS = (
    _retrieving("rag", "RAG", "the same as base, and the chunks nearest to a query"),
    _retrieving("coem", "CoEM", _ENRICHED, roles={"sage": "enriches retrieved chunks (CoEM)"}),
    _retrieving(
        "self_rag", "Self-RAG", _CRITICISED, roles={"critic": "says which retrieved chunks help (Self-RAG)"}, invented=FAVOURABLE
    ),
    _retrieving("search_o1", "Search-o1", "the same as base; it may search the text while it works", asks_again=True),
    _retrieving("retrieve_only", "Retrieved only", "the chunks nearest to a query in place of the text"),
)
CONTEXT_SOLVERS = (
    ContextSolver(
        tuple(FAMILIES),
        solve,
        CODE,
        plan,
        longest_reply,
        joins={"emotion_expression": join_steps},
        demanded_tokens={"ee": 3000},
        remarks=remark_on_plain_stages,
    ),
)
