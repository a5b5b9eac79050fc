"""Rank chunks and keep the best: settings `rag`, `retrieve_only`, `coem` and `self_rag`.

What a helper is asked depends on no more than the text and, where the task says so, on the question: models under test, and
repetitions, share its replies. It is asked once about each chunk, since the model under test may play it, which must not win by
being asked more often. Chunks that a critic dismisses take no others with them, as they do in the released code.
"""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence

from schemas.context import Chunk, Ranked
from schemas.errors import UsageError
from schemas.vocabulary import RetrievalStage
from tasks.benchmarks.longemotion.solvers.asking import HelperNote, Piece, Query, Retrieved, SolverState, number_texts, say
from tasks.solvers.state import Pool, RetrievedChunk, first_failed

MOST_RECORDED = 100
"""Ranks that are recorded of a ranking of chunks, unless more are kept."""

MARK = re.compile(
    r"\[\s*(?:(?P<unfit>irrelevant)|(?P<fit>relevant)"
    r"|(?P<no>(?:no support|not supported|unsupported)(?:\s*/\s*contradictory)?)|(?P<yes>(?:fully|partially) supported))\s*\]",
    re.IGNORECASE,
)
"""Reflection marks, as the Self-RAG models and as the released code spell them."""

FAVOURABLE = "[Relevant] [Fully supported]"
"""A reply of a critic with a verdict."""

WITH_REMARK = frozenset({"qa", "es", "ed"})
"""Tasks that show the critic's words next to the chunk."""


async def rank_texts(state: SolverState, texts: Sequence[str], query: str | None) -> tuple[Ranked, ...]:
    """Return all texts, best first; without a query, the one least like the others first. No texts give no ranks."""
    return await state.retriever.rank(texts, query, state.options.retrieval.ranking, state.language) if texts else ()


async def rank_pool(state: SolverState, pool: Pool, query: Query) -> tuple[Ranked, ...]:
    """Return the chunks of a pool, best first. They are ranked even if all are kept, so that every ranking is recorded."""
    return await rank_texts(state, [chunk.text for chunk in pool.chunks], query.text)


def pick(pool: Pool, ranking: Sequence[Ranked], count: int) -> tuple[Chunk, ...]:
    """Return the best chunks, best first."""
    return tuple(pool.chunks[ranked.place] for ranked in ranking[:count])


def arrange(chunks: Sequence[Chunk], query: Query) -> tuple[Chunk, ...]:
    """Return chunks in the order they are shown in: that of the document, or, ranked against each other, as ranked."""
    return tuple(chunks) if query.text is None else tuple(sorted(chunks, key=lambda chunk: chunk.number))


def record(
    stage: RetrievalStage,
    pool: Pool,
    query: Query,
    ranking: Sequence[Ranked],
    kept: Collection[Chunk],
    notes: Mapping[int, HelperNote] | None = None,
) -> tuple[RetrievedChunk, ...]:
    """Record a ranking of a pool as rows; `notes`: what helpers wrote, by number of the chunk.

    `reranked` is recorded whole, the other stages up to rank MOST_RECORDED or the last that is wanted.
    """
    wanted = max(query.counts.initial_k or query.counts.top_k, MOST_RECORDED)
    numbers, rows = {chunk.number for chunk in kept}, []
    for rank, ranked in enumerate(ranking if stage == "reranked" else ranking[:wanted]):
        number = pool.chunks[ranked.place].number
        note = (notes or {}).get(number)
        rows.append(
            RetrievedChunk(
                query_number=query.number,
                stage=stage,
                rank=rank,
                chunk=number,
                kept=number in numbers,
                corpus=pool.corpus,
                query=query.text,
                dense=ranked.dense,
                bm25=ranked.bm25,
                fused=ranked.fused,
                enriched=note.text if note else None,
                helper=note.helper if note else None,
                helper_call_key=note.call_key if note else None,
            )
        )
    return tuple(rows)


async def retrieve_chunks(state: SolverState, pool: Pool, query: Query) -> Retrieved:
    """Return the best chunks as they are."""
    ranking = await rank_pool(state, pool, query)
    best = pick(pool, ranking, query.counts.top_k)
    pieces = tuple(Piece(chunk, chunk.text) for chunk in arrange(best, query))
    return Retrieved(pieces, record("initial", pool, query, ranking, best), query.aspect)


async def retrieve_criticised(state: SolverState, pool: Pool, query: Query) -> Retrieved:
    """Return the best chunks without those the critic dismisses (Self-RAG); a chunk without a verdict is dismissed.

    Emotion detection keeps all, with the critic's words.
    """
    ranking = await rank_pool(state, pool, query)
    best, critic = pick(pool, ranking, query.counts.top_k), state.prompts.critic
    template = critic.template(state.language)
    # Emotion classification is ranked by a bare name, which says nothing of what is asked.
    question = state.item.question if state.family == "ec" else query.text
    instruction = getattr(template, state.family)
    if state.family != "ed":
        instruction = instruction.format(question=question)
    prompts = (say(template.system, template.ask.format(instruction=instruction, paragraph=chunk.text)) for chunk in best)
    calls = await asyncio.gather(*(state.resources.ask("critic", "criticise", each, critic.max_tokens) for each in prompts))
    answered = [(chunk, call) for chunk, call in zip(best, calls, strict=True) if not call.reply.failure]
    notes = {chunk.number: HelperNote.of(call) for chunk, call in answered}
    useful = [chunk for chunk, call in answered if state.family == "ed" or read_marks(call.reply.text or "")]
    rows = record("initial", pool, query, ranking, useful, notes)
    if first_failed(calls):
        return Retrieved(rows=rows, calls=tuple(calls))
    form = template.pack if state.family in WITH_REMARK else None
    pieces = tuple(_pack(chunk, notes[chunk.number], form) for chunk in arrange(useful, query))
    return Retrieved(pieces, rows, query.aspect, calls=tuple(calls))


