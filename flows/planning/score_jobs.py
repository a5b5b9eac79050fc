"""List what the score stage computes, every partition that scores rest on, and the rows that are no items and have no score."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from flows.planning.jobs import JobPartitions, ResolvedPlan, scorable
from schemas.errors import SourceError, UsageError
from schemas.lineage import Missing, PartitionRef
from schemas.tables.layers import AGGREGATED, LAYERS
from schemas.tables.responses import Answers
from tasks.datasets.rejected_rows import describe_rejected
from tasks.judging.answers import SIMULATED
from tasks.lake.lake import Lake
from tasks.scoring.benchmark import ScoreSettings
from tasks.scoring.jobs import AggregateJob, GainsJob, LayerJob
from tasks.text.number_format import counted


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
            f"no row of {broken.missing.dataset} is a valid item",
            where=broken.missing.dataset,
            expected="rows that follow the item format",
            got=broken.missing.reason,
            next_step="correct the rows of the file; moodflow docs own-dataset says what an item has",
        )


def left_out(resolved: ResolvedPlan) -> tuple[list[Missing], list[str]]:
    """Return what a built plan lacks, and remarks on rows that its datasets are known to lack; SourceError: one has no items."""
    missing, remarks = list(resolved.missing), []
    for broken in find_broken_rows(resolved):
        require_items(broken)
        if broken.is_stated:
            remarks.append(f"{broken.missing.dataset} {broken.missing.reason}")
        else:
            missing.append(broken.missing)
    return missing, remarks


def odd_fields(built: Iterable[PartitionRef], lake: Lake) -> Iterator[str]:
    """Yield a remark on each partition of gold, among what was built, whose rows have odd fields."""
    for ref in (ref for ref in built if LAYERS[ref.layer].is_gold):
        rows = lake.read(ref, LAYERS[ref.layer].schema)
        if "remarks" in rows.columns and (odd := rows.filter(pl.col("remarks").list.len() > 0).height):
            items = counted(odd, "item")
            yield f"{ref.key('dataset')} has {items} with odd fields: remarks of {ref.layer} say how they were read"


def aggregate_job(resolved: ResolvedPlan, item_scores: Sequence[PartitionRef]) -> AggregateJob:
    """Return what the plan's aggregated layers are computed from."""
    plan = resolved.plan
    broken = find_broken_rows(resolved)
    lacking = {rows.missing.dataset: rows.lacking / rows.items for rows in broken if rows.lacking and rows.items}
    settings = ScoreSettings(rank_incomplete=plan.rank_incomplete, lacking=lacking)
    return AggregateJob(resolved.blueprint, settings, tuple(item_scores))


def comparison_jobs(
    resolved: ResolvedPlan, partitions: Sequence[JobPartitions], item_scores: Sequence[PartitionRef]
) -> Iterator[LayerJob | GainsJob]:
    """Yield what compares settings with `base`, lengths and depths, persons and their cards, dimensions, judges, if there are."""
    plan, benchmark, own = resolved.plan, resolved.blueprint.name, resolved.blueprint.own_rubrics
    if "base" in plan.settings and len(set(plan.settings)) > 1:
        yield GainsJob(aggregate_job(resolved, item_scores))
    if contexts := dict.fromkeys(of_job.contexts for of_job in partitions if of_job.contexts):
        yield LayerJob("needle_scores", benchmark, (tuple(contexts), tuple(item_scores)))
    helped = [of_job for of_job in partitions if len(of_job.job.models) > 1]
    if simulated := [of_job for of_job in helped if resolved.lake.read(of_job.answers, Answers).select(SIMULATED.any()).item()]:
        items, answers = tuple(of_job.items for of_job in simulated), tuple(of_job.answers for of_job in simulated)
        reviews = tuple(ref for of_job in simulated for ref in of_job.reviews if ref)
        yield LayerJob("simulation_faults", benchmark, (items, answers, reviews), own_rubrics=own)
    judged = [of_job for of_job in partitions if of_job.judgements or of_job.people]
    if not judged:
        return
    items = tuple(dict.fromkeys(of_job.items for of_job in judged))
    firsts = tuple(of_job.judgements for of_job in judged if of_job.judgements)
    golds = tuple(ratings for _, ratings in rated_golds(resolved, items))
    people = tuple(ref for of_job in judged for ref in of_job.people)
    yield LayerJob("dimension_scores", benchmark, (items, (*firsts, *golds, *people)))
    panel = tuple(rating for of_job in judged for rating in of_job.ratings[1:] if rating)
    sides = [(*firsts, *panel)] if plan.judge_repeat > 1 or any(len(of_job.ratings) > 1 for of_job in judged) else []
    # People among themselves; and the judge as one more beside them, where both rated by one rubric.
    by_judge = {(*ref.place[:3], ref.key("rubric")): ref for ref in firsts}
    pairs = [(by_judge.get((*ref.place[:3], ref.key("rubric"))), ref) for ref in people]
    beside = tuple(ref for judge, by_people in pairs if judge for ref in (judge, by_people))
    for ratings in filter(None, (*sides, people, beside)):
        rated = [of_job for of_job in judged if {of_job.judgements, *of_job.people} & {*ratings}]
        inputs = tuple(dict.fromkeys(of_job.items for of_job in rated)), tuple(of_job.answers for of_job in rated)
        yield LayerJob("agreements", benchmark, (*inputs, ratings), own_rubrics=own)


def rated_golds(resolved: ResolvedPlan, items: Collection[PartitionRef]) -> list[tuple[PartitionRef, PartitionRef]]:
    """Find gold replies and their ratings, of datasets whose items are among these: that models were rated on."""
    pairs = (gold.find(resolved.lake.find_latest) for gold in resolved.golds if gold.job.items in items)
    return [pair for pair in pairs if pair]


def unrated(partitions: Sequence[JobPartitions]) -> list[Missing]:
    """List jobs that people have not rated who are asked for, or a judge of the panel, without whom agreement is computed."""
    sheet = "moodflow judges sheet RUN writes a sheet for them"
    waiting = [
        of_job.job.missing(f"was rated by nobody yet by rubric {rubric}", sheet)
        for of_job in partitions
        for rubric in sorted({each.rubric for each in of_job.job.selected.methods if each.rubric and each.raters != "judge"})
        if rubric not in {ref.key("rubric") for ref in of_job.people}
    ]
    return waiting + [
        of_job.job.missing(f"was not rated by {judge.name} of the panel", "moodflow infer asks it")
        for of_job in partitions
        for judge, rating in zip(of_job.job.judges, of_job.ratings, strict=True)
        if rating is None
    ]


def stored_partitions(resolved: ResolvedPlan) -> list[PartitionRef]:
    """Find every partition the plan's scores rest on, inputs first; UsageError: the scores are not in the lake."""
    partitions, lake = scorable(resolved.jobs), resolved.lake
    scored = [ref for of_job in partitions if (job := of_job.score_job) and (ref := lake.find(job.key))]
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
    compared = [ref for job in comparison_jobs(resolved, partitions, scored) if (ref := lake.find(job.key))]
    golds = rated_golds(resolved, [of_job.items for of_job in partitions if of_job.judgements])
    inputs = dict.fromkeys(ref for refs in (*(of_job.refs for of_job in partitions), *golds) for ref in refs)
    return [*inputs, *scored, *layers, *compared]
