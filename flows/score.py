"""Score: `answers` and `judgements` -> `item_scores` -> `raw_scores` ... -> `totals`."""

import asyncio

from flows.planning.jobs import ResolvedPlan, scorable
from flows.planning.score_jobs import aggregate_job, comparison_jobs, unrated
from flows.runtime.prefect_flows import begin_run, moodflow_flow, spread
from flows.runtime.progress import count_partitions
from schemas.errors import UsageError
from schemas.lineage import StageResult
from tasks.metrics.steps import score_partition
from tasks.scoring.steps import aggregate, compute_layer


@moodflow_flow("score", "score {resolved.title}")
async def score(resolved: ResolvedPlan) -> StageResult:
    """Turn stored replies into scores. Never calls a model.

    Reads `items`, `answers` and `judgements`; writes `item_scores` and every layer up to `totals`, `setting_gains` if there are
    several settings, `dimension_scores` if answers were rated, `agreements` if answers were rated more than once.
    """
    await begin_run(resolved)
    plan = resolved.plan
    partitions = scorable(resolved.jobs)
    if not partitions:
        raise UsageError(
            "there is nothing to score",
            where=str(plan.lake),
            expected="replies of the named models to the named datasets, asked with the same settings",
            got="none",
            next_step="run moodflow infer with the same options first",
        )
    async with spread(plan) as run_step:
        async with count_partitions("score", plan.title, len(partitions)) as counter:
            work = (counter.count(run_step(score_partition, of_job.score_job, resolved.lake)) for of_job in partitions)
            item_scores = await asyncio.gather(*work)
        layers = await run_step(aggregate, aggregate_job(resolved, item_scores), resolved.lake)
        jobs = comparison_jobs(resolved, partitions, item_scores)
        compared = [await run for run in [run_step(compute_layer, job, resolved.lake) for job in jobs]]
    present = {of_job.job for of_job in partitions}
    unasked = [
        job.missing("has no replies in the lake", "moodflow infer asks for them") for job in resolved.jobs if job not in present
    ]
    return StageResult.of([*unasked, *unrated(partitions), *item_scores, *layers, *compared])
