"""Ratings by people beside what judges and text metrics say of the same answers of a run."""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.errors import UsageError
from schemas.tables.human_ratings import UNIT, HumanRatings
from schemas.tables.responses import Answers
from tasks.analysis.past_run import PastRun
from tasks.analysis.run_tables import System
from tasks.metrics.texts import best_of, bleu, distinct, rouge_l
from tasks.solvers.answers import ANSWER, ITEM, SAID, read_answers

WITH_REFERENCE: Mapping[str, Callable[[str, str], float]] = {
    **{f"bleu_{order}": partial(bleu, order=order) for order in (1, 2, 4)},
    "rouge_l": rouge_l,
}
ALONE: Mapping[str, Callable[[str], float | None]] = {f"distinct_{order}": partial(distinct, order=order) for order in (1, 2)}

VALUES = pl.Schema(dict.fromkeys(("value", "lowest", "highest"), pl.Float64))
JUDGED = pl.Schema({**dict.fromkeys((*UNIT, "dimension", "judge", "rubric"), pl.String()), **VALUES})
"""Columns of what is compared with people. A text metric has no rubric and no ends of a scale."""


class JoinedRatings(NamedTuple):
    """`people`: columns of HumanRatings, a row per rating of an answer; `judges`: JUDGED; `left_out`: ratings by reason."""

    people: pl.DataFrame
    judges: pl.DataFrame
    left_out: Mapping[str, int]


def join_ratings(human: dy.DataFrame[HumanRatings], run: PastRun) -> JoinedRatings:
    """Find the answers of a run that people rated, and what else rates them.

    A rating that names its text by a hash is left out if the answer is another text; of several repetitions those that are this
    text count. Repetitions of answers and of judges are averaged. Ratings by judges in the file are left out.

    Raises:
        UsageError: no rating is of an answer of the run.
        LakeError: a partition is gone or changed.
    """
    answers = pl.concat([_answers(run, dataset) for dataset in run.blueprint.datasets], how="vertical")
    systems = answers["system"].unique().to_list()
    whole = human.filter(pl.col("rating").is_not_null(), pl.col("turn").is_null(), pl.col("rater_kind") != "judge")
    named = whole.with_columns(pl.col("system").fill_null(systems[0])) if len(systems) == 1 else whole
    found = named.join(answers, on=UNIT, how="semi")
    if found.is_empty():
        raise UsageError(
            "no rating of the file is of an answer of the run",
            where="--human",
            expected=f"source: {', '.join(run.blueprint.datasets)}; system: {', '.join(systems)}",
            got="; ".join(f"{name}: {', '.join(map(str, human[name].unique().sort()[:3]))}" for name in UNIT),
            next_step="name datasets, systems and items as moodflow explain does",
        )
    unsaid = pl.col("text_sha256").is_null()
    same = found.filter(~unsaid).join(answers, on=[*UNIT, "text_sha256"], how="semi")
    people = pl.concat([found.filter(unsaid), same])
    texts = people.group_by(UNIT).agg(texts=pl.col("text_sha256").drop_nulls())
    this_text = (pl.col("texts").list.len() == 0) | pl.col("texts").list.contains(pl.col("text_sha256"))
    rated = answers.join(texts, on=UNIT).filter(this_text)
    metrics = _metrics(rated).join(people.select(*UNIT, "dimension").unique(), on=UNIT)
    judges = pl.concat([frame.select(JUDGED.names()).cast(JUDGED) for frame in (_judgements(run, rated), metrics)])
    left_out = {
        "not given, of a turn or by a judge": human.height - whole.height,
        "of no answer of the run": whole.height - found.height,
        "of another text": found.height - people.height,
    }
    return JoinedRatings(people, judges, left_out)


def _answers(run: PastRun, dataset: str) -> pl.DataFrame:
    """Return what was answered: ANSWER, UNIT, `text_sha256`, `said` and `references`."""
    parts = [read_answers(run.lake, ref) for ref in run.partitions("answers", dataset=dataset)]
    said = pl.concat([Answers.create_empty(), *parts]).select(*ANSWER, said=SAID).drop_nulls("said")
    system = pl.struct("model", "setting").map_elements(lambda row: System(**row).label, return_dtype=pl.String)
    part = pl.when(pl.col("part") == "").then(pl.lit("")).otherwise("/" + pl.col("part"))
    return said.join(run.read("items", dataset=dataset).select(*ITEM, "references"), on=ITEM).with_columns(
        source="dataset",
        system=system,
        unit_id=pl.col("item_id") + part,
        text_sha256=pl.col("said").map_elements(lambda text: sha256(text.encode()).hexdigest(), return_dtype=pl.String),
    )


def _judgements(run: PastRun, rated: pl.DataFrame) -> pl.DataFrame:
    reviews = run.manifest.plan.get("simulation_rubric") or ""  # of who talks with the model, not of its answers
    rows = run.read("judgements").filter(pl.col("rubric") != reviews).drop_nulls("rating")
    own = rows.join(rated.select(*ANSWER, *UNIT), on=ANSWER).rename({"rating": "value"})
    return own.group_by(*UNIT, "dimension", "judge", "rubric").agg(pl.col(*VALUES).mean())


def _metrics(rated: pl.DataFrame) -> pl.DataFrame:
    """Return means of text metrics over the repetitions; those with a reference where the item has one."""
    rows: list[dict[str, Any]] = []
    for row in rated.iter_rows(named=True):
        found = {name: best_of(row["said"], row["references"], one) for name, one in WITH_REFERENCE.items() if row["references"]}
        found |= {name: value for name, measure in ALONE.items() if (value := measure(row["said"])) is not None}
        rows += [{**{column: row[column] for column in UNIT}, "judge": name, "value": value} for name, value in found.items()]
    frame = pl.DataFrame(rows, {**JUDGED, **VALUES})
    return frame.group_by(*UNIT, "judge", rubric=pl.lit("")).agg(pl.col(*VALUES).mean())
