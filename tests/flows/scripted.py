"""A model that knows the gold, and how it should behave: what it is asked is looked up by the text of the prompt."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from schemas.item import Item
from schemas.letters import option_letters
from tasks.datasets.building import build_items
from tasks.datasets.catalogue import CATALOGUE
from tasks.inference.prompting import build_messages, load_prompts
from tasks.sources.locating import Locator

Behaviour = Literal["gold", "wrong", "nonsense"]
Policy = Callable[[list[dict[str, str]]], str]
NONSENSE = "?!... %% ---"
"""No letter, digit or Chinese character: nothing that any parser may read as an answer."""

OFF_TOPIC = "qwzx vkjh"
"""Words that occur in no reference: the wrong answer to an open question."""


def policy(datasets: tuple[str, ...], behaviour: Behaviour, mirror: Path | None = None) -> Policy:
    """The reply to each prompt about these datasets; a judge's prompt gets the best or the worst rating."""
    replies = {} if behaviour == "nonsense" else prepared_replies(datasets, behaviour, mirror)

    def reply(messages: list[dict[str, str]]) -> str:
        prompt = messages[-1]["content"]
        if behaviour == "nonsense":
            return NONSENSE
        if prompt in replies:
            return replies[prompt]
        return rating("\n".join(message["content"] for message in messages), 5 if behaviour == "gold" else 1)

    return reply


def prepared_replies(datasets: tuple[str, ...], behaviour: Behaviour, mirror: Path | None) -> Mapping[str, str]:
    """Prompt -> reply for every item of these datasets."""
    prompts, locator = load_prompts(), Locator(mirror=mirror)
    replies: dict[str, str] = {}
    for spec in CATALOGUE:
        if spec.id not in datasets:
            continue
        built = build_items(spec, [locator.locate(file) for file in spec.files], None, 0)
        for row in built.items.iter_rows(named=True):
            answer = gold_answer(row) if behaviour == "gold" else wrong_answer(row)
            replies[build_messages(read_item(row), prompts)[-1].content] = answer
    return replies


def read_item(row: Mapping[str, Any]) -> Item:
    """The item of a row of `items`."""
    return Item.model_validate({name: row[name] for name in Item.model_fields if name in row})


def gold_answer(row: Mapping[str, Any]) -> str:
    """What a perfect model writes."""
    if row["question_type"] in {"extractive", "open_ended", "judged_summary"}:
        return str(row["references"][0])
    letters: tuple[str, ...] = option_letters(len(row["options"]))
    if row["question_type"] == "questionnaire":
        return str(letters[row["option_points"].index(max(row["option_points"]))])
    chosen = list(row["gold_indices"])
    if row["question_type"] == "ranking":
        chosen += [index for index in range(len(letters)) if index not in chosen]
    return ", ".join(letters[index] for index in chosen)


def wrong_answer(row: Mapping[str, Any]) -> str:
    """A readable answer that earns nothing."""
    if row["question_type"] in {"extractive", "open_ended", "judged_summary"}:
        return OFF_TOPIC
    letters: tuple[str, ...] = option_letters(len(row["options"]))
    if row["question_type"] == "questionnaire":
        return str(letters[row["option_points"].index(min(row["option_points"]))])
    if row["question_type"] == "ordered_recall":
        return ", ".join(letters[index] for index in reversed(row["gold_indices"]))
    others = [letter for index, letter in enumerate(letters) if index not in row["gold_indices"]]
    return others[0] if row["question_type"] == "single_choice" else ", ".join(others)


def rating(prompt: str, points: int) -> str:
    """A judge's reply in the form its prompt asks for."""
    dimensions = ["completeness", "conciseness", "faithfulness", "fluency"]
    missing = [name for name in dimensions if name not in prompt]
    if missing:
        raise AssertionError(f"neither an item nor a judge's prompt: {prompt[:200]}")
    return json.dumps(dict.fromkeys(dimensions, points))
