"""Answers as a solver without tools states them: the last reply, of an emotion expression all its steps."""

import dataframely as dy
import polars as pl

from schemas.tables.responses import Answers
from tasks.benchmarks.longemotion.solvers.emotion_expression import join_steps
from tasks.solvers.answers import ASKED, ITEM, OF_LAST


def answers_of_replies(responses: pl.DataFrame, items: pl.DataFrame | None) -> dy.DataFrame[Answers]:
    """The last reply of each item, if no call failed; without `items` that of an emotion expression too."""
    last = responses.sort(pl.col("status") == "failed", "turn").unique(ASKED, keep="last", maintain_order=True)
    failed = pl.col("status") == "failed"
    answers = last.select(
        *ASKED,
        *OF_LAST,
        part=pl.lit(""),
        failed_role=pl.when(failed).then(pl.col("error").str.extract(r"^(sage|critic): ").fill_null("tested")),
        text="reply",
        turns=pl.lit(None, Answers.create_empty().schema["turns"]),
        call_keys=pl.concat_list("call_key"),
    )
    if items is not None:
        told = items.filter(pl.col("question_type") == "emotion_expression").select(*ITEM, "language")
        narratives = (
            {**dict(zip(ASKED, asked, strict=True)), "narrative": join_steps(of_one.rows(named=True))}
            for asked, of_one in responses.sort("turn").join(told, on=ITEM).group_by(ASKED, maintain_order=True)
        )
        schema = {name: answers.schema[name] for name in ASKED} | {"narrative": pl.String}
        whole = pl.DataFrame(list(narratives), schema=schema)
        others = answers.join(whole, on=ASKED, how="anti")
        steps = answers.join(whole, on=ASKED).with_columns(text="narrative")
        # Without one of its steps there is no answer.
        lost = pl.col("text").is_null()
        steps = steps.with_columns(
            status=pl.when(lost).then(pl.lit("failed")).otherwise("status").cast(answers.schema["status"]),
            failed_role=pl.when(lost).then(pl.coalesce("failed_role", pl.lit("tested"))),
        )
        answers = pl.concat([others, steps.select(answers.columns)])
    return Answers.validate(answers.select(Answers.column_names()).sort(Answers.primary_key()))
