"""The only place where a judge is called: one call per response, all dimensions in one reply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import dataframely as dy
import polars as pl

from schemas.chat import Chat, ChatReply, ChatRequest, ModelEntry
from schemas.dialect import USUAL_DIALECT
from schemas.errors import ScoringError
from schemas.tables.items import Items
from schemas.tables.responses import Judgements, Responses
from schemas.vocabulary import ParseStatus
from schemas.working import DoAll
from tasks.judging.contract import Contract, Parsed
from tasks.judging.prompts import judge_messages
from tasks.judging.rubrics import Rubric

ATTEMPTS = 3
"""Times an unreadable reply is asked for; failed calls are retried by the client, not here."""

TOKENS_PER_DIMENSION, TOKENS_AROUND = 12, 16
"""Length of the embedded model's reply: 64 tokens for four dimensions. Other judges may reason first, up to their own limit."""

RESPONSE = ["dataset", "item_id", "model", "setting", "repetition"]


@dataclass(frozen=True)
class Verdict:
    """What became of judging one response."""

    call_key: str
    reply: ChatReply
    parsed: Parsed | None

    @property
    def status(self) -> ParseStatus:
        """Whether ratings came, an unreadable reply came, or none."""
        if self.parsed is None:
            return "failed"
        return "unparsed" if self.parsed.ratings is None else "parsed"


@dataclass(frozen=True)
class Judge:
    """A judge model, with its own sampling parameters, its rubric and its client; `on_reply` is told of every reply."""

    entry: ModelEntry
    rubric: Rubric
    chat: Chat
    on_reply: Callable[[ChatReply], None] = lambda _reply: None

    async def rate(self, item: Mapping[str, Any], answer: str) -> Verdict:
        """Ask for the ratings of one answer, again if the reply cannot be read."""
        contract = Contract(self.rubric.names)
        sampling = self.entry.sampling
        if self.entry.base_url is None:
            longest = TOKENS_AROUND + TOKENS_PER_DIMENSION * len(self.rubric.names)
            sampling = sampling.model_copy(update={"max_tokens": longest})
        for repetition in range(ATTEMPTS):
            request = ChatRequest(
                model=self.entry.name,
                identity=self.entry.identity,
                messages=judge_messages(item, answer, self.rubric),
                sampling=sampling,
                repetition=repetition,
                json_schema=contract.json_schema,
                dialect=self.entry.dialect or USUAL_DIALECT,
            )
            reply = await self.chat(request)
            self.on_reply(reply)
            parsed = None if reply.text is None else contract.parse(reply.text)
            verdict = Verdict(request.key, reply, parsed)
            if verdict.status != "unparsed":
                break
        return verdict

    def rows(self, response: Mapping[str, Any], verdict: Verdict) -> list[dict[str, Any]]:
        """One row of the judgements layer per dimension."""
        parsed, reply = verdict.parsed, verdict.reply
        ratings = (parsed.ratings if parsed else None) or {}
        shared = {
            **{name: response[name] for name in RESPONSE},
            "judge": self.entry.name,
            "rubric": self.rubric.id,
            "call_key": verdict.call_key,
            "parse_status": verdict.status,
            "raw_reply": reply.text,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "error": parsed.reason if parsed else reply.error or reply.failure,
        }
        return [{**shared, "dimension": name, "rating_1_5": ratings.get(name)} for name in self.rubric.names]


async def judge_responses(
    items: dy.DataFrame[Items],
    responses: dy.DataFrame[Responses],
    judging: Judge,
    do_all: DoAll,
) -> dy.DataFrame[Judgements]:
    """Have a judge rate every answer, the longest first.

    Only answers are judged: the last turn of each (item, model, setting, repetition), if it came and holds a word.

    Args:
        items: the dataset's items.
        responses: replies to them.
        judging: the judge with its rubric; the embedded one gets a length that just holds the ratings.
        do_all: begins the calls, as many at once as is of use.

    Returns:
        One row per judged response and dimension, sorted by key. If the judge's reply cannot be read it is asked for again as
        repetition 1 and 2; then the dimensions are `unparsed`, with the last reply kept. A failed call is `failed`.

    Raises:
        ScoringError: if a response belongs to no item.
    """
    by_item = {(row["dataset"], row["item_id"]): row for row in items.iter_rows(named=True)}
    answers = judged_answers(responses)
    check_items(answers, items)
    rated = ((by_item[row["dataset"], row["item_id"]], row["reply"]) for row in answers.iter_rows(named=True))
    verdicts = await do_all([(_length(item, answer), partial(judging.rate, item, answer)) for item, answer in rated])
    judged = zip(answers.iter_rows(named=True), verdicts, strict=True)
    rows = [row for response, verdict in judged for row in judging.rows(response, verdict)]
    frame = pl.DataFrame(rows, schema=Judgements.create_empty().schema)
    return Judgements.validate(frame.sort(Judgements.primary_key()))


def judged_answers(responses: dy.DataFrame[Responses]) -> pl.DataFrame:
    """The last turns that were answered with at least one letter, digit or Chinese character."""
    last = responses.sort("turn").unique(RESPONSE, keep="last", maintain_order=True)
    return last.filter(pl.col("reply").str.contains(r"[\p{L}\p{N}]").fill_null(value=False))


def _length(item: Mapping[str, Any], answer: str) -> float:
    """Characters that differ from one call about a dataset to the next: the item's and the answer's."""
    return len(item["context"] or "") + len(item["question"]) + len(answer)


def check_items(answers: pl.DataFrame, items: dy.DataFrame[Items]) -> None:
    """Raise ScoringError if an answer belongs to no item."""
    unknown = answers.join(items, on=["dataset", "item_id"], how="anti")
    if not unknown.is_empty():
        first = unknown.row(0, named=True)
        raise ScoringError(
            "Responses belong to no item.",
            where=f"{first['dataset']}, item {first['item_id']}",
            expected="responses to the items given",
            got=f"{unknown.height} without item",
            next_step="run the build and infer stages again for this dataset",
        )
