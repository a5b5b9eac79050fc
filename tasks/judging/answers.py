"""The answers that a judge rates: those of models, and gold replies in their place."""

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from schemas.tables.items import Items
from schemas.tables.responses import Answers
from schemas.usage import TESTED
from tasks.judging.rubrics import Rubric
from tasks.solvers.answers import ITEM, SAID, require_counterparts
from tasks.text.replies import split_reasoning

Rated = str | Sequence[Mapping[str, Any]]
"""What is rated: a text, or the turns of a dialogue, each with `speaker` and `text`."""

SIMULATED = pl.col("turns").list.eval(pl.element().struct["speaker"] != TESTED).list.any()
"""Whether somebody else than the model under test speaks in an answer: a person whom another model plays."""


def judged_answers(answers: dy.DataFrame[Answers], items: dy.DataFrame[Items], rubric: Rubric | None = None) -> pl.DataFrame:
    """Return the answers that a judge rates: those with at least one letter, digit or Chinese character.

    There is one row per answer: columns of `answers`, a text without thoughts, and `answer`, what it says as one text; sorted.
    A rubric with faults is about dialogues with a simulated person alone. ScoringError: an answer belongs to no item.
    """
    require_counterparts(answers, items, ITEM, "answers belong to no item", "answers to the items given")
    says_something = pl.col("answer").str.contains(r"[\p{L}\p{N}]").fill_null(value=False)
    text = pl.col("text").map_elements(lambda reply: split_reasoning(reply)[1], return_dtype=pl.String)
    rated = answers.with_columns(text).with_columns(answer=SAID).filter(says_something).sort(Answers.primary_key())
    return rated.filter(SIMULATED) if rubric and rubric.faults else rated


def rated_content(answer: Mapping[str, Any]) -> Rated:
    """Return what a judge is shown of a row of `judged_answers`."""
    content: Rated = answer["turns"] or answer["answer"]
    return content


GOLD = "gold"
"""Model and setting of these answers: no solver has the setting, so that they are no system's and enter no score."""


def rates_gold(rubric: Rubric) -> bool:
    """Return whether gold replies can be rated: not where the judge is shown them as what is right."""
    return "REFERENCE" not in rubric.texts


def gold_answers(items: dy.DataFrame[Items]) -> dy.DataFrame[Answers]:
    """Return the reference of each item that has one, and one only, as its answer: a baseline beside the models.

    Source: arXiv 2509.07403, Table 6, where the judge that rates models rates the counselor's replies of its dialogues.
    """
    empty = Answers.create_empty()
    values = {
        **{name: pl.col(name) for name in ITEM},
        **{name: pl.lit(GOLD) for name in ("model", "setting")},
        "repetition": pl.lit(0),
        "part": pl.lit(""),
        "status": pl.lit("answered"),
        "text": pl.col("references").list.first(),
        "call_keys": pl.lit([], pl.List(pl.String)),
    }
    rows = items.filter(pl.col("references").list.len() == 1)
    columns = [values.get(name, pl.lit(None)).cast(kind).alias(name) for name, kind in empty.schema.items()]
    return Answers.validate(rows.select(columns).sort(Answers.primary_key()))
