"""Compare the scores of two runs, and list the items that changed.

Scores are compared over the items scored in both, as tasks.scoring.gains does, with the earlier run in the place of `base`: items
are paired by dataset and item id.
"""

from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL, ScoreDifference
from schemas.documents.comparison import CommonScore, Flips, ScoreKind
from schemas.metrics import METRICS
from tasks.compare.regression import list_some
from tasks.judging.rubrics import OwnRubrics, falling_dimensions
from tasks.runs.run_tables import from_row
from tasks.scoring.breakdowns import rate_answers, rate_items
from tasks.scoring.gains import (
    BASE,
    MARGIN,
    MOST,
    Paired,
    Spec,
    Weights,
    common_scores,
    dataset_weights,
    distance_below,
    pair_datasets,
    weigh_scores,
    weights_by_scope,
)
from tasks.scoring.reduction import COUNTED, MEAN, SPEC, item_points, normalise_scores, reduce_item_scores
from tasks.scoring.tree import Tree, tree_tables
from tasks.scoring.uncertainty import replicate
from tasks.statistics.intervals import limits, spread_of
from tasks.statistics.paired import FEWEST_CLUSTERS, PairedDifference, Stratum, compare_strata
from tasks.statistics.resampling import LeaveOneOut, place_clusters
from tasks.statistics.sums import exact_sum


def compare_scores(
    before: pl.DataFrame, after: pl.DataFrame, blueprint: Blueprint, margin: float = MARGIN
) -> tuple[CommonScore, ...]:
    """Compare scores over the metrics that both runs have.

    The weights of a total or an ability are spread over those as the aggregation spreads what is missing, so that it may differ
    from the stored score, which rests on all of its own run.

    Args:
        before: rows of `item_scores` of one model and setting of one run.
        after: those of the other, whatever the model and setting are called there.
        blueprint: which metrics count, and how much; of the run after. Metrics it does not have are left out.
        margin: difference in points that would matter.

    Returns:
        The total before the veto, main abilities and datasets in the blueprint's order, as far as they have common items.
    """
    tree = tree_tables(blueprint)
    pairs = _pair_runs(before, after, blueprint)
    if not pairs:
        return ()
    scopes, datasets = weights_by_scope(common_scores(pairs), blueprint, tree), dataset_weights(tree, pairs)
    return (
        *_scores("total", pairs, {blueprint.name: scopes.pop(TOTAL)}, margin),
        *_scores("ability", pairs, scopes, margin),
        *_scores("dataset", pairs, {name: datasets[name] for name in blueprint.datasets if name in datasets}, margin),
    )


def _scores(kind: ScoreKind, pairs: Mapping[Spec, Paired], scopes: Mapping[str, Weights], margin: float) -> Iterator[CommonScore]:
    for name, weights in scopes.items():
        if weights:
            score = weigh_scores(pairs, weights, margin)
            shared = {"kind": kind, "id": name, "difference": score.after - score.before}
            yield from_row(CommonScore, vars(score.difference) | vars(score) | shared)


def score_changes(
    before: pl.DataFrame, after: pl.DataFrame, blueprint: Blueprint, changed: Set[str] = frozenset()
) -> Iterator[ScoreDifference]:
    """Yield changes of the total and of every main ability that has a score in either run.

    A score is compared only if it rests on the same metrics and items in both: over others it would be that of another benchmark.
    Arguments are those of `compare_scores`, with one blueprint of both runs; `changed`: datasets whose items are not the same.
    """
    tree, same = tree_tables(blueprint), ~pl.col("dataset").is_in(sorted(changed))
    pairs = _pair_runs(before.filter(same), after.filter(same), blueprint)
    scored = (normalise_scores(reduce_item_scores(rows.lazy()), tree) for rows in (before, after))
    old, new = (weights_by_scope(scores, blueprint, tree) for scores in scored)
    for what, weights in old.items():
        if obstacle := _obstacle(weights, new[what], pairs, changed):
            yield ScoreDifference(what=what, note=f"not compared: {obstacle}")
        elif weights:
            yield _weigh_change(what, pairs, weights)


def _obstacle(before: Weights, after: Weights, pairs: Mapping[Spec, Paired], changed: Set[str]) -> str | None:
    """Return why a score of two runs cannot be compared."""
    if bool(before) != bool(after):
        return f"it has no score in {'this run' if before else 'the previous run'}"
    if other := sorted({dataset for dataset, *_ in before} & changed):
        return f"the items of {list_some(other)} are not the same"
    if other := sorted({dataset for dataset, *_ in before.keys() ^ after.keys()}):
        return f"it rests on {list_some(other)} in one of the runs only"
    if other := sorted({dataset for dataset, *_ in before.keys() - pairs.keys()}):
        return f"no item of {list_some(other)} is scored in both runs"
    return None


def _pair_runs(before: pl.DataFrame, after: pl.DataFrame, blueprint: Blueprint) -> dict[Spec, Paired]:
    frames = (
        rows.with_columns(model=pl.lit("compared"), setting=pl.lit(name)) for rows, name in ((before, BASE), (after, "after"))
    )
    return pair_datasets(pl.concat(frames).lazy(), blueprint.datasets, tree_tables(blueprint))


def _weigh_change(what: str, pairs: Mapping[Spec, Paired], weights: Weights) -> ScoreDifference:
    score = weigh_scores(pairs, weights)
    allowed = distance_below(pairs, weights)
    return _change(what, (score.before, score.after), score.difference, allowed, n_items=score.n_items)


