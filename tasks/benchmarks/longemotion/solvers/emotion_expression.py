"""Emotion expression: six turns of one conversation, of which the last four may retrieve from what the model wrote before."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from schemas.chat import ChatMessage
from schemas.usage import TESTED
from schemas.vocabulary import Language
from tasks.benchmarks.longemotion.solvers.asking import Query, SolverState, call_tested, show_retrieved
from tasks.benchmarks.longemotion.solvers.prompts import STEPS
from tasks.benchmarks.longemotion.solvers.rag import retrieve
from tasks.benchmarks.longemotion.solvers.search_o1 import END_QUERY, Hits, SearchQuery, Turn, converse, look_up, without_searches
from tasks.solvers.state import Answer, Call, Pool, RetrievedChunk, SolverOutput, first_failed, says_something

FIRST_THAT_RETRIEVES = 2
HEAD: dict[Language, str] = {"en": "[Step {step}]", "zh": "[步骤 {step}]"}
"""Stands above what was written in a step, in the answer."""

MARKED = re.compile(r"<\|begin_search_(query|result)\|>.*?(?:<\|end_search_\1\|>|\Z)", re.DOTALL)
"""Searches and what they found, also where they do not end."""


async def express(state: SolverState) -> SolverOutput:
    """Ask for ratings and five steps; a failed call ends it."""
    account = ExpressionDialogue(state)
    await account.rate()
    for number in range(1, STEPS + 1):
        if first_failed(account.calls):
            break
        await account.go_through(number)
    return SolverOutput(tuple(account.calls), (account.answer(),), tuple(account.rows), tuple(account.written))


@dataclass
class ExpressionDialogue:
    """What the model has written so far, and how it was asked."""

    state: SolverState
    calls: list[Call] = field(default_factory=list)
    rows: list[RetrievedChunk] = field(default_factory=list)
    written: list[Pool] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    history: list[ChatMessage] = field(default_factory=list)
    searches: Iterator[int] = field(default_factory=count)
    """Numbers of all searches of the item: in their rows nothing else tells those of one step from those of another."""

    def __post_init__(self) -> None:
        self.template = self.state.prompts.ee.template(self.state.language)
        item, texts = self.state.item, self.template
        self.situation = [texts.situation.format(situation=item.context or ""), texts.task.format(question=item.question)]
        self.history.append(ChatMessage(role="system", content=self.template.system))

    def answer(self) -> Answer:
        """State what was written in all steps, headed by their numbers, without searches and what they found.

        Without one of the steps there is none: it would be rated lower for a call that failed. Headings alone say nothing.
        """
        if failed := first_failed(self.calls):
            return Answer((failed,), failed_role=failed.role)
        calls = tuple(call for call in self.calls if call.role == TESTED)
        return Answer(calls, text=head_steps([MARKED.sub("", text) for text in self.texts], self.state.language))

    async def rate(self) -> None:
        """Ask for ratings of the adjectives (step 0)."""
        adjectives = "\n".join(self.state.item.options or ())
        await self._say([*self.situation, self.template.ratings.format(adjectives=adjectives)])

    async def go_through(self, number: int) -> None:
        """Ask one step, in its setting."""
        if not self.state.parameters.retrieves or number < FIRST_THAT_RETRIEVES:
            await self._say(self._demand(number))
        elif self.state.retrieves_first:
            await self._retrieve(number)
        else:
            await self._search(number)

    def _demand(self, number: int) -> list[str]:
        step = self.template.steps[number - 1]
        demand = [self.template.length_demand] if self.state.options.length_demand else []
        return [self.template.step.format(text=step.text, title=step.title), *demand]

    async def _say(self, blocks: Sequence[str], *, afresh: bool = False) -> None:
        message = ChatMessage(role="user", content="\n\n".join(blocks))
        # What is retrieved in place of the earlier turns stands alone after the system message.
        messages = (self.history[0], message) if afresh else (*self.history, message)
        call = await call_tested(self.state, messages, f"step {len(self.texts)}")
        self.calls.append(call)
        self._remember(message, call.reply.text or "")

    def _remember(self, message: ChatMessage, text: str) -> None:
        self.texts.append(text)
        self.history += [message, ChatMessage(role="assistant", content=text)]

    async def _retrieve(self, number: int) -> None:
        pool = await self._pool(self.texts, f"written-{self.state.repetition}-{number}")
        query = Query(number, self.template.steps[number - 1].text, self.state.parameters.steps[number - FIRST_THAT_RETRIEVES])
        retrieved = await retrieve(self.state, pool, query)
        self.rows += retrieved.rows
        self.calls += retrieved.calls
        if first_failed(self.calls):
            return
        excerpts = show_retrieved(self.state, self.template, [retrieved])
        afresh = self.state.options.setting == "retrieve_only"
        await self._say([*(self.situation if afresh else []), *excerpts, *self._demand(number)], afresh=afresh)

    async def _pool(self, texts: Sequence[str], corpus: str) -> Pool:
        parameters = self.state.parameters
        whole = "\n\n".join(text for text in texts if text)
        chunks = await self.state.retriever.split(whole, parameters.chunk_tokens, parameters.overlap_tokens)
        self.written.append(Pool(chunks, corpus))
        return self.written[-1]

    async def _search(self, number: int) -> None:
        texts = self.state.prompts.search.template(self.state.language)
        counts = self.state.parameters.steps[number - FIRST_THAT_RETRIEVES]
        searches = texts.step.format(searches=self.state.options.retrieval.most_searches)
        message = ChatMessage(role="user", content="\n\n".join([*self._demand(number), searches]))

        async def seek(search: SearchQuery, before: Sequence[Turn]) -> Hits:
            searched = sum(turn.search is not None and not turn.search.repeated for turn in before)
            now = [*(_visible(turn) for turn in before), without_searches(search.so_far)]
            pool = await self._pool([*self.texts, *now], f"written-{self.state.repetition}-{number}-{searched}")
            return await look_up(self.state, pool, Query(next(self.searches), search.query, counts))

        told = (texts.results_step, texts.last_results_step)
        turns = await converse(self.state, (*self.history, message), *told, seek, f"step {number}")
        self.rows += [row for turn in turns for row in turn.rows]
        self._conclude(message, turns)

    def _conclude(self, message: ChatMessage, turns: Sequence[Turn]) -> None:
        """Keep what the model wrote in a step: the text of all its turns, without searches, since it goes on after each."""
        *before, last = turns
        self.calls += [_clean(turn) for turn in before]
        if last.call.reply.failure is not None:
            self.calls.append(last.call)
            return
        text = "\n\n".join(part for turn in turns if (part := _visible(turn)))
        if text:
            self.calls.append(_clean(last))
            self._remember(message, text)
        else:
            reply = replace(last.call.reply, text=None, failure="empty_content", error="nothing was written but searches")
            self.calls.append(last.call._replace(reply=reply))


def head_steps(texts: Sequence[str], language: Language) -> str:
    """Return what was written in all steps, headed by their numbers; empty if no step says anything."""
    if not any(map(says_something, texts)):
        return ""
    return "\n\n".join(f"{HEAD[language].format(step=step)}\n{text.strip()}" for step, text in enumerate(texts))


def _visible(turn: Turn) -> str:
    if turn.search is None:
        return without_searches(turn.call.reply.text or "")
    return "" if turn.search.in_reasoning else without_searches(turn.search.so_far)


def _clean(turn: Turn) -> Call:
    return turn.call._replace(reply=replace(turn.call.reply, text=_visible(turn)))


def join_steps(turns: Iterable[Mapping[str, Any]]) -> str | None:
    """Return what a model wrote in the steps of one emotion expression, without its searches and what they found.

    A step may take several turns: after a search the model goes on writing. Its conversation then ends with its search and what
    it was told. Any other turn begins a step; whether it is shown the earlier ones is the setting's choice. Turns are rows of the
    responses layer, with the item's `language`, in order. The text is empty if no step says anything, and null if a turn did not
    come or a step is missing.
    """
    texts: list[str] = []
    for turn in turns:
        if turn["reply"] is None:
            return None
        text = MARKED.sub("", turn["reply"])
        before = json.loads(turn["messages"])[:-1]
        goes_on = before and before[-1]["role"] == "assistant" and before[-1]["content"].endswith(END_QUERY)
        if texts and goes_on:
            # Searches at the end of a turn took their white space with them.
            text = "\n\n".join(part.strip() for part in (texts.pop(), text) if part.strip())
        texts.append(text)
        language = turn["language"]
    return head_steps(texts, language) if len(texts) == STEPS + 1 else None
