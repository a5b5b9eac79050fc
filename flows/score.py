"""Score: `responses` and `judgements` -> `item_scores` -> `raw_scores` ... -> `totals`."""

import asyncio
from collections.abc import Sequence

from flows.planning.jobs import EvalJob, ScorableJob, eval_jobs, find_ready, unrated
from flows.planning.resolve import ResolvedPlan, resolve
from flows.planning.score_jobs import aggregate_job, agreement_job, gains_job, needles_job
from flows.runtime.executors import RunStep, spread
from flows.runtime.prefect_flows import begin_run, moodflow_flow
from flows.runtime.progress import count_partitions
from schemas.errors import UsageError
from schemas.lineage import Missing, PartitionRef, StageResult
from schemas.plan import Plan
from tasks.judging.steps import compare_judges
from tasks.metrics.reference.steps import score_reference_partition
from tasks.metrics.steps import ItemScoreJob, score_partition
from tasks.scoring.steps import aggregate, compare_settings, place_scores


@moodflow_flow("score", "score {plan.title}")
async def score(plan: Plan) -> StageResult:
    """Turn stored replies into scores. Never calls a model.

    Reads `items`, `responses` and `judgements`; writes `item_scores` and every layer up to `totals`, `setting_gains` if there are
    several settings, `agreements` if answers were rated more than once.

    Args:
        plan: what to evaluate.

    Raises:
        UsageError: if none of the plan's replies are in the lake.
    """
    await begin_run(plan)
    resolution = resolve(plan)
    resolution.lake.require_writable()
    wanted = list(eval_jobs(resolution))
    ready = [found for cell in wanted if (found := find_ready(resolution, cell))]
    if not ready:
        raise nothing_to_score(plan)
    async with spread(plan) as run_step:
        async with count_partitions("score", plan.title, len(ready)) as counter:
            work = (counter.count(score_partition_of(resolution, found, run_step)) for found in ready)
            item_scores = await asyncio.gather(*work)
        layers = await run_step(aggregate, aggregate_job(resolution, list(item_scores)), resolution.lake)
        compared = await compare_parts(resolution, ready, item_scores, run_step)
    present = {found.job for found in ready}
    unasked = [without_replies(cell) for cell in wanted if cell not in present]
    return StageResult.of([*unasked, *unrated(resolution, ready), *item_scores, *layers, *compared])


async def compare_parts(
    resolution: ResolvedPlan, ready: Sequence[ScorableJob], item_scores: Sequence[PartitionRef], run_step: RunStep
) -> list[PartitionRef]:
    """What settings gain over `base`, scores by length and depth, how far judges agree, where there is anything to compare."""
    gains, needles = gains_job(resolution, item_scores), needles_job(resolution, ready, item_scores)
    agreement, lake = agreement_job(resolution, ready), resolution.lake
    compared = [
        run_step(compare_settings, gains, lake) if gains else None,
        run_step(place_scores, needles, lake) if needles else None,
        run_step(compare_judges, agreement, lake) if agreement else None,
    ]
    return [await run for run in compared if run is not None]


async def score_partition_of(resolution: ResolvedPlan, found: ScorableJob, run_step: RunStep) -> PartitionRef:
    """Item scores of one cell."""
    job = ItemScoreJob(
        dataset=found.job.dataset,
        model=found.job.entry.name,
        setting=found.job.setting,
        methods=found.job.selected.methods,
        items=found.items,
        responses=found.responses,
        judgements=found.judgements,
        key=found.item_scores,
    )
    score_cell = score_reference_partition if resolution.plan.profile == "reference" else score_partition
    ref: PartitionRef = await run_step(score_cell, job, resolution.lake)
    return ref


def without_replies(cell: EvalJob) -> Missing:
    """The record of a cell that was never asked, or not judged."""
    return cell.missing("has no replies in the lake", "moodflow infer asks for them")


def nothing_to_score(plan: Plan) -> UsageError:
    """The error for a plan none of whose replies are in the lake."""
    return UsageError(
        "there is nothing to score",
        where=str(plan.lake),
        expected="replies of the named models to the named datasets, asked with the same settings",
        got="none",
        next_step="run moodflow infer with the same options first",
    )
