"""Setting `search_o1`: let the model search its material while it works, in a conversation with a limit of searches.

A query counts wherever it stands, in what the model thinks or in what it says. It is answered once; what follows it in the same
reply is cut off, since it was written without the answer.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from schemas.chat import ChatMessage, ChatReply
from tasks.benchmarks.longemotion.solvers.asking import Query, SolverState, call_tested, number_texts, show_segment
from tasks.benchmarks.longemotion.solvers.rag import arrange, pick, rank_pool, record
from tasks.solvers.state import Call, Pool, RetrievedChunk

BEGIN_QUERY, END_QUERY = "<|begin_search_query|>", "<|end_search_query|>"
BEGIN_RESULT, END_RESULT = "<|begin_search_result|>", "<|end_search_result|>"
QUERY = re.compile(rf"{re.escape(BEGIN_QUERY)}((?:(?!{re.escape(BEGIN_QUERY)}).)*?){re.escape(END_QUERY)}", re.DOTALL)
STRAY = re.compile("|".join(map(re.escape, (BEGIN_QUERY, END_QUERY, BEGIN_RESULT, END_RESULT))))


class SearchQuery(NamedTuple):
    """A query in a reply; `so_far` is what stands before it, and itself, in the part of the reply it is in."""

    query: str
    so_far: str
    in_reasoning: bool
    repeated: bool = False


class Turn(NamedTuple):
    """A call, the query that its reply ends with, and the rows of the search for it; null = it is the answer."""

    call: Call
    search: SearchQuery | None
    rows: tuple[RetrievedChunk, ...] = ()


Hits = tuple[str, tuple[RetrievedChunk, ...]]

Seek = Callable[[SearchQuery, Sequence[Turn]], Awaitable[Hits]]


async def converse(
    state: SolverState, opening: Sequence[ChatMessage], results: str, last_results: str, seek: Seek, step: str = "answer"
) -> tuple[Turn, ...]:
    """Let the model work until it answers, fails, or has no searches left; then it is asked for the answer once.

    Queries in what it begins with are examples. After a search it is told `results`, with {left}, after the last `last_results`.
    """
    examples = {_fold(match[1]) for message in opening for match in QUERY.finditer(message.content)}
    messages, turns = tuple(opening), tuple[Turn, ...]()
    for left in reversed(range(-1, state.options.retrieval.most_searches)):
        call = await call_tested(state, messages, step)
        answered = {_fold(turn.search.query) for turn in turns if turn.search}
        search = find_query(call.reply, answered, examples) if left >= 0 else None
        if search is None:
            turns += (Turn(call, None),)
            break
        results_block, rows = state.prompts.search.template(state.language).repeated, tuple[RetrievedChunk, ...]()
        if not search.repeated:
            hits, rows = await seek(search, turns)
            results_block = f"{BEGIN_RESULT}\n{hits}\n{END_RESULT}"
        turns += (Turn(call, search, rows),)
        told = results.format(left=left) if left else last_results
        reply = ChatMessage(role="assistant", content=search.so_far)
        messages += (reply, ChatMessage(role="user", content=f"{results_block}\n\n{told}"))
    return turns


def find_query(reply: ChatReply, answered: set[str], examples: set[str]) -> SearchQuery | None:
    """Return the first query of a reply that is not among those answered before; null if the reply is an answer.

    A model that thinks about an earlier query does not ask again, one that says it again does. Examples are no queries. Both are
    given folded.
    """
    if reply.failure is not None:
        return None
    parts = ((reply.reasoning or "", True), (reply.text or "", False))
    matches = [(match, text, thought) for text, thought in parts for match in QUERY.finditer(text)]
    queries = [(match, text, thought) for match, text, thought in matches if _fold(match[1]) not in {"", *examples}]
    new = next((query for query in queries if _fold(query[0][1]) not in answered), None)
    chosen = new or next((query for query in queries if not query[2]), None)
    if chosen is None:
        return None
    match, text, thought = chosen
    return SearchQuery(match[1].strip(), text[: match.end()], thought, repeated=new is None)


def without_searches(text: str) -> str:
    """Return a text without queries, results and their marks."""
    *before_ends, rest = QUERY.sub("", text).split(END_RESULT)
    kept = [part.partition(BEGIN_RESULT)[0] for part in before_ends]
    return STRAY.sub("", "".join([*kept, rest])).strip()


async def look_up(state: SolverState, pool: Pool, query: Query) -> Hits:
    """Search a pool: the best chunks in document order."""
    ranking = await rank_pool(state, pool, query)
    best = arrange(pick(pool, ranking, query.counts.top_k), query)
    if state.family == "ed":
        hits = "\n".join(show_segment(chunk.number, chunk.text) for chunk in best)
    else:
        hits = number_texts([chunk.text for chunk in best])
    return hits, record("search", pool, query, ranking, best)


def _fold(query: str) -> str:
    return " ".join(query.casefold().split())
