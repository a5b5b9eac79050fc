"""List what the score stage computes, every partition that scores rest on, and the rows that are no items and have no score."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass

from flows.planning.jobs import JobPartitions, ResolvedPlan, scorable
from schemas.errors import SourceError, UsageError
from schemas.lineage import Missing, PartitionRef
from schemas.tables.layers import AGGREGATED
from schemas.tables.responses import Answers
from tasks.datasets.rejected_rows import describe_rejected
from tasks.judging.answers import SIMULATED
from tasks.scoring.benchmark import ScoreSettings
from tasks.scoring.steps import AggregateJob, GainsJob, LayerJob
from tasks.scoring.uncertainty import Resampling


@dataclass(frozen=True)
class BrokenRows:
    """Rows of one dataset that are no items."""

    missing: Missing
    is_stated: bool
    """Whether its catalogue entry states these rows, so that it is asked as a whole."""
    items: int
    """How many it has without them."""
    lacking: int
    """How many items it would have more, up to the size of the sample."""


def find_broken_rows(resolved: ResolvedPlan) -> Iterator[BrokenRows]:
    """Yield what is left out of each dataset that is built, wherever its files came from."""
    for selected in resolved.selected:
        built = resolved.find_built(selected)
        rejected = resolved.lake.read_rejected(built[0]) if built else None
        if built is None or rejected is None:
            continue
        spec, items, rows = selected.spec, built[0].rows, rejected.height
        lacking = max(0, min(resolved.sample(selected), items + rows - spec.broken_rows) - items)
        step = "correct these rows of the files, or fetch the files anew"
        missing = Missing(dataset=spec.id, reason=describe_rejected(spec, rejected), next_step=step, rows=rows)
        yield BrokenRows(missing, rows <= spec.broken_rows, items, lacking)


def require_items(broken: BrokenRows) -> None:
    """Raise SourceError if nothing is left of a dataset."""
    if broken.items == 0:
        raise SourceError(
            f"no row of {broken.missing.dataset} can be asked",
            where=broken.missing.dataset,
            expected="rows that keep the rules of items",
            got=broken.missing.reason,
            next_step="correct the rows of the file; docs/how-to/own-dataset.md says what an item has",
        )


def aggregate_job(resolved: ResolvedPlan, item_scores: Sequence[PartitionRef]) -> AggregateJob:
    """Return what the plan's aggregated layers are computed from."""
    plan = resolved.plan
    broken = find_broken_rows(resolved)
    lacking = {one.missing.dataset: one.lacking / one.items for one in broken if one.lacking and one.items}
    settings = ScoreSettings(seed=plan.seed, bootstrap=plan.bootstrap, rank_incomplete=plan.rank_incomplete, lacking=lacking)
    return AggregateJob(resolved.blueprint, settings, tuple(item_scores))


def comparison_jobs(
    resolved: ResolvedPlan, found: Sequence[JobPartitions], item_scores: Sequence[PartitionRef]
) -> Iterator[LayerJob | GainsJob]:
    """Yield what compares settings with `base`, lengths and depths, persons and their cards, dimensions, judges, if there are."""
    plan, benchmark, own = resolved.plan, resolved.blueprint.name, resolved.blueprint.own_rubrics
    if "base" in plan.settings and len(set(plan.settings)) > 1:
        yield GainsJob(aggregate_job(resolved, item_scores))
    if contexts := dict.fromkeys(one.contexts for one in found if one.contexts):
        yield LayerJob("needle_scores", benchmark, (tuple(contexts), tuple(item_scores)))
    helped = [one for one in found if len(one.job.models) > 1]
    if simulated := [one for one in helped if resolved.lake.read(one.answers, Answers).select(SIMULATED.any()).item()]:
        items, answers = tuple(one.items for one in simulated), tuple(one.answers for one in simulated)
        reviews = tuple(ref for one in simulated for ref in one.reviews if ref)
        yield LayerJob("simulation_faults", benchmark, (items, answers, reviews), own_rubrics=own)
    judged = [one for one in found if one.judgements]
    if not judged:
        return
    items = tuple(dict.fromkeys(one.items for one in judged))
    firsts = tuple(one.judgements for one in judged if one.judgements)
    golds = tuple(ratings for _, ratings in rated_golds(resolved, items))
    settings = asdict(Resampling(plan.bootstrap, plan.seed))
    yield LayerJob("dimension_scores", benchmark, (items, (*firsts, *golds)), settings)
    panel = tuple(rating for one in judged for rating in one.ratings[1:] if rating)
    if plan.judge_repeat > 1 or any(len(one.ratings) > 1 for one in judged):
        yield LayerJob("agreements", benchmark, (items, tuple(one.answers for one in judged), (*firsts, *panel)), own_rubrics=own)


def rated_golds(resolved: ResolvedPlan, items: Collection[PartitionRef]) -> list[tuple[PartitionRef, PartitionRef]]:
    """Find gold replies and their ratings, of datasets whose items are among these: that models were rated on."""
    found = (gold.find(resolved.lake.find_latest) for gold in resolved.golds if gold.job.items in items)
    return [one for one in found if one]


def unrated(found: Sequence[JobPartitions]) -> list[Missing]:
    """List jobs that a judge of the panel has not rated: the agreement of judges is then computed without it."""
    return [
        one.job.missing(f"was not rated by {judge.name} of the panel", "moodflow infer asks it")
        for one in found
        for judge, rating in zip(one.job.judges, one.ratings, strict=True)
        if rating is None
    ]


def stored_partitions(resolved: ResolvedPlan) -> list[PartitionRef]:
    """Find every partition the plan's scores rest on, inputs first; UsageError: the scores are not in the lake."""
    found, lake = scorable(resolved.jobs), resolved.lake
    scored = [ref for one in found if (job := one.score_job) and (ref := lake.find(job.key))]
    aggregation = aggregate_job(resolved, scored)
    layers = [ref for layer in AGGREGATED if (ref := lake.find(aggregation.key(layer)))]
    if not scored or len(layers) < len(AGGREGATED):
        raise UsageError(
            "there are no scores to report",
            where=str(resolved.plan.lake),
            expected="scores of the named models and datasets with the same settings",
            got=f"{len(layers)} of {len(AGGREGATED)} layers",
            next_step="run moodflow score with the same options first",
        )
    compared = [ref for job in comparison_jobs(resolved, found, scored) if (ref := lake.find(job.key))]
    golds = rated_golds(resolved, [one.items for one in found if one.judgements])
    asked = dict.fromkeys(ref for refs in (*(one.refs for one in found), *golds) for ref in refs)
    return [*asked, *scored, *layers, *compared]
