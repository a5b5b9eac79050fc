"""A model that knows the gold, and how it should behave: what it is asked is looked up by the text of the prompt."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal
from zlib import crc32

import polars as pl

from schemas.dataset import DatasetSpec
from schemas.item import Item, option_letters
from tasks.datasets.building import BuiltItems, build_items
from tasks.datasets.catalogue import CATALOGUE
from tasks.solvers.presentation import Order, option_orders
from tasks.solvers.prompts import Prompts, build_messages
from tasks.sources.locating import Locator, choose_source

Behaviour = Literal["gold", "wrong", "nonsense", "always_a"]
Policy = Callable[[list[dict[str, str]]], str]
NONSENSE = "?!... %% ---"
"""No letter, digit or Chinese character: nothing that any parser may read as an answer."""

IN_WORDS = ("extractive", "open_ended", "judged_summary")
OFF_TOPIC = "qwzx vkjh"
"""Words that occur in no reference: the wrong answer to an open question."""


def policy(datasets: tuple[str, ...], behaviour: Behaviour, mirror: Path | None = None, permute: int = 0) -> Policy:
    if behaviour == "nonsense":
        return lambda _messages: NONSENSE
    replies = replies_of(datasets, behaviour, mirror, permute)
    return lambda messages: answered(messages, replies, behaviour)


def reply_in_part(quality: int, good: Policy, bad: Policy, messages: list[dict[str, str]]) -> str:
    """Return the right reply to as many of 100 prompts as the quality says."""
    drawn = crc32(f"{quality} {json.dumps(messages, ensure_ascii=False)}".encode()) % 100
    return (good if drawn < quality else bad)(messages)


def replies_of(datasets: tuple[str, ...], behaviour: Behaviour, mirror: Path | None = None, permute: int = 0) -> dict[str, str]:
    rows = (row for spec in CATALOGUE.values() if spec.id in datasets for row in built(spec, mirror).items.iter_rows(named=True))
    return prepared_replies(rows, behaviour, permute)


def policy_of_lake(lake: Path, behaviour: Behaviour, permute: int = 0) -> Policy:
    """The reply to each prompt about items of a lake, which are there before anything is asked."""
    lock, replies = Lock(), dict[str, str]()

    def reply(messages: list[dict[str, str]]) -> str:
        with lock:
            if not replies:
                rows = pl.read_parquet(lake / "items/**/*.parquet", hive_partitioning=False).iter_rows(named=True)
                replies.update(prepared_replies(rows, behaviour, permute))
        return answered(messages, replies, behaviour)

    return reply


def answered(messages: list[dict[str, str]], replies: Mapping[str, str], behaviour: Behaviour) -> str:
    """What is prepared for a prompt; a judge's gets the best or the worst rating."""
    if known := replies.get(messages[-1]["content"]):
        return known
    return rating("\n".join(message["content"] for message in messages), 5 if behaviour == "gold" else 1)


def prepared_replies(rows: Iterable[Mapping[str, Any]], behaviour: Behaviour, permute: int) -> dict[str, str]:
    prompts, answer = Prompts.load(), ANSWERS[behaviour]
    replies: dict[str, str] = {}
    for row in rows:
        for order in set(option_orders(row, permute, seed=0)):
            shown = in_order(row, order)
            item = Item.model_validate({name: shown[name] for name in Item.model_fields if name in shown})
            replies[build_messages(item, prompts)[-1].content] = answer(shown)
    return replies


@cache
def built(spec: DatasetSpec, mirror: Path | None) -> BuiltItems:
    """Every item of a dataset, built once for all the models that answer it."""
    locator = Locator(mirror=mirror)
    chosen = choose_source(spec, locator)
    return build_items(chosen, [locator.locate(file) for file in chosen.files], None, 0)


def in_order(row: Mapping[str, Any], order: Order) -> Mapping[str, Any]:
    """The row as it would be if its options had this order; the gold is found again by the option's text."""
    if order is None:
        return row
    options = [row["options"][index] for index in order]
    return {**row, "options": options, "gold_indices": [options.index(row["options"][index]) for index in row["gold_indices"]]}


def gold_answer(row: Mapping[str, Any]) -> str:
    """What a perfect model writes."""
    if row["question_type"] in IN_WORDS:
        return str(row["references"][0])
    if row["question_type"] == "questionnaire":
        return by_points(row, max)
    letters, chosen = option_letters(len(row["options"])), list(row["gold_indices"])
    if row["question_type"] == "ranking":
        chosen += [index for index in range(len(letters)) if index not in chosen]
    return ", ".join(letters[index] for index in chosen)


def by_points(row: Mapping[str, Any], choose: Callable[[list[float]], float]) -> str:
    """The letter of the option that earns the most or least; no option of a filler item earns anything."""
    points = [points or 0.0 for points in row["option_points"]]
    return str(option_letters(len(points))[points.index(choose(points))])


def wrong_answer(row: Mapping[str, Any]) -> str:
    """A readable answer that earns nothing."""
    if row["question_type"] in IN_WORDS:
        return OFF_TOPIC
    if row["question_type"] == "questionnaire":
        return by_points(row, min)
    letters: tuple[str, ...] = option_letters(len(row["options"]))
    if row["question_type"] == "ordered_recall":
        return ", ".join(letters[index] for index in reversed(row["gold_indices"]))
    others = [letter for index, letter in enumerate(letters) if index not in row["gold_indices"]]
    return others[0] if row["question_type"] == "single_choice" else ", ".join(others)


ANSWERS: Mapping[Behaviour, Callable[[Mapping[str, Any]], str]]
ANSWERS = {"gold": gold_answer, "wrong": wrong_answer, "always_a": lambda _row: "A"}


def rating(prompt: str, points: int) -> str:
    dimensions = ("completeness", "conciseness", "faithfulness", "fluency")
    assert all(name in prompt for name in dimensions), f"neither an item nor a judge's prompt: {prompt[:200]}"
    return json.dumps(dict.fromkeys(dimensions, points))
