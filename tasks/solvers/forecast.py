"""Forecast a partition: its requests, which of them the journal answers, and what the others would use."""

import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import dataframely as dy
import polars as pl

from schemas.chat import ChatRequest, ModelEntry
from schemas.folders import Folder
from schemas.pricing import Rate
from schemas.tables.items import Items
from schemas.usage import Expectation
from tasks.lake.errors import unreadable
from tasks.lake.files import parquet_source
from tasks.models.cost.budget import Estimator, Measure, measure_texts
from tasks.models.journal.table import connect_to_read, journal_errors
from tasks.solvers.base import UnsentCalls, direct
from tasks.solvers.option_order import Epochs, plan_epochs, show_in_order
from tasks.solvers.prompts import load_prompts
from tasks.solvers.run import read_item

KEYS_PER_STATEMENT = 500
TOKENS = ("prompt_tokens", "completion_tokens")


async def plan_requests(items: dy.DataFrame[Items], entry: ModelEntry, epochs: Epochs) -> list[ChatRequest]:
    """Return the calls of setting `base`, as its solver makes them, none of them sent.

    A text that turns out too long for the model is asked again in shorter form under some policies; that is not known here.

    Args:
        items: what is asked.
        entry: the model under test.
        epochs: how often and in which orders of options items are asked.
    """
    planned, prompts = UnsentCalls(), load_prompts()
    for presentation in plan_epochs(items, epochs):
        await direct(show_in_order(read_item(presentation.row), presentation.order), entry, prompts, planned, presentation.draw)
    return planned


def find_journaled(journal: Path, keys: Sequence[str]) -> set[str]:
    """Return which of these calls the journal answers; none if there is no journal. Nothing is written.

    Raises:
        LakeError: if the file is no journal.
    """
    if not journal.is_file():
        return set()
    found: set[str] = set()
    with journal_errors(journal), closing(connect_to_read(journal)) as connection:
        for start in range(0, len(keys), KEYS_PER_STATEMENT):
            part = keys[start : start + KEYS_PER_STATEMENT]
            statement = f"SELECT key FROM replies WHERE key IN ({', '.join('?' * len(part))})"  # noqa: S608  question marks only
            found.update(key for (key,) in connection.execute(statement, list(part)))
    return found


def read_replies(lake: Folder, layer: str, place: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return columns of all partitions of a layer at a place, complete or not, every call once.

    Args:
        lake: its folder.
        layer: `responses` or `judgements`.
        place: pattern of the files below the layer.
        columns: `call_key` and what else is wanted; partitions of older versions that lack one are left out.

    Raises:
        LakeError: if a file cannot be read.
    """
    frames = [pl.DataFrame(schema={name: pl.Int64 if name in TOKENS else pl.String for name in columns})]
    paths: list[Folder] = sorted((lake / layer).glob(place), key=str)
    for path in paths:
        with unreadable(path):
            stored = pl.read_parquet(parquet_source(path), hive_partitioning=False)
        if set(columns) <= set(stored.columns):
            frames.append(stored.select(columns))
    counted = pl.concat(frames).drop_nulls(TOKENS)
    return counted.unique("call_key", keep="first", maintain_order=True)


def learn_from_lake(lake: Folder, tested: Iterable[str], judges: Iterable[str]) -> Estimator:
    """Return an estimator that knows every stored reply of these models, whichever run asked for it.

    Args:
        lake: its folder.
        tested: names of models under test.
        judges: names of judges.

    Raises:
        LakeError: if a partition cannot be read.
    """
    estimator = Estimator()
    for model in dict.fromkeys(tested):
        place = f"*/model={quote(model, safe='')}/*/*.parquet"
        replies = read_replies(lake, "responses", place, [*TOKENS, "call_key", "messages"])
        for messages, prompt, completion in replies.select("messages", *TOKENS).iter_rows():
            texts = [message["content"] for message in json.loads(messages)]
            estimator.learn(measure_texts(model, texts, judged=False), prompt, completion)
    for judge in dict.fromkeys(judges):
        place = f"*/*/*/judge={quote(judge, safe='')}/*/*.parquet"
        # Of a judge only the lengths of its replies: what it was asked is not stored.
        for length in read_replies(lake, "judgements", place, [*TOKENS, "call_key"])["completion_tokens"]:
            estimator.learn(Measure(judge, judged=True, script="other", guessed=0), 0, length)
    return estimator


def expect_calls(requests: Sequence[ChatRequest], estimator: Estimator, rate: Rate | None) -> Expectation:
    """Return what calls would use.

    Args:
        requests: the calls.
        estimator: with what is known of the model.
        rate: its price, null = not known.
    """
    expected = [estimator.expect(request) for request in requests]
    prompt = round(sum(one.prompt_tokens for one in expected))
    completion = round(sum(one.completion_tokens for one in expected))
    cost = rate.cost(prompt, completion) if rate else None
    return Expectation(calls=len(expected), prompt_tokens=prompt, completion_tokens=completion, cost=cost if expected else 0.0)


def choose_unsent(requests: Iterable[ChatRequest], journaled: set[str]) -> list[ChatRequest]:
    """Return the calls that would be sent: not in the journal, and equal ones once."""
    distinct = {request.key: request for request in requests}
    return [request for key, request in distinct.items() if key not in journaled]