def _change(
    what: str, scores: tuple[float, float], difference: PairedDifference, allowed: float | None, **fields: Any
) -> ScoreDifference:
    """Return the change between two scores; `allowed`: how far the worse limit of the first lies from it."""
    return ScoreDifference(
        what=what,
        before=scores[0],
        after=scores[1],
        change=scores[1] - scores[0],
        ci_low=difference.ci_low,
        ci_high=difference.ci_high,
        allowed=allowed if difference.is_tested else None,
        note=None if difference.is_tested else f"no interval, fewer than {FEWEST_CLUSTERS} clusters: the change is not judged",
        **fields,
    )


DIMENSION = ["dataset", "rubric", "dimension", "lowest", "highest"]
AFTER = "is_after"


def dimension_changes(
    before: pl.DataFrame, after: pl.DataFrame, items: pl.DataFrame, own_rubrics: OwnRubrics
) -> Iterator[ScoreDifference]:
    """Yield changes of the dimensions that both runs rated on the same scale, over the items with a rating in both.

    Changes are in points of the scale; of an item asked several times the mean counts. Source of the rule: docs/decisions/0017.

    Args:
        before: rows of `judgements` of one model and setting by the judge whose ratings count, in the earlier run.
        after: the same in the later run.
        items: rows of `items` that are the same in both runs.
        own_rubrics: of the blueprint; the rubric says which end of a dimension's scale is the good one.
    """
    rated = pl.concat([_rate(rows).with_columns(pl.lit(is_after).alias(AFTER)) for rows, is_after in ((before, 0), (after, 1))])
    in_both = pl.col(AFTER).n_unique().over(*DIMENSION, "item_id") > 1
    both = rated.filter(in_both).join(items.select("dataset", "item_id", "cluster"), on=["dataset", "item_id"])
    for (dataset, rubric, dimension, *scale), rows in sorted(both.partition_by(DIMENSION, as_dict=True).items()):
        better = "low" if dimension in falling_dimensions(rubric, own_rubrics) else "high"
        fields = {"scale": tuple(scale), "rubric": rubric, "better": better, "n_items": rows.height // 2}
        yield _dimension_change(f"{dataset}: {dimension}", place_clusters(rows), (float(scale[0]), float(scale[1])), fields)


def _rate(judgements: pl.DataFrame) -> pl.DataFrame:
    """Return DIMENSION, `item_id` and `value`, the mean over repetitions."""
    scales = judgements.select(DIMENSION).unique()
    rated = rate_items(rate_answers(judgements)).group_by("dataset", "rubric", "dimension", "item_id").agg(MEAN)
    return rated.join(scales, on=["dataset", "rubric", "dimension"]).select(*DIMENSION, "item_id", "value")


def _dimension_change(what: str, rows: pl.DataFrame, scale: tuple[float, float], fields: dict[str, Any]) -> ScoreDifference:
    placed = rows.with_columns(system=pl.col(AFTER))
    left_out = replicate(placed, "judged_rating", 2, LeaveOneOut(placed["place"].n_unique()))
    was, now = placed.group_by(AFTER).agg(MEAN).sort(AFTER)["value"]
    change = compare_strata([Stratum(1.0, now - was, left_out[1] - left_out[0])], margin=0.0, step=1.0, most=scale[1] - scale[0])
    low, high = limits(spread_of(np.array([was]), left_out[:1], scale, np.zeros(1, dtype=bool)))
    allowed = was - float(low[0]) if fields["better"] == "high" else float(high[0]) - was
    return _change(what, (was, now), change, allowed, **fields)


HALF = MOST / 2


def find_flips(before: pl.DataFrame, after: pl.DataFrame, blueprint: Blueprint) -> Iterator[Flips]:
    """Yield the items of each metric that are worth more or less in the run after, sorted by metric; also where none is.

    Values are right or wrong if the metric has no others. An item asked several times is right if it is so more than half of the
    times; its share is the mean. Metrics that the blueprint, of the run after, does not have are left out, and so are those by
    which no item is right or wrong.
    """
    tree = tree_tables(blueprint)
    joined = _by_item(before, tree).join(_by_item(after, tree), on=[*SPEC, "item_id"], suffix="_after").sort("item_id")
    for (dataset, method, metric), rows in sorted(joined.partition_by(SPEC, as_dict=True, maintain_order=True).items()):
        binary = not METRICS[str(metric)].graded and bool((rows["binary"] & rows["binary_after"]).all())
        was, now = pl.col("points"), pl.col("points_after")
        if binary:
            was, now = (was > HALF).cast(pl.Int8), (now > HALF).cast(pl.Int8)
        fell, rose = (tuple(rows.filter(moved)["item_id"]) for moved in (now < was, now > was))
        yield Flips(
            dataset=str(dataset),
            method=str(method),
            metric=str(metric),
            binary=binary,
            n_items=rows.height,
            fell=fell,
            rose=rose,
        )


def _by_item(rows: pl.DataFrame, tree: Tree) -> pl.DataFrame:
    points = pl.col("points")
    counted = item_points(rows.lazy().filter(pl.col("status").is_in(COUNTED)), tree).drop_nulls("points")
    of_item = counted.group_by(*SPEC, "item_id")
    return of_item.agg(points=exact_sum(points) / pl.len(), binary=points.is_in([0.0, MOST]).all()).collect()