def _pack(chunk: Chunk, note: HelperNote, form: str | None) -> Piece:
    return Piece(chunk, form.format(text=chunk.text, note=note.text), note.text) if form else Piece(chunk, chunk.text)


def read_marks(reply: str) -> bool | None:
    """Return what the marks of a reply say of a chunk; null if it bears none.

    Of each kind the last one counts. An irrelevant chunk is of no use, a relevant one as far as it supports; if the reply says
    nothing of support, it is.
    """
    marks = [match.lastgroup for match in MARK.finditer(reply)]
    relevance = next((name for name in reversed(marks) if name in {"fit", "unfit"}), None)
    support = next((name for name in reversed(marks) if name in {"yes", "no"}), None)
    return None if relevance is None and support is None else relevance != "unfit" and support != "no"


async def retrieve_enriched(state: SolverState, pool: Pool, query: Query) -> Retrieved:
    """Return the best chunks of a ranking and of one after the Sage wrote about them (CoEM).

    In a conversation it writes about all of them together. Emotion detection has no first ranking: all segments are enriched.
    """
    rows, chosen = tuple[RetrievedChunk, ...](), pool.chunks
    if query.text is not None:
        ranking = await rank_pool(state, pool, query)
        chosen = pick(pool, ranking, query.counts.initial_k or len(ranking))
        rows = record("initial", pool, query, ranking, chosen)
    if not chosen:
        return Retrieved(heading=query.aspect)
    sage, together = state.prompts.sage, state.family == "mc"
    template = sage.template(state.language)
    prompts = (say(template.system, text) for text in _describe(state, chosen, query))
    calls = await asyncio.gather(*(state.resources.ask("sage", "enrich", prompt, sage.max_tokens) for prompt in prompts))
    if first_failed(calls):
        return Retrieved(rows=rows, calls=tuple(calls))
    notes = [HelperNote.of(call) for call in calls]
    # The one note about a conversation ranks the chunks as they are.
    knowledge = notes[0].text if together else None
    ranked_by = query._replace(text=knowledge) if together else query
    noted = list(zip(chosen, notes * len(chosen) if together else notes, strict=True))
    pieces = {chunk.number: _pack(chunk, note, None if together else template.pack) for chunk, note in noted}
    # As published, emotion classification ranks its one pack no second time.
    texts = [piece.text for piece in pieces.values()]
    ranking = (Ranked(0),) if len(texts) == 1 else await rank_texts(state, texts, ranked_by.text)
    best = pick(Pool(chosen), ranking, query.counts.top_k)
    by_number = {chunk.number: note for chunk, note in noted}
    return Retrieved(
        pieces=tuple(pieces[chunk.number] for chunk in arrange(best, query)),
        rows=rows + record("reranked", Pool(chosen, pool.corpus), ranked_by, ranking, best, by_number),
        heading=query.aspect,
        knowledge=knowledge,
        calls=tuple(calls),
    )


def _describe(state: SolverState, chunks: Sequence[Chunk], query: Query) -> list[str]:
    """Return what the Sage is asked about chunks: of a conversation about all of them together."""
    template, context = state.prompts.sage.template(state.language), state.asked_item.built_context
    if state.family == "mc":
        pieces = number_texts([chunk.text for chunk in sorted(chunks, key=lambda chunk: chunk.number)])
        return [template.mc.format(pieces=pieces, messages=state.item.question)]
    text, subject = getattr(template, context.task), context.query or state.item.question
    fields = {"question": query.text or "", "aspect": query.aspect, "subject": subject}
    return [text.format(piece=chunk.text, **fields) for chunk in chunks]


async def retrieve(state: SolverState, pool: Pool, query: Query) -> Retrieved:
    """Return what one query brings in the item's setting; the best chunks as they are in `rag` and `retrieve_only`."""
    by_setting = {
        "rag": retrieve_chunks,
        "retrieve_only": retrieve_chunks,
        "coem": retrieve_enriched,
        "self_rag": retrieve_criticised,
    }
    return await by_setting[state.options.setting](state, pool, query)


def context_pool(state: SolverState) -> Pool:
    """Return the chunks of the item's own context, which may be none; raise UsageError if it was not split."""
    chunks, item = state.asked_item.chunks, state.item
    if not chunks and (item.context or state.family == "ed"):
        raise UsageError(
            "an item has no chunks, although its setting retrieves",
            where=f"item {state.asked_item.item_id}, setting {state.options.setting}",
            expected="the chunks of its context",
            got="none",
            next_step="run moodflow infer again, which splits contexts first",
        )
    return Pool(chunks)


def context_queries(state: SolverState) -> tuple[Query, ...]:
    """Return what ranks the chunks of the item's own context. Of emotion expression, each step has its own.

    Source: LongEmotion; emotion classification is ranked by the bare subject, a conversation by its last three messages.
    """
    counts, question = state.parameters.counts, state.item.question
    if state.family == "es":
        aspects = state.prompts.es.template(state.language).aspects.values()
        return tuple(Query(number, aspect.query, counts, aspect.heading) for number, aspect in enumerate(aspects))
    is_asked_by_question = state.family == "mc" or (state.family == "ec" and state.options.retrieval.question_as_query)
    text = question if is_asked_by_question else state.asked_item.built_context.query or question
    return (Query(0, None if state.family == "ed" else text, counts),)
