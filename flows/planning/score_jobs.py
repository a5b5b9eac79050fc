"""List what the score stage computes from item scores, and find every partition that scores rest on."""

from collections.abc import Sequence

from flows.planning.jobs import ScorableJob, eval_jobs, find_ready
from flows.planning.resolve import ResolvedPlan
from schemas.errors import UsageError
from schemas.lineage import PartitionRef
from schemas.tables.layers import AGGREGATED
from tasks.judging.steps import AgreementJob
from tasks.scoring.benchmark import ScoreSettings
from tasks.scoring.steps import AggregateJob, DimensionsJob, NeedlesJob
from tasks.scoring.uncertainty import Resampling


def aggregate_job(resolved: ResolvedPlan, item_scores: Sequence[PartitionRef]) -> AggregateJob:
    """Return what the plan's aggregated layers are computed from."""
    plan = resolved.plan
    settings = ScoreSettings(seed=plan.seed, bootstrap=plan.bootstrap, rank_incomplete=plan.rank_incomplete)
    return AggregateJob(resolved.blueprint, settings, tuple(item_scores))


def gains_job(resolved: ResolvedPlan, item_scores: Sequence[PartitionRef]) -> AggregateJob | None:
    """Return what the gains over setting `base` are computed from; None if there is nothing to compare."""
    settings = set(resolved.plan.settings)
    if "base" not in settings or len(settings) == 1:
        return None
    return aggregate_job(resolved, item_scores)


def needles_job(resolved: ResolvedPlan, ready: Sequence[ScorableJob], item_scores: Sequence[PartitionRef]) -> NeedlesJob | None:
    """Return what the grid of lengths and depths is computed from; None if no context is long."""
    contexts = dict.fromkeys(ref for found in ready for ref in found.others if ref.layer == "contexts")
    return NeedlesJob(resolved.blueprint.name, tuple(contexts), tuple(item_scores)) if contexts else None


def agreement_job(resolved: ResolvedPlan, ready: Sequence[ScorableJob]) -> AgreementJob | None:
    """Return what the agreement of judges is computed from; None if no answer was rated twice."""
    plan = resolved.plan
    if plan.judge_repeat == 1 and all(len(plan.judges(selected.spec.id)) < 2 for selected in resolved.selected):  # noqa: PLR2004
        return None
    judged = [found for found in ready if found.judgements]
    answers = tuple(found.answers for found in judged)
    panel = [ref for found in judged for ref in found.others if ref.layer == "judgements"]
    ratings = (*(found.judgements for found in judged if found.judgements), *panel)
    items = tuple(dict.fromkeys(found.items for found in judged))
    return AgreementJob(resolved.blueprint.name, items, answers, ratings) if judged else None


def dimensions_job(resolved: ResolvedPlan, ready: Sequence[ScorableJob]) -> DimensionsJob | None:
    """Return what the means of rated dimensions are computed from; None if nothing was rated."""
    plan, judged = resolved.plan, [found for found in ready if found.judgements]
    items = tuple(dict.fromkeys(found.items for found in judged))
    ratings = tuple(found.judgements for found in judged if found.judgements)
    return DimensionsJob(resolved.blueprint.name, Resampling(plan.bootstrap, plan.seed), items, ratings) if judged else None


def aggregated_partitions(resolved: ResolvedPlan, item_scores: Sequence[PartitionRef]) -> dict[str, PartitionRef]:
    """Find the aggregated layers over these item scores that are in the lake, by layer."""
    aggregation = aggregate_job(resolved, item_scores)
    found = {layer: resolved.lake.find(aggregation.key(layer)) for layer in AGGREGATED}
    return {layer: ref for layer, ref in found.items() if ref is not None}


def stored_partitions(resolved: ResolvedPlan) -> list[PartitionRef]:
    """Find every partition the plan's scores rest on, inputs first.

    Raises:
        UsageError: if the scores of the plan are not in the lake.
    """
    ready = [found for job in eval_jobs(resolved) if (found := find_ready(resolved, job))]
    scored = [ref for found in ready if (ref := resolved.lake.find(found.item_scores))]
    layers = aggregated_partitions(resolved, scored)
    if not scored or len(layers) < len(AGGREGATED):
        raise UsageError(
            "there are no scores to report",
            where=str(resolved.plan.lake),
            expected="scores of the named models and datasets with the same settings",
            got=f"{len(layers)} of {len(AGGREGATED)} layers",
            next_step="run moodflow score with the same options first",
        )
    inputs = [ref for found in ready for ref in (found.items, *found.others, found.answers, found.judgements) if ref]
    gains = gains_job(resolved, scored)
    others = (needles_job(resolved, ready, scored), dimensions_job(resolved, ready), agreement_job(resolved, ready))
    keys = [*([gains.key("setting_gains")] if gains else []), *(one.key for one in others if one)]
    compared = [ref for key in keys if (ref := resolved.lake.find(key))]
    return [*dict.fromkeys(inputs), *scored, *layers.values(), *compared]
