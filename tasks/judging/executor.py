"""Call judges, here and nowhere else: one call per rating of an answer, or one per dimension of it, as the rubric says."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import dataframely as dy
import polars as pl

from schemas.api_capabilities import DEFAULT_CAPABILITIES
from schemas.chat import Chat, ChatMessage, ChatReply, ChatRequest, ModelEntry
from schemas.lineage import PartitionKey, PartitionRef
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from schemas.vocabulary import Language
from schemas.worker_pool import Job, RunJobs
from tasks.judging.answers import Rated, judged_answers, rated_content
from tasks.judging.contract import Contract, rating_rows
from tasks.judging.prompts import judge_messages
from tasks.judging.rubrics import Dimension, Rubric
from tasks.lake.partitions import partition_key
from tasks.models.journal.journal import cut_prompts
from tasks.solvers.answers import ANSWER
from tasks.solvers.forecast import UnsentCalls

JUDGEMENTS_VERSION = "5"
"""Bumped when the judge contract or executor changes meaning; rubric texts carry their own hash."""

ATTEMPTS, ATTEMPTS_IN_OTHER_WORDS = 3, 2
"""Times an unreadable reply is asked for: again as before, or, where a judge would repeat itself, with what was wrong with it.
Failed calls are retried by the client, not here."""

_UNREADABLE: dict[Language, str] = {"en": "Your reply could not be read: {reason}.", "zh": "无法读取你的回复：{reason}。"}

TOKENS_AROUND = 16
LEAST_TOKENS_PER_DIMENSION = 12
"""Length of the embedded model's reply: 64 tokens for four dimensions. Other judges may reason first, up to their own limit."""

TOKENS_OF_A_RATING, CHARACTERS_PER_TOKEN = 8, 3
"""What a dimension takes besides its name, and how few characters of a name the embedded model puts into a token."""

TOKENS_OF_A_RATIONALE, TOKENS_OF_FAULTS = 120, 400
"""Two sentences; half a dozen faults with their quotes."""


@dataclass(frozen=True)
class Judge:
    """A judge model, with its own sampling parameters, its rubric and its client; `on_reply` is told of every reply.

    It rates each answer `repetitions` times. Asked for all dimensions together, it gets them each time in another order
    (`Rubric.calls`), so that what their order does averages out and can be measured. Beyond as many repetitions as there are
    dimensions the orders come again: a judge that always says the same then repeats itself.
    """

    entry: ModelEntry
    rubric: Rubric
    chat: Chat
    on_reply: Callable[[ChatReply], None] = lambda _reply: None
    repetitions: int = 1

    async def rate(
        self, item: Mapping[str, Any], answer: Rated, dimensions: tuple[Dimension, ...], repetition: int = 0
    ) -> list[dict[str, object]]:
        """Ask for ratings of one answer, again if the reply cannot be read and the judge may say something else.

        `dimensions` are those of one of the rubric's calls. Returns a row of the judgements layer per dimension, without the
        columns that say which answer it was.
        """
        contract = Contract.of(self.rubric, dimensions)
        messages, sampling = judge_messages(item, answer, self.rubric, dimensions), self.entry.sampling
        if self.entry.base_url is None:
            sampling = sampling.model_copy(update={"max_tokens": rating_tokens(self.rubric, dimensions)})
        # They tell equal calls apart, and repetitions: none finds the reply to another one in the journal.
        first, repeats_itself = repetition * ATTEMPTS, self.entry.repeats_itself
        for number in range(first, first + (ATTEMPTS_IN_OTHER_WORDS if repeats_itself else ATTEMPTS)):
            request = ChatRequest(
                model=self.entry.name,
                identity=self.entry.identity,
                messages=messages,
                sampling=sampling,
                repetition=number,
                json_schema=None if contract.reply == "digit" else contract.json_schema,
                capabilities=self.entry.dialect or DEFAULT_CAPABILITIES,
            )
            reply = await self.chat(request)
            self.on_reply(reply)
            parsed = None if reply.text is None else contract.parse(reply.text)
            if parsed is None or reply.text is None or parsed.ratings is not None:
                break
            if repeats_itself:
                language: Language = self.rubric.language or item["language"]
                wrong = f"{_UNREADABLE[language].format(reason=parsed.reason)} {contract.instruction(language)}"
                messages = (*messages, ChatMessage(role="assistant", content=reply.text), ChatMessage(role="user", content=wrong))
        call = {
            "judge": self.entry.name,
            "judge_repetition": repetition,
            "call_key": request.key,
            "raw_reply": reply.text,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "error": reply.error or reply.failure,
            "paid_as": reply.paid_as,
        }
        return [{**call, **rated} for rated in rating_rows(self.rubric, dimensions, parsed)]


