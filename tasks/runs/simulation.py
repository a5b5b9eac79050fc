"""Find out how far the persons that a model plays in a run's dialogues can be trusted, and what the totals are without slips."""

import polars as pl

from tasks.judging.rubrics import order_dimensions
from tasks.runs.instruments import tally_dialogues
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import Row, System
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.dimensions import rate_answers
from tasks.solvers.answers import ANSWER, ASKED

TOP = 10
"""Of the scale on which ESC-Eval shows its six criteria: mean / 2 x 10."""

SCORED = ("total", "ci_low", "ci_high", "n_scored", "datasets_scored")


def check_simulation(run: PastRun) -> tuple[Row, ...]:
    """Describe the persons that each model talked with, in each setting; nothing where nobody is played.

    Returns:
        Model, setting, `dialogues`; how many are `tainted`, by a fault that counts, and their `share`; `kinds` and `severities`:
        dialogues with such a fault. `refused`: faults that a judge named and that do not count. `unreviewed`: dialogues without a
        review that can be read; null = none was asked for. `all`: the total, with interval and items (SCORED); `untainted`: the
        same without the items, in that repetition, of tainted dialogues, aggregated alike; null = none is left. `criteria`: mean
        ratings of the persons from 0 to 10, by dataset; null = none can be read.

    Raises:
        LakeError: if a partition is gone or changed.
    """
    if not run.partitions("simulation_faults"):
        return ()
    faults, tainted = run.read("simulation_faults"), tally_dialogues(run)
    rubric = run.manifest.plan.get("simulation_rubric") or ""
    reviews = run.read("judgements", rubric=rubric)
    counted = faults.filter(pl.col("refused").is_null())
    totals, rest = run.layers["totals"], _score_without(run, counted)
    rated = rate_answers(reviews).drop_nulls("value")
    of_ten = TOP * (pl.col("value") - pl.col("lowest")) / (pl.col("highest") - pl.col("lowest"))
    means = rated.group_by("model", "setting", "dataset", "dimension").agg(mean=of_ten.mean())
    criteria = order_dimensions(rubric, reviews["dimension"])

    def check(system: System) -> Row:
        own, (dialogues, slips) = system.of(counted), system.of(tainted).select("total", "faulty").sum().row(0)
        mean_of = {(row["dataset"], row["dimension"]): row["mean"] for row in system.rows(means)}
        return {
            **system._asdict(),
            "dialogues": dialogues,
            "tainted": slips,
            "share": slips / dialogues,
            "kinds": _dialogues_by(own, "kind"),
            "severities": _dialogues_by(own, "severity"),
            "refused": system.of(faults).height - own.height,
            "unreviewed": None if reviews.is_empty() else dialogues - system.of(rated).select(ANSWER).n_unique(),
            "all": system.rows(totals.select("model", "setting", *SCORED))[0],
            "untainted": next(iter(system.rows(rest.select("model", "setting", *SCORED))), None),
            "criteria": {of: {name: mean_of.get((of, name)) for name in criteria} for of in sorted({of for of, _ in mean_of})},
        }

    return tuple(check(System(*names)) for names in tainted.select("model", "setting").unique().sort("model", "setting").rows())


def _score_without(run: PastRun, faults: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `totals` over the items, in each repetition, whose dialogues have none of these faults."""
    scores = run.read("item_scores").join(faults, on=ASKED, how="anti")
    said = run.lake.read_footer(run.only("totals")).settings
    settings = ScoreSettings(**{name: said[name] for name in ScoreSettings.model_fields if name in said})
    none: pl.DataFrame = run.layers["totals"].clear()
    return score_benchmark(scores.lazy(), run.blueprint, settings).totals if scores.height else none


def _dialogues_by(faults: pl.DataFrame, name: str) -> dict[str, int]:
    """Return in how many dialogues a fault has each value of a column, the most frequent first."""
    counts = faults.unique([*ANSWER, name]).group_by(name).len()
    return dict(counts.sort("len", name, descending=[True, False]).rows())
