"""Compute what a setting gains over `base`, and what tells any two models apart, over the items scored in both, with intervals.

Items that are missing in one setting are left out of both, pair by pair, so that a setting that fails on hard items gains nothing
by it. Of an item asked several times the mean counts, over the repetitions that were scored; metrics of a whole dataset (F1,
bias) are computed from all of these.

Method of the intervals: percentile bootstrap of the difference. Clusters of items are drawn with replacement, the same ones for
both settings, and datasets independently of each other. A dataset's score is the weighted mean of its metrics that have pairs;
the total is that before the veto, with the contributions that its own tables give. No interval is given with fewer than two
clusters in a metric, nor for grades, as in tasks.scoring.uncertainty.

A gain in the total is left out where the two settings do not rest on the same metrics of the same datasets, or one of them has no
pair: it would compare different benchmarks. Datasets of weight 0 have gains of their own and no part in the total's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL
from schemas.metrics import Metric
from schemas.table import Cell, Interval
from schemas.tables.comparisons import OF_ALL, SettingGains
from schemas.tables.scores import NormalizedScores
from tasks.scoring.aggregation import SYSTEM, ability_contributions, aggregate_scores, metric_contributions
from tasks.scoring.reduction import COUNTED, MEAN, SPEC, average_parts, label_metrics, normalise_scores, reduce_item_scores
from tasks.scoring.tree import Tree, tree_tables
from tasks.scoring.uncertainty import Resampling, limits_of, normalise_replicates, replicate
from tasks.statistics.equivalence import PairedTest, equivalent_from
from tasks.statistics.resampling import Floats, draw_weights, place_clusters

BASE = "base"
Spec = tuple[str, str, Metric]
"""Dataset, method and metric."""

Weights = dict[Spec, float]


@dataclass(frozen=True)
class Paired:
    """One metric over the items that all of n settings scored: scores on 0-100, [n]; replicates, [n, resamples]; base first."""

    scores: Floats
    replicates: Floats
    items: frozenset[str]
    clusters: int


def setting_gains(item_scores: pl.LazyFrame, blueprint: Blueprint, resampling: Resampling) -> dy.DataFrame[SettingGains]:
    """Return gains of every setting over `base`, per dataset that has items scored in both and in the total, sorted by key.

    Raise ScoringError as score_benchmark.
    """
    systems = item_scores.select(SYSTEM).unique().sort(SYSTEM).collect().filter(pl.col("setting") != BASE)
    if systems.is_empty():
        return SettingGains.create_empty()
    tree = tree_tables(blueprint)
    normalized = normalise_scores(reduce_item_scores(item_scores), tree)
    contributions = metric_contributions(normalized, aggregate_scores(normalized, tree), tree)
    rows = []
    for model, setting in systems.iter_rows():
        of_both = item_scores.filter((pl.col("model") == model) & pl.col("setting").is_in([BASE, setting]))
        pairs = pair_datasets(of_both, blueprint.datasets, tree, resampling)
        base, own = (spec_weights(contributions.filter(pl.col("model") == model, setting=name)) for name in (BASE, setting))
        scopes = dataset_weights(tree, pairs)
        if base and base.keys() == own.keys() and base.keys() <= pairs.keys():
            scopes[OF_ALL] = base
        shared = {"model": model, "setting": setting}
        rows += [shared | {"scope": scope} | weigh_gain(pairs, weights) for scope, weights in scopes.items()]
    frame = pl.DataFrame(rows, schema=SettingGains.create_empty().schema)
    return SettingGains.validate(frame.sort(SettingGains.primary_key()))


def pair_datasets(of_both: pl.LazyFrame, datasets: Iterable[str], tree: Tree, resampling: Resampling) -> dict[Spec, Paired]:
    """Pair every metric of these datasets that carries weight over the items scored both times.

    `of_both`: rows of `item_scores` of one model; those it is compared with have setting BASE, the others any other one.
    """
    in_both = pl.col("setting").n_unique().over("method", "metric", "item_id", "part") > 1
    pairs: dict[Spec, Paired] = {}
    for dataset in datasets:
        rows = _counted_rows(of_both, dataset, tree).filter(in_both)
        settings = sorted(rows["setting"].unique(), key=lambda setting: setting != BASE)
        pairs |= _score_together(rows, settings, tree, resampling)
    return pairs


def _counted_rows(item_scores: pl.LazyFrame, dataset: str, tree: Tree) -> pl.DataFrame:
    weighed = tree.metrics.filter((pl.col("dataset") == dataset) & (pl.col("weight") > 0)).select(SPEC)
    counted = (pl.col("dataset") == dataset) & pl.col("status").is_in(COUNTED)
    return item_scores.filter(counted).collect(engine="streaming").join(weighed, on=SPEC, how="semi")


def _score_together(
    rows: pl.DataFrame, settings: Sequence[str], tree: Tree, resampling: Resampling
) -> Iterator[tuple[Spec, Paired]]:
    """Score every metric of a dataset for settings that have the same items; clusters are drawn once for all of them."""
    if rows.is_empty():
        return
    rows = place_clusters(average_parts(rows.lazy()).collect())
    weights = draw_weights(rows["dataset"][0], rows["place"].n_unique(), resampling.resamples, resampling.seed)
    system = pl.col("setting").replace_strict({name: at for at, name in enumerate(settings)}, return_dtype=pl.Int64)
    for leaf in tree.metrics.join(rows, on=SPEC, how="semi", maintain_order="left").iter_slices(1):
        own = rows.join(leaf.select(SPEC), on=SPEC, how="semi").with_columns(system=system)
        if leaf["metric"].item() not in label_metrics():
            own = own.group_by("setting", "item_id").agg(pl.all().exclude("value").first(), MEAN)
        scores = normalise_scores(reduce_item_scores(own.lazy()), tree).sort(system)["normalized_0_100"]
        yield leaf.select(SPEC).row(0), _paired(own, scores.to_numpy(), leaf, weights)


def _paired(rows: pl.DataFrame, scores: Floats, leaf: pl.DataFrame, weights: Floats) -> Paired:
    raw = replicate(rows, leaf["metric"].item(), len(scores), weights)
    replicates = normalise_replicates(raw, leaf)
    # As in a total's interval: the score itself stands in where a resample drew none of its items, not where it has too few.
    defined = ~np.isnan(replicates)
    stand_in = np.where(defined.any(axis=1), scores, np.nan)
    return Paired(scores, np.where(defined, replicates, stand_in[:, None]), frozenset(rows["item_id"]), len(weights))


def is_clear(gain: Mapping[str, Any]) -> bool:
    """Return whether chance alone hardly explains a difference: its 95 % interval, `ci_low` to `ci_high`, does not hold 0."""
    low, high = gain["ci_low"], gain["ci_high"]
    return low is not None and high is not None and not low <= 0 <= high


def difference_cell(value: float | None, ends: Mapping[str, Any]) -> Cell:
    """Return a difference with its interval, `ci_low` to `ci_high`, marked where it is clear."""
    return Cell(value, mark="clear" if is_clear(ends) else None, interval=Interval.of(ends["ci_low"], ends["ci_high"]))


def spec_weights(rows: pl.DataFrame) -> Weights:
    """Return the column `contribution` by dataset, method and metric."""
    contributions = rows.select(*SPEC, "contribution").iter_rows()
    return {(dataset, method, metric): weight for dataset, method, metric, weight in contributions}


def common_scores(pairs: Mapping[Spec, Paired]) -> pl.DataFrame:
    """Return the common scores as rows of `normalized_scores`: which metrics there are is the same before and after."""
    rows = [("compared", *spec, BASE, paired.scores[0], len(paired.items), len(paired.items)) for spec, paired in pairs.items()]
    return pl.DataFrame(rows, schema=NormalizedScores.create_empty().schema, orient="row")


def weights_by_scope(normalized: pl.DataFrame, blueprint: Blueprint, tree: Tree) -> dict[str, Weights]:
    """Return what each metric adds to the total (TOTAL) and to each main ability, by its id in the blueprint's order.

    `normalized`: rows of `normalized_scores` of one model and setting.
    """
    aggregates = aggregate_scores(normalized, tree)
    of_abilities = spec_weights(ability_contributions(normalized, aggregates, tree))
    return {TOTAL: spec_weights(metric_contributions(normalized, aggregates, tree))} | {
        main.id: {spec: weight for spec, weight in of_abilities.items() if spec[0] in main.dataset_ids}
        for main in blueprint.abilities
    }


def dataset_weights(tree: Tree, pairs: Mapping[Spec, Paired]) -> dict[str, Weights]:
    """Return weights of the metrics that have pairs, by dataset."""
    by_dataset: dict[str, Weights] = {}
    for dataset, method, metric, weight in tree.metrics.select(*SPEC, "weight").iter_rows():
        if (dataset, method, metric) in pairs:
            by_dataset.setdefault(dataset, {})[dataset, method, metric] = weight
    return by_dataset


def weigh_gain(pairs: Mapping[Spec, Paired], weights: Mapping[Spec, float]) -> dict[str, float | int | None]:
    """Return the columns of `setting_gains` that are no key: weighted means, their difference with its interval, items."""
    shares = np.array(list(weights.values())) / sum(weights.values())
    used = [pairs[spec] for spec in weights]
    # Rounding may lift a weighted mean above 100 by its last bit.
    base, setting = np.clip(shares @ np.array([paired.scores for paired in used]), 0, 100).tolist()
    differences = shares @ np.array([paired.replicates[1] - paired.replicates[0] for paired in used])
    low, high = limits_of(differences[None, :]).row(0)
    items = {(spec[0], item) for spec in weights for item in pairs[spec].items}
    return {
        "base_0_100": base,
        "setting_0_100": setting,
        "gain": setting - base,
        "ci_low": low,
        "ci_high": high,
        "n_items": len(items),
    }


def weigh_test(pairs: Mapping[Spec, Paired], weights: Mapping[Spec, float], margin: float = 1.0) -> PairedTest:
    """Test a weighted difference, setting - base, for none and for one of the margin, in points.

    Its standard error and degrees of freedom: as in tasks.scoring.uncertainty.difference_errors.
    """
    mean, drawn, clusters = 0.0, dict[str, Any](), dict[str, int]()
    for (dataset, *_), paired, weight in ((spec, pairs[spec], weights[spec] / sum(weights.values())) for spec in weights):
        mean += weight * float(paired.scores[1] - paired.scores[0])
        drawn[dataset] = drawn.get(dataset, 0.0) + weight * (paired.replicates[1] - paired.replicates[0])
        clusters[dataset] = paired.clusters
    replicates, of_each, error = np.array([*drawn.values()]), np.array([*clusters.values()]), None
    if replicates.size and np.isfinite(replicates).all():
        error = float(np.sqrt(replicates.var(axis=1) @ (of_each / (of_each - 1))))
    return equivalent_from(mean, error, int(of_each.min()) - 1, margin)


Place = tuple[int, Mapping[Spec, Paired]]


@dataclass(frozen=True)
class Pairing:
    """Pairs any two of many models. Those that have the same items of a dataset scored share one resampling.

    `rows`: item scores by dataset. `places`: by dataset and model its place among those with the same items, and the metrics of
    them all.
    """

    rows: Mapping[str, pl.DataFrame]
    places: Mapping[str, Mapping[str, Place]]
    tree: Tree
    resampling: Resampling

    def pair(self, first: str, second: str, datasets: Iterable[str]) -> dict[Spec, Paired]:
        """Return the metrics of these datasets that both models have items of, the first model first."""
        return {spec: paired for dataset in datasets for spec, paired in self._pairs(first, second, dataset)}

    def _pairs(self, first: str, second: str, dataset: str) -> Iterator[tuple[Spec, Paired]]:
        if not {first, second} <= self.places[dataset].keys():
            return
        (own, mine), (other, theirs) = (self.places[dataset][model] for model in (first, second))
        if mine is theirs:
            for spec, all_of_them in mine.items():
                scores, replicates = (each[[own, other]] for each in (all_of_them.scores, all_of_them.replicates))
                yield spec, replace(all_of_them, scores=scores, replicates=replicates)
        else:
            renamed = pl.col("setting").replace_strict({first: BASE, second: "other"}, default=None)
            both = self.rows[dataset].with_columns(setting=renamed).drop_nulls("setting")
            yield from pair_datasets(both.lazy(), [dataset], self.tree, self.resampling).items()


def pair_models(item_scores: pl.LazyFrame, datasets: Iterable[str], tree: Tree, resampling: Resampling) -> Pairing:
    """Prepare pairs of models; `item_scores` are those of all of them, in one setting."""
    renamed = item_scores.with_columns(setting="model", model=pl.lit("compared"))
    rows = {dataset: _counted_rows(renamed, dataset, tree) for dataset in datasets}
    return Pairing(rows, {name: dict(_places(own, tree, resampling)) for name, own in rows.items()}, tree, resampling)


def _places(rows: pl.DataFrame, tree: Tree, resampling: Resampling) -> Iterator[tuple[str, Place]]:
    item = pl.struct(*SPEC, "item_id", "part").rank("dense")
    scored = rows.select("setting", item=item).group_by("setting").agg(items=pl.col("item").unique().sort())
    for (models,) in scored.group_by("items").agg(pl.col("setting").sort()).select("setting").iter_rows():
        own = rows.filter(pl.col("setting").is_in(models))
        metrics = dict(_score_together(own, models, tree, resampling)) if len(models) > 1 else {}
        yield from ((model, (index, metrics)) for index, model in enumerate(models))
