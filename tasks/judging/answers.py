"""Select the answers that a judge rates, and lay out what it is shown of them."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import dataframely as dy
import polars as pl

from schemas.errors import ScoringError
from schemas.tables.items import Items
from schemas.tables.responses import Responses
from schemas.vocabulary import Language

ITEM = ["dataset", "item_id"]
RESPONSE = [*ITEM, "model", "setting", "repetition"]

EXPRESSION_STEPS = 6
"""Of emotion expression: ratings of the statements, then five stages of the narrative. LongEmotion, section 3."""

END_QUERY = "<|end_search_query|>"
"""Ends what a model said before it was given what it searched for (Search-o1); it goes on in the same step."""

_SEARCHES = re.compile(r"<\|begin_search_(query|result)\|>.*?(?:<\|end_search_\1\|>|\Z)", re.DOTALL)
_HEAD: dict[Language, str] = {"en": "[Step {step}]", "zh": "[步骤 {step}]"}


def judged_answers(responses: dy.DataFrame[Responses], items: dy.DataFrame[Items]) -> pl.DataFrame:
    """Return the answers that a judge rates: those with at least one letter, digit or Chinese character.

    The answer is the last turn, if it came. Of an `emotion_expression` item it is what was written in all six steps, headed by
    their numbers, and only if every turn came: without its middle it would be rated lower for a call that failed.

    Returns:
        One row per answer: columns RESPONSE, and `answer`, the text; sorted.

    Raises:
        ScoringError: if a response belongs to no item.
    """
    check_items(responses, items)
    known = items.select(*ITEM, "language", in_steps=pl.col("question_type") == "emotion_expression")
    turns = responses.select(*RESPONSE, "turn", "messages", "reply").join(known, on=ITEM).sort("turn")
    last = turns.filter(~pl.col("in_steps")).unique(RESPONSE, keep="last").select(*RESPONSE, answer="reply")
    narratives = (
        {**dict(zip(RESPONSE, response, strict=True)), "answer": join_steps(of_one.rows(named=True))}
        for response, of_one in turns.filter("in_steps").group_by(RESPONSE, maintain_order=True)
    )
    answers = pl.concat([last, pl.DataFrame(list(narratives), schema=last.schema)])
    return answers.filter(_says_something(pl.col("answer"))).sort(RESPONSE)


def _says_something(answer: pl.Expr) -> pl.Expr:
    unheaded = answer.str.replace_all(r"(?m)^\[(?:Step|步骤) \d\]$", "")
    return unheaded.str.contains(r"[\p{L}\p{N}]").fill_null(value=False)


def join_steps(turns: Iterable[Mapping[str, Any]]) -> str | None:
    """Return what a model wrote in the steps of one emotion expression, step by step, without its searches and what they found.

    A step may take several turns: after a search the model goes on writing. Its conversation then ends with its search and what
    it was told. Any other turn begins a step; whether it is shown the earlier ones is the setting's choice.

    Args:
        turns: rows of the responses layer, with the item's `language`, in order.

    Returns:
        The text; null if a turn did not come or a step is missing.
    """
    texts: list[str] = []
    for turn in turns:
        if turn["reply"] is None:
            return None
        text = _SEARCHES.sub("", turn["reply"])
        # Searches at the end of a turn took their white space with them.
        texts = [*texts[:-1], _continued(texts[-1], text)] if texts and _goes_on(turn) else [*texts, text]
        head = _HEAD[turn["language"]]
    if len(texts) != EXPRESSION_STEPS:
        return None
    return "\n\n".join(f"{head.format(step=step)}\n{text.strip()}" for step, text in enumerate(texts))


def _continued(before: str, after: str) -> str:
    return "\n\n".join(part.strip() for part in (before, after) if part.strip())


def _goes_on(turn: Mapping[str, Any]) -> bool:
    """Return whether a turn follows a search of the same step."""
    before = json.loads(turn["messages"])[:-1]
    return bool(before and before[-1]["role"] == "assistant" and before[-1]["content"].endswith(END_QUERY))


def check_items(responses: pl.DataFrame, items: dy.DataFrame[Items]) -> None:
    """Raise ScoringError if a response belongs to no item."""
    unknown = responses.join(items, on=ITEM, how="anti")
    if not unknown.is_empty():
        first = unknown.row(0, named=True)
        raise ScoringError(
            "responses belong to no item",
            where=f"{first['dataset']}, item {first['item_id']}",
            expected="responses to the items given",
            got=f"{unknown.height} without item",
            next_step="run the build and infer stages again for this dataset",
        )
