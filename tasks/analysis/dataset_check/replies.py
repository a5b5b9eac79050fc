"""Imagine replies: of a model that knows the gold, and of models that always name the same letter, or its option.

Both go through the same parsing and scoring as real replies, so that a ceiling below 100 shows a fault of the gold, of the prompt
or of the parser, whichever it is.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from schemas.letters import option_letters
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from tasks.analysis.dataset_check.content import gold_texts, question_key

PERFECT = "perfect"
WITH_TEXT = frozenset({"extractive", "open_ended", "judged_summary"})
NAMED = frozenset({"label_choice", "odd_one_out"})
"""Question types that are answered by a label or an index, as JSON."""


Row = Mapping[str, Any]


def imagined_answers(items: dy.DataFrame[Items]) -> dy.DataFrame[Answers]:
    """Return the answers of the perfect model and of one constant model per letter that some item has.

    Args:
        items: every good item of one dataset.

    Returns:
        Rows of `answers`; `model` is `perfect` or the letter.
    """
    rows = list(items.iter_rows(named=True))
    perfect = (_answer(row, PERFECT, reply) for row, reply in zip(rows, perfect_replies(rows), strict=True))
    constant = (_answer(row, letter, constant_reply(row, letter)) for letter in letters_of(rows) for row in rows)
    frame = pl.DataFrame([*perfect, *constant], schema=Answers.create_empty().schema)
    return Answers.validate(frame.sort(Answers.primary_key()))


def letters_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return every letter that names an option of some item, or would; adjectives that are to be rated are no options."""
    chosen_from = [row["options"] or () for row in rows if row["question_type"] != "emotion_expression"]
    longest = max(map(len, chosen_from), default=0)
    return option_letters(longest) if longest else ()


def perfect_replies(rows: Sequence[Row]) -> Iterator[str]:
    """Return the best replies of a model that answers equal questions alike: of several golds it takes the most frequent.

    What is right is found by the text of the option, wherever the order puts it.
    """
    golds: defaultdict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    for row in rows:
        golds[question_key(row)][gold_texts(row)] += 1
    right = {key: counts.most_common(1)[0][0] for key, counts in golds.items()}
    for row in rows:
        gold = right[question_key(row)]
        if gold == gold_texts(row):
            yield gold_reply(row)
        else:
            yield gold_reply({**row, **gold_of_texts(row, gold)})


def gold_of_texts(row: Row, texts: frozenset[str]) -> dict[str, Any]:
    """Return the gold fields of a row if these texts were right."""
    if not row["options"]:
        return {"references": sorted(texts)}
    places = [place for place in range(len(row["options"])) if gold_texts({**row, "gold_indices": [place]}) <= texts]
    return {"gold_indices": places}


def gold_reply(row: Row) -> str:
    """Return the right answer in the form the prompt asks for."""
    if row["question_type"] in WITH_TEXT:
        return str(row["references"][0])
    if row["question_type"] in NAMED:
        return named_reply(row, row["gold_indices"][0])
    letters: tuple[str, ...] = option_letters(len(row["options"]))
    if row["question_type"] == "questionnaire":
        points = [-1.0 if value is None else value for value in row["option_points"]]
        return letters[points.index(max(points))]
    return ", ".join(letters[index] for index in best_indices(row))


def constant_reply(row: Row, letter: str) -> str:
    """Return always the same letter; where no letters are asked for, the option it would stand for, if there is one."""
    if row["question_type"] not in NAMED:
        return letter
    letters = option_letters(len(row["options"]))
    return named_reply(row, letters.index(letter)) if letter in letters else letter


def named_reply(row: Row, index: int) -> str:
    """Return an option in the form the prompts of long contexts ask for."""
    if row["question_type"] == "odd_one_out":
        return f"```json\n{json.dumps({'index': index})}\n```"
    return f"```json\n{json.dumps({'Emotion': row['options'][index]}, ensure_ascii=False)}\n```"


def best_indices(row: Row) -> list[int]:
    """Return the indices a perfect model names: the gold, in a ranking followed by all others."""
    gold = list(row["gold_indices"])
    if row["question_type"] != "ranking":
        return gold
    return gold + [index for index in range(len(row["options"])) if index not in gold]


def _answer(row: Row, model: str, reply: str) -> dict[str, Any]:
    return {
        "dataset": row["dataset"],
        "item_id": row["item_id"],
        "model": model,
        "setting": "base",
        "repetition": 0,
        "part": "",
        "status": "answered",
        "text": reply,
        "call_keys": [],
    }
