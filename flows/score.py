"""Score: `answers` and `judgements` -> `item_scores` -> `raw_scores` ... -> `totals`."""

import asyncio
from collections.abc import Sequence

from flows.planning.jobs import EvalJob, JobPartitions, ResolvedPlan, scorable
from flows.planning.score_jobs import aggregate_job, agreement_job, dimensions_job, gains_job, needles_job, unrated
from flows.runtime.prefect_flows import RunStep, begin_run, moodflow_flow, spread
from flows.runtime.progress import count_partitions
from schemas.errors import UsageError
from schemas.lineage import Missing, PartitionRef, StageResult
from schemas.plan import Plan
from tasks.judging.steps import compare_judges
from tasks.metrics.steps import score_partition
from tasks.scoring.steps import aggregate, average_dimensions, compare_settings, place_scores


@moodflow_flow("score", "score {plan.title}")
async def score(plan: Plan) -> StageResult:
    """Turn stored replies into scores. Never calls a model.

    Reads `items`, `answers` and `judgements`; writes `item_scores` and every layer up to `totals`, `setting_gains` if there are
    several settings, `dimension_scores` if answers were rated, `agreements` if answers were rated more than once.

    Raises:
        UsageError: if none of the plan's replies are in the lake.
    """
    resolved = await begin_run(plan)
    found = scorable(resolved.jobs)
    if not found:
        raise nothing_to_score(plan)
    async with spread(plan) as run_step:
        async with count_partitions("score", plan.title, len(found)) as counter:
            work = (counter.count(run_step(score_partition, one.score_job, resolved.lake)) for one in found)
            item_scores = await asyncio.gather(*work)
        layers = await run_step(aggregate, aggregate_job(resolved, item_scores), resolved.lake)
        compared = await compare_parts(resolved, found, item_scores, run_step)
    present = {one.job for one in found}
    unasked = [without_replies(job) for job in resolved.jobs if job not in present]
    return StageResult.of([*unasked, *unrated(found), *item_scores, *layers, *compared])


async def compare_parts(
    resolved: ResolvedPlan, found: Sequence[JobPartitions], item_scores: Sequence[PartitionRef], run_step: RunStep
) -> list[PartitionRef]:
    """Compare settings with `base`, lengths and depths, dimensions and judges, where there is anything to compare."""
    gains, needles = gains_job(resolved, item_scores), needles_job(resolved, found, item_scores)
    dimensions, agreement, lake = dimensions_job(resolved, found), agreement_job(resolved, found), resolved.lake
    compared = [
        run_step(compare_settings, gains, lake) if gains else None,
        run_step(place_scores, needles, lake) if needles else None,
        run_step(average_dimensions, dimensions, lake) if dimensions else None,
        run_step(compare_judges, agreement, lake) if agreement else None,
    ]
    return [await run for run in compared if run is not None]


def without_replies(job: EvalJob) -> Missing:
    """Record a job that was never asked, or not judged."""
    return job.missing("has no replies in the lake", "moodflow infer asks for them")


def nothing_to_score(plan: Plan) -> UsageError:
    """Return the error for a plan none of whose replies are in the lake."""
    return UsageError(
        "there is nothing to score",
        where=str(plan.lake),
        expected="replies of the named models to the named datasets, asked with the same settings",
        got="none",
        next_step="run moodflow infer with the same options first",
    )
