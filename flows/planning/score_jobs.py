"""Where the scores of a plan are: what the score stage computes from item scores, and every partition they rest on."""

from collections.abc import Sequence

from flows.planning.jobs import ScorableJob, eval_jobs, find_ready
from flows.planning.resolve import ResolvedPlan
from schemas.errors import UsageError
from schemas.lineage import PartitionKey, PartitionRef
from tasks.judging.steps import AgreementJob
from tasks.scoring.benchmark import ScoreSettings
from tasks.scoring.steps import LAYERS, AggregateJob, GainsJob, NeedlesJob


def aggregate_job(resolution: ResolvedPlan, item_scores: list[PartitionRef]) -> AggregateJob:
    """What the plan's aggregated layers are computed from."""
    plan = resolution.plan
    settings = ScoreSettings(seed=plan.seed, bootstrap=plan.bootstrap, rank_incomplete=plan.rank_incomplete)
    return AggregateJob(resolution.blueprint, settings, tuple(item_scores))


def gains_job(resolution: ResolvedPlan, item_scores: Sequence[PartitionRef]) -> GainsJob | None:
    """What the gains over setting `base` are computed from; None if there is nothing to compare."""
    settings = set(resolution.plan.settings)
    if "base" not in settings or len(settings) == 1:
        return None
    return GainsJob(resolution.blueprint, aggregate_job(resolution, list(item_scores)).settings, tuple(item_scores))


def needles_job(resolution: ResolvedPlan, ready: Sequence[ScorableJob], item_scores: Sequence[PartitionRef]) -> NeedlesJob | None:
    """What the grid of lengths and depths is computed from; None if no context is long."""
    contexts = dict.fromkeys(ref for found in ready for ref in found.others if ref.layer == "contexts")
    return NeedlesJob(resolution.blueprint.name, tuple(contexts), tuple(item_scores)) if contexts else None


def agreement_job(resolution: ResolvedPlan, ready: Sequence[ScorableJob]) -> AgreementJob | None:
    """What the agreement of judges is computed from; None if no answer was rated twice."""
    plan = resolution.plan
    if plan.judge is None or (not plan.panel and plan.judge_repeat == 1):
        return None
    judged = [found for found in ready if found.judgements]
    responses = tuple(found.responses for found in judged)
    panel = [ref for found in judged for ref in found.others if ref.layer == "judgements"]
    ratings = (*(found.judgements for found in judged if found.judgements), *panel)
    items = tuple(dict.fromkeys(found.items for found in judged))
    return AgreementJob(resolution.blueprint.name, items, responses, ratings) if judged else None


def comparison_keys(
    resolution: ResolvedPlan, ready: Sequence[ScorableJob], item_scores: Sequence[PartitionRef]
) -> list[PartitionKey]:
    """Keys of the layers that compare settings with each other, lengths and depths, and judges."""
    scored = list(item_scores)
    jobs = (gains_job(resolution, scored), needles_job(resolution, ready, scored), agreement_job(resolution, ready))
    return [job.key for job in jobs if job is not None]


def aggregated_partitions(resolution: ResolvedPlan, item_scores: list[PartitionRef]) -> dict[str, PartitionRef]:
    """The aggregated layers over these item scores that are in the lake, by layer."""
    job = aggregate_job(resolution, item_scores)
    found = {layer: resolution.lake.find(job.key(layer)) for layer in LAYERS}
    return {layer: ref for layer, ref in found.items() if ref is not None}


def stored_partitions(resolution: ResolvedPlan) -> list[PartitionRef]:
    """Every partition the plan's scores rest on, inputs first.

    Raises:
        UsageError: if the scores of the plan are not in the lake.
    """
    ready = [found for cell in eval_jobs(resolution) if (found := find_ready(resolution, cell))]
    scored = [ref for found in ready if (ref := resolution.lake.find(found.item_scores))]
    layers = aggregated_partitions(resolution, scored)
    if not scored or len(layers) < len(LAYERS):
        raise UsageError(
            "there are no scores to report",
            where=str(resolution.plan.lake),
            expected="scores of the named models and datasets with the same settings",
            got=f"{len(layers)} of {len(LAYERS)} layers",
            next_step="run moodflow score with the same options first",
        )
    inputs = [ref for found in ready for ref in (found.items, *found.others, found.responses, found.judgements) if ref]
    compared = [ref for key in comparison_keys(resolution, ready, scored) if (ref := resolution.lake.find(key))]
    return [*dict.fromkeys(inputs), *scored, *layers.values(), *compared]
