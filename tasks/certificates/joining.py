"""Ratings by people beside what judges and text metrics say of the same answers of a run."""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import dataframely as dy
import polars as pl

from schemas.errors import UsageError
from schemas.roles import PEOPLE
from schemas.tables.ratings import UNIT, HumanRatings
from tasks.metrics.texts import best_of, bleu, distinct, rouge_l
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.solvers.answers import ANSWER, ITEM, SAID

WITH_REFERENCE: Mapping[str, Callable[[str, str], float]] = {
    **{f"bleu_{order}": partial(bleu, order=order) for order in (1, 2, 4)},
    "rouge_l": rouge_l,
}
ALONE: Mapping[str, Callable[[str], float | None]] = {f"distinct_{order}": partial(distinct, order=order) for order in (1, 2)}

VALUES = pl.Schema(dict.fromkeys(("value", "lowest", "highest"), pl.Float64))
JUDGED = pl.Schema({**dict.fromkeys((*UNIT, "dimension", "judge", "rubric"), pl.String()), **VALUES})
"""Columns of what is compared with people. A text metric has no rubric and no ends of a scale."""

UNIT_ID = pl.concat_str("item_id", pl.when(pl.col("part") != "").then("part"), separator="/", ignore_nulls=True)
"""Names an answer in ratings by people: ITEM, or ITEM/PART."""

MEAN = "a mean of people beside single ratings"
_KIND = pl.col("rater_kind")
COUNTS_AS_PERSON = (_KIND != "aggregate") | _KIND.is_in(["aggregate", "judge"]).all().over("source", "dimension")
"""Whether a rating is not MEAN: a mean of people counts as a person in a dimension that no single person rated."""


class JoinedRatings(NamedTuple):
    """`people`: columns of HumanRatings, a row per rating of an answer; `judges`: JUDGED; `left_out`: ratings by reason."""

    people: pl.DataFrame
    judges: pl.DataFrame
    left_out: Mapping[str, int]


def join_ratings(human: dy.DataFrame[HumanRatings], run: PastRun) -> JoinedRatings:
    """Find the answers of a run that people rated, and what else rates them.

    A rating that names its text by a hash is left out if the answer is another text; of several repetitions those that are this
    text count. Repetitions of answers and of judges are averaged. Ratings by judges in the file are left out, and means of
    people beside single ratings. UsageError: no rating is of an answer of the run.
    """
    answers = pl.concat([_answers(run, dataset) for dataset in run.blueprint.datasets], how="vertical")
    systems = answers["system"].unique().to_list()
    given = human.filter(pl.col("rating").is_not_null(), pl.col("turn").is_null(), _KIND != "judge")
    whole = given.filter(COUNTS_AS_PERSON)
    completed = whole.with_columns(pl.col("system").fill_null(systems[0])) if len(systems) == 1 else whole
    matched = completed.join(answers.group_by(UNIT).agg(hashes="text_sha256"), on=UNIT)
    if matched.is_empty():
        raise UsageError(
            "no rating in the file matches an answer of the run",
            where="--human",
            expected=f"source: {', '.join(run.blueprint.datasets)}; system: {', '.join(systems)}",
            got="; ".join(f"{name}: {', '.join(map(str, human[name].unique().sort()[:3]))}" for name in UNIT),
            next_step="name datasets, systems and items as moodflow explain does",
        )
    unsaid, is_answer = pl.col("text_sha256").is_null(), pl.col("hashes").list.contains(pl.col("text_sha256"))
    people = matched.filter(unsaid | is_answer).drop("hashes")
    texts = people.group_by(UNIT).agg(texts=pl.col("text_sha256").drop_nulls())
    this_text = (pl.col("texts").list.len() == 0) | pl.col("texts").list.contains(pl.col("text_sha256"))
    rated = answers.join(texts, on=UNIT).filter(this_text)
    metrics = _metrics(rated).join(people.select(*UNIT, "dimension").unique(), on=UNIT)
    judges = pl.concat([frame.select(JUDGED.names()).cast(JUDGED) for frame in (_judgements(run, rated), metrics)])
    left_out = {
        "not given, of a turn or by a judge": human.height - given.height,
        **({MEAN: means} if (means := given.height - whole.height) else {}),
        "of no answer of the run": whole.height - matched.height,
        "of another text": matched.height - people.height,
    }
    return JoinedRatings(people, judges, left_out)


def _answers(run: PastRun, dataset: str) -> pl.DataFrame:
    """Return what was answered: ANSWER, UNIT, `text_sha256`, `said` and `references`."""
    replies = run.read("answers", dataset=dataset).select(*ANSWER, said=SAID).drop_nulls("said")
    system = pl.struct("model", "setting").map_elements(lambda row: System(**row).label, return_dtype=pl.String)
    return replies.join(run.read("items", dataset=dataset).select(*ITEM, "references"), on=ITEM).with_columns(
        source="dataset",
        system=system,
        unit_id=UNIT_ID,
        text_sha256=pl.col("said").map_elements(lambda text: sha256(text.encode()).hexdigest(), return_dtype=pl.String),
    )


def _judgements(run: PastRun, rated: pl.DataFrame) -> pl.DataFrame:
    reviews = run.manifest.plan.get("simulation_rubric") or ""  # of who talks with the model, not of its answers
    rows = run.read("judgements").filter(pl.col("rubric") != reviews, pl.col("judge") != PEOPLE).drop_nulls("rating")
    own = rows.join(rated.select(*ANSWER, *UNIT), on=ANSWER).rename({"rating": "value"})
    return own.group_by(*UNIT, "dimension", "judge", "rubric").agg(pl.col(*VALUES).mean())


def _metrics(rated: pl.DataFrame) -> pl.DataFrame:
    """Return means of text metrics over the repetitions; those with a reference where the item has one."""
    rows: list[tuple[str | float, ...]] = []
    for *unit, text, references in rated.select(*UNIT, "said", "references").iter_rows():
        values = {name: best_of(text, references, measure) for name, measure in WITH_REFERENCE.items() if references}
        values |= {name: value for name, measure in ALONE.items() if (value := measure(text)) is not None}
        rows += [(*unit, name, value) for name, value in values.items()]
    frame = pl.DataFrame(rows, {**dict.fromkeys((*UNIT, "judge"), pl.String()), "value": pl.Float64()}, orient="row")
    no_scale = {end: pl.lit(None, pl.Float64) for end in ("lowest", "highest")}
    return frame.group_by(*UNIT, "judge", rubric=pl.lit("")).agg(pl.col("value").mean(), **no_scale)