def rating_tokens(rubric: Rubric, dimensions: Sequence[Dimension]) -> int:
    """Return the length that just holds the embedded model's ratings, and reason and faults where the rubric wants them."""
    reason = (TOKENS_OF_A_RATIONALE if rubric.rationale else 0) + (TOKENS_OF_FAULTS if rubric.faults else 0)
    of_each = (TOKENS_OF_A_RATING + len(dimension.name) // CHARACTERS_PER_TOKEN for dimension in dimensions)
    return TOKENS_AROUND + sum(max(LEAST_TOKENS_PER_DIMENSION, tokens) for tokens in of_each) + reason


async def judge_answers(
    items: dy.DataFrame[Items], answers: dy.DataFrame[Answers], judge: Judge, run_jobs: RunJobs
) -> dy.DataFrame[Judgements]:
    """Rate every answer that is judged (see `judged_answers`) as often as the judge does, the longest first.

    There is one row per judged answer, repetition of the judge and dimension, sorted by key. If the judge's reply cannot be read
    it is asked for again, twice at most, and at temperature 0 once, with what was wrong with it; then the dimensions are
    `unparsed`, with the last reply kept. A failed call is `failed`. Neither has a rating. ScoringError: an answer belongs to no
    item, or an item has not the references that the rubric shows.
    """
    by_item = {(row["dataset"], row["item_id"]): row for row in items.iter_rows(named=True)}

    async def rate(answer: Mapping[str, Any], dimensions: tuple[Dimension, ...], repetition: int) -> list[dict[str, object]]:
        rows = await judge.rate(by_item[answer["dataset"], answer["item_id"]], rated_content(answer), dimensions, repetition)
        return [{**{name: answer[name] for name in ANSWER}, **row} for row in rows]

    jobs = []
    for answer in judged_answers(answers, items, judge.rubric).iter_rows(named=True):
        item = by_item[answer["dataset"], answer["item_id"]]
        # Characters that differ from one call about a dataset to the next.
        length = len(item["context"] or "") + len(item["question"]) + len(answer["answer"])
        calls = rating_calls(judge.rubric, judge.repetitions)
        jobs += [Job(length, partial(rate, answer, dimensions, repetition)) for repetition, dimensions in calls]
    rows = [row for rated in await run_jobs(jobs) for row in rated]
    lost, cut = {"parse_status": "failed", "rating": None, "rationale": None, "raw_reply": None}, cut_prompts([judge.chat])
    rows = [{**row, **lost, "error": cut[row["call_key"]]} if row["call_key"] in cut else row for row in rows]
    frame = pl.DataFrame(rows, schema=Judgements.create_empty().schema)
    return Judgements.validate(frame.sort(Judgements.primary_key()))


def rating_calls(rubric: Rubric, repetitions: int) -> list[tuple[int, tuple[Dimension, ...]]]:
    """Return the calls about one answer: the repetition and the dimensions of each."""
    return [(repetition, dimensions) for repetition in range(repetitions) for dimensions in rubric.calls(repetition)]


async def plan_ratings(
    answers: Iterable[tuple[Mapping[str, Any], Rated]], judge: ModelEntry, rubric: Rubric, repetitions: int = 1
) -> list[ChatRequest]:
    """Return the first call for each rating of each answer; what unreadable replies cost again is not known here.

    `answers`: row of the items layer, and the answer to it; an empty text where it is not known yet.
    """
    planned = UnsentCalls()
    forecast = Judge(judge, rubric, planned)
    for row, answer in answers:
        for repetition, dimensions in rating_calls(rubric, repetitions):
            await forecast.rate(row, answer, dimensions, repetition)
    return planned


def judge_settings(judge: ModelEntry, rubric_sha256: str) -> dict[str, Any]:
    """Return what the ratings of an answer depend on besides the answer: a judge as it is called, with one rubric."""
    return {
        "judge": judge.name,
        **judge.meaning,
        "rubric_sha256": rubric_sha256,
        **({"json_schema": False} if judge.dialect and "json_schema" in judge.dialect.unsent else {}),
    }


def judgements_key(
    answers: PartitionRef, judge: ModelEntry, rubric: str, rubric_sha256: str, repetitions: int = 1
) -> PartitionKey:
    """Return the key of one judge's ratings of one partition of answers.

    That its replies are not held to a schema counts only where they are not, and how often it rates an answer only where it does
    so more than once.
    """
    settings = judge_settings(judge, rubric_sha256) | ({"repetitions": repetitions} if repetitions > 1 else {})
    keys = {**dict(answers.place), "judge": judge.name, "rubric": rubric}
    return partition_key("judgements", keys, settings, parents=[answers.identity], version=JUDGEMENTS_VERSION)
