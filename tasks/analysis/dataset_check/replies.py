"""Imagine replies: of a model that knows the gold, and of models that always name the same letter, or its option.

Both go through the same parsing and scoring as real replies, so that a ceiling below 100 shows a fault of the gold, of the prompt
or of the parser, whichever it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from schemas.letters import option_letters
from schemas.question_types import answered_by
from schemas.tables.items import Items
from schemas.tables.responses import Answers
from tasks.analysis.dataset_check.content import gold_texts, question_key
from tasks.metrics.answer_forms import Question, right_reply, write_options

PERFECT = "perfect"

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
    chosen_from = [row["options"] or () for row in rows if row["question_type"] not in answered_by("text")]
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
            yield right_reply(Question.from_row(row))
        else:
            yield right_reply(Question.from_row({**row, **gold_of_texts(row, gold)}))


def gold_of_texts(row: Row, texts: frozenset[str]) -> dict[str, Any]:
    """Return the gold fields of a row if these texts were right."""
    if not row["options"]:
        return {"references": sorted(texts)}
    places = [place for place in range(len(row["options"])) if gold_texts({**row, "gold_indices": [place]}) <= texts]
    return {"gold_indices": places}


def constant_reply(row: Row, letter: str) -> str:
    """Return always the same letter; where no letters are asked for, the option it would stand for, if there is one."""
    letters = option_letters(len(row["options"] or ()))
    return write_options(Question.from_row(row), [letters.index(letter)]) if letter in letters else letter


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
