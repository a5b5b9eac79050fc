"""Build: source files -> `items`."""

import asyncio
from collections.abc import Sequence

from flows.planning.jobs import ResolvedPlan, SelectedDataset
from flows.planning.score_jobs import left_out, odd_fields
from flows.runtime.clusters import may_travel
from flows.runtime.prefect_flows import RunStep, begin_run, log, moodflow_flow, run_here, spread
from flows.runtime.progress import count_partitions
from schemas.errors import LayoutError, SourceMissingError
from schemas.lineage import Missing, PartitionRef, StageResult
from tasks.datasets.steps import BuildJob, build_partition, without_source
from tasks.sources.locating import Locator


@moodflow_flow("build-datasets", "build {resolved.title}")
async def build_datasets(resolved: ResolvedPlan) -> StageResult:
    """Sample and validate the items of every dataset of the plan; build their long contexts, where they have any.

    Reads source files (mirror, cache or download); writes `items`, `contexts` and `items_rejected`. A dataset whose partition
    exists is not built again.
    """
    await begin_run(resolved)
    plan = resolved.plan
    locator = Locator.for_mirror(plan.mirror)
    async with spread(plan) as run_step, count_partitions("build", plan.title, len(resolved.selected)) as counter:
        work = (counter.count(build_dataset(resolved, selected, locator, run_step)) for selected in resolved.selected)
        outcomes = await asyncio.gather(*work)
    missing, remarks = left_out(resolved)
    result = StageResult.of([*missing, *(outcome for built in outcomes for outcome in built)])
    if not result.refs:
        last = result.missing[-1]
        profile = " in the reference profile" if plan.profile == "reference" else ""
        raise SourceMissingError(
            f"no dataset of {plan.benchmark} is available{profile}",
            where=", ".join(gap.dataset for gap in result.missing[:3]) + (", ..." if len(result.missing) > 3 else ""),  # noqa: PLR2004
            got=last.reason,
            next_step=last.next_step,
        )
    for remark in (*remarks, *odd_fields(result.refs, resolved.lake)):
        log(remark)
    return result


async def build_dataset(
    resolved: ResolvedPlan, selected: SelectedDataset, locator: Locator, run_step: RunStep
) -> Sequence[PartitionRef | Missing]:
    """Build one dataset's items, and contexts for them where its entry says how.

    A file that no hash pins is fetched first: the partition's key rests on its content. A dataset whose files have another layout
    is missing; the others are asked.
    """
    plan, required = resolved.plan, resolved.plan.datasets is not None
    try:
        await asyncio.to_thread(locator.fetch_unpinned, selected.spec.files)
    except SourceMissingError as error:
        if required:
            raise
        return [without_source(selected.spec, error)]
    run = run_step if may_travel(selected.spec) else run_here
    job = BuildJob(selected.spec, resolved.built_keys(selected), resolved.sample(selected), plan.seed, plan.contexts, required)
    try:
        built: list[PartitionRef] | Missing = await run(build_partition, job, resolved.lake, locator)
    except LayoutError as error:
        return [Missing(dataset=selected.spec.id, reason=f"{error.what}: {error.got}", next_step=error.next_step or "")]
    return built if isinstance(built, list) else [built]
