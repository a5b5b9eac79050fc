"""Find out what the lake has of a plan, and whether anything is left to do."""

from typing import NamedTuple

from flows.planning.jobs import ResolvedPlan, scorable
from flows.planning.score_jobs import aggregate_job, comparison_jobs
from schemas.errors import SourceMissingError
from schemas.lineage import PartitionRef
from schemas.tables.layers import AGGREGATED, LAYERS


class StoredOutcomes(NamedTuple):
    """What the lake has of a plan's infer stage, whether a model was asked before, and whether nothing is left to ask or rate."""

    refs: tuple[PartitionRef, ...]
    has_answers: bool
    is_complete: bool


def stored_outcomes(resolved: ResolvedPlan) -> StoredOutcomes:
    """Find what the lake has of a plan's infer stage."""
    jobs = [job.find(job.lake.find) for job in resolved.jobs]
    golds = [gold.find(resolved.lake.find) for gold in resolved.golds]
    refs = [*(ref for job in jobs if job for ref in job.refs), *(ref for gold in golds if gold for ref in gold)]
    of_stage = tuple(ref for ref in refs if LAYERS[ref.layer].written_by == "infer" and not ref.by_people)
    return StoredOutcomes(of_stage, any(jobs), all(job and job.is_complete for job in jobs) and all(golds))


def find_built(resolved: ResolvedPlan) -> list[PartitionRef] | None:
    """Return everything that is built of a plan's datasets; null if something is not."""
    try:
        keys = [key for selected in resolved.selected for key in resolved.built_keys(selected).all()]
    except SourceMissingError:
        return None
    refs = [ref for key in keys if (ref := resolved.lake.find(key))]
    return refs if len(refs) == len(keys) else None


def is_up_to_date(resolved: ResolvedPlan) -> bool:
    """Return whether a run of a plan finds every partition: nothing is built, asked, rated or computed, here or elsewhere."""
    plan, lake = resolved.plan, resolved.lake
    if plan.canary or plan.runner != "local" or not find_built(resolved) or not stored_outcomes(resolved).is_complete:
        return False
    partitions = scorable(resolved.jobs)
    scored = [ref for of_job in partitions if (job := of_job.score_job) and (ref := lake.find(job.key))]
    if not scored or len(scored) < len(resolved.jobs):
        return False
    aggregation = aggregate_job(resolved, scored)
    keys = [*map(aggregation.key, AGGREGATED), *(job.key for job in comparison_jobs(resolved, partitions, scored))]
    return all(map(lake.find, keys))
