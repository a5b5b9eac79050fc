"""One long item in one setting: LongEmotion's Base, RAG, CoEM, Self-RAG and Search-o1, and what was retrieved alone."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType

from schemas.vocabulary import Setting
from tasks.solvers.longemotion.base import ask, present
from tasks.solvers.longemotion.coem import gather_enriched
from tasks.solvers.longemotion.emotion_expression import express
from tasks.solvers.longemotion.parameters import choose_parameters
from tasks.solvers.longemotion.prompts import load_long_prompts
from tasks.solvers.longemotion.rag import context_pool, context_queries, gather_chunks
from tasks.solvers.longemotion.search_o1 import SearchQuery, SearchResult, Turn, Wording, converse, look_up
from tasks.solvers.longemotion.self_rag import gather_criticised
from tasks.solvers.longemotion.state import (
    Gather,
    Gathered,
    LongItem,
    Pool,
    Query,
    SolverOptions,
    SolverOutput,
    SolverResources,
    SolverState,
)

SOLVERS_VERSION = "1"
"""Bumped when a setting asks or records otherwise; prompt texts carry their own hash."""

GATHER: Mapping[Setting, Gather] = MappingProxyType(
    {
        "rag": gather_chunks,
        "retrieve_only": gather_chunks,
        "coem": gather_enriched,
        "self_rag": gather_criticised,
    }
)


async def gather(scene: SolverState, pool: Pool, query: Query) -> Gathered:
    """What one query brings in the scene's setting."""
    return await GATHER[scene.how.setting](scene, pool, query)


async def solve(long_item: LongItem, how: SolverOptions, hands: SolverResources, repetition: int = 0) -> SolverOutput:
    """Ask one item.

    Args:
        long_item: with its chunks, where the setting retrieves from its context.
        how: setting and parameters.
        hands: the models, and what splits and ranks texts.
        repetition: number of the item's calls among equal ones; helpers do not count it.

    Raises:
        UsageError: if the parameters do not fit each other, or chunks are missing.
    """
    parameters = choose_parameters(how.options, long_item.context.long_task, how.setting, hands.cast.core.entry.name)
    scene = SolverState(long_item, how, hands, repetition, parameters, load_long_prompts())
    if scene.family == "ee":
        return await express(scene, gather)
    if not parameters.retrieves or scene.gathers:
        return await _answer(scene)
    return await _search(scene)


async def _answer(scene: SolverState) -> SolverOutput:
    queries = context_queries(scene) if scene.gathers else ()
    pool = context_pool(scene) if queries else None
    gathered = await asyncio.gather(*(gather(scene, pool, query) for query in queries)) if pool else []
    rows = tuple(row for group in gathered for row in group.rows)
    if failed := next((group.failed for group in gathered if group.failed), None):
        return SolverOutput((failed,), rows)
    call = await ask(scene.hands.cast.core, present(scene, gathered), scene.limit, scene.repetition)
    return SolverOutput((call,), rows)


async def _search(scene: SolverState) -> SolverOutput:
    pool, numbers = context_pool(scene), count()
    texts = scene.prompts.search.template(scene.language)

    async def seek(found: SearchQuery, _: Sequence[Turn]) -> SearchResult:
        return await look_up(scene, pool, Query(next(numbers), found.query, scene.parameters.counts))

    conversation = await converse(scene, present(scene), Wording(texts.results, texts.last_results), seek)
    return SolverOutput(tuple(turn.call for turn in conversation.turns), conversation.rows)
