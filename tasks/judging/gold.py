"""Gold replies: what the source's own speaker said, rated as answers are, as a baseline beside the models.

Source: arXiv 2509.07403, Table 6, where the judge that rates models rates the counselor's replies of its dialogues.
"""

import dataframely as dy
import polars as pl

from schemas.tables.items import Items
from schemas.tables.responses import Answers
from tasks.judging.rubrics import Rubric
from tasks.solvers.answers import ITEM

GOLD = "gold"
"""Model and setting of these answers: no solver has the setting, so that they are no system's and enter no score."""


def rates_gold(rubric: Rubric) -> bool:
    """Return whether gold replies can be rated: not where the judge is shown them as what is right."""
    return "REFERENCE" not in rubric.texts


def gold_answers(items: dy.DataFrame[Items]) -> dy.DataFrame[Answers]:
    """Return the reference of each item that has one, and one only, as its answer."""
    empty = Answers.create_empty()
    said = {
        **{name: pl.col(name) for name in ITEM},
        **{name: pl.lit(GOLD) for name in ("model", "setting")},
        "repetition": pl.lit(0),
        "part": pl.lit(""),
        "status": pl.lit("answered"),
        "text": pl.col("references").list.first(),
        "call_keys": pl.lit([], pl.List(pl.String)),
    }
    rows = items.filter(pl.col("references").list.len() == 1)
    columns = [said.get(name, pl.lit(None)).cast(kind).alias(name) for name, kind in empty.schema.items()]
    return Answers.validate(rows.select(columns).sort(Answers.primary_key()))
