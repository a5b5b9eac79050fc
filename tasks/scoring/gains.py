"""Compute what a setting gains over `base`, and what tells any two systems apart, over the items scored in both.

Items that are missing in one setting are left out of both, pair by pair, so that a setting that fails on hard items gains nothing
by it. Of an item asked several times the mean counts, over the repetitions that were scored; metrics of a whole dataset (F1,
bias) are computed from all of these.

Differences are those of tasks.statistics.paired, with a stratum per dataset: clusters of items that both settings scored. A
dataset's score is the weighted mean of its metrics that have pairs; the total is that before the veto, with the contributions
that its own tables give. No interval is given for grades, whose table does not say what lies between them.

A gain in the total is left out where the two settings do not rest on the same metrics of the same datasets, or one of them has no
pair: it would compare different benchmarks. Datasets of weight 0 have gains of their own and no part in the total's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
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
from tasks.scoring.normalisation import normalise_array
from tasks.scoring.reduction import COUNTED, MEAN, SPEC, average_parts, label_metrics, normalise_scores, reduce_item_scores
from tasks.scoring.tree import Tree, tree_tables
from tasks.scoring.uncertainty import replicate
from tasks.statistics.intervals import Term, addend_of, spread_of, sum_limits
from tasks.statistics.paired import PairedDifference, Stratum, compare_strata
from tasks.statistics.resampling import Floats, LeaveOneOut, place_clusters

BASE = "base"
Spec = tuple[str, str, Metric]
"""Dataset, method and metric."""

Weights = dict[Spec, float]


MARGIN = 1.0
"""Points of 100 below which a difference of scores does not matter, unless another margin is chosen."""

MOST = 100.0


@dataclass(frozen=True)
class Paired:
    """One metric over the items that all of n settings scored, base first."""

    scores: Floats
    """On 0-100, [n]."""

    left_out: Floats
    """The same without one cluster each, [n, clusters]; NaN for grades, and where there is one cluster."""

    items: frozenset[str]


@dataclass(frozen=True)
class PairedScore:
    """A score of two systems on 0-100, over the items scored in both."""

    before: float
    after: float
    n_items: int
    difference: PairedDifference
    """after - before."""


def setting_gains(item_scores: pl.LazyFrame, blueprint: Blueprint) -> dy.DataFrame[SettingGains]:
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
        pairs = pair_datasets(of_both, blueprint.datasets, tree)
        base, own = (spec_weights(contributions.filter(pl.col("model") == model, setting=name)) for name in (BASE, setting))
        scopes = dataset_weights(tree, pairs)
        if base and base.keys() == own.keys() and base.keys() <= pairs.keys():
            scopes[OF_ALL] = base
        shared = {"model": model, "setting": setting}
        rows += [shared | {"scope": scope} | _gain(weigh_scores(pairs, weights)) for scope, weights in scopes.items()]
    frame = pl.DataFrame(rows, schema=SettingGains.create_empty().schema)
    return SettingGains.validate(frame.sort(SettingGains.primary_key()))


def _gain(score: PairedScore) -> dict[str, float | int | None]:
    gained = score.difference
    return {
        "base_0_100": score.before,
        "setting_0_100": score.after,
        "gain": score.after - score.before,
        "ci_low": gained.ci_low,
        "ci_high": gained.ci_high,
        "n_items": score.n_items,
    }


def pair_datasets(of_both: pl.LazyFrame, datasets: Iterable[str], tree: Tree) -> dict[Spec, Paired]:
    """Pair every metric of these datasets that carries weight over the items scored both times.

    `of_both`: rows of `item_scores` of one model; those it is compared with have setting BASE, the others any other one.
    """
    in_both = pl.col("setting").n_unique().over("method", "metric", "item_id", "part") > 1
    pairs: dict[Spec, Paired] = {}
    for dataset in datasets:
        rows = _counted_rows(of_both, dataset, tree).filter(in_both)
        settings = sorted(rows["setting"].unique(), key=lambda setting: setting != BASE)
        pairs |= score_together(rows, settings, tree)
    return pairs


def _counted_rows(item_scores: pl.LazyFrame, dataset: str, tree: Tree) -> pl.DataFrame:
    weighed = tree.metrics.filter((pl.col("dataset") == dataset) & (pl.col("weight") > 0)).select(SPEC)
    counted = (pl.col("dataset") == dataset) & pl.col("status").is_in(COUNTED)
    return item_scores.filter(counted).collect(engine="streaming").join(weighed, on=SPEC, how="semi")


def score_together(rows: pl.DataFrame, settings: Sequence[str], tree: Tree) -> Iterator[tuple[Spec, Paired]]:
    """Score every metric of a dataset for settings that all have items of it, as a rule the same."""
    if rows.is_empty():
        return
    rows = place_clusters(average_parts(rows.lazy()).collect())
    draws = LeaveOneOut(rows["place"].n_unique())
    system = pl.col("setting").replace_strict({name: at for at, name in enumerate(settings)}, return_dtype=pl.Int64)
    for leaf in tree.metrics.join(rows, on=SPEC, how="semi", maintain_order="left").iter_slices(1):
        own = rows.join(leaf.select(SPEC), on=SPEC, how="semi").with_columns(system=system)
        if leaf["metric"].item() not in label_metrics():
            own = own.group_by("setting", "item_id").agg(pl.all().exclude("value").first(), MEAN)
        scores = normalise_scores(reduce_item_scores(own.lazy()), tree).sort(system)["normalized_0_100"]
        yield leaf.select(SPEC).row(0), _paired(own, scores.to_numpy(), leaf, draws)


def _paired(rows: pl.DataFrame, scores: Floats, leaf: pl.DataFrame, draws: LeaveOneOut) -> Paired:
    rule = leaf.select("kind", "low", "high").row(0)
    left_out = normalise_array(replicate(rows, leaf["metric"].item(), len(scores), draws), *rule)
    # A metric may have no item in some of the clusters: without one of these it is what it is.
    defined = ~np.isnan(left_out)
    stand_in = np.where(defined.any(axis=1), scores, np.nan)
    return Paired(scores, np.where(defined, left_out, stand_in[:, None]), frozenset(rows["item_id"]))


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


def weigh_scores(pairs: Mapping[Spec, Paired], weights: Mapping[Spec, float], margin: float = MARGIN) -> PairedScore:
    """Compare the weighted mean of these metrics; datasets are independent of each other. `margin`: in points."""
    whole = sum(weights.values())
    changes = {spec: np.array([-1.0, 1.0]) * weight / whole for spec, weight in weights.items()}
    # Rounding may lift a weighted mean above 100 by its last bit.
    before, after = np.clip(sum(weight / whole * pairs[spec].scores for spec, weight in weights.items()), 0, MOST).tolist()
    return PairedScore(
        before=before,
        after=after,
        n_items=len({(spec[0], item) for spec in weights for item in pairs[spec].items}),
        difference=compare_strata(strata_of(pairs, changes), margin, MOST, MOST),
    )


def strata_of(pairs: Mapping[Spec, Paired], parts: Mapping[Spec, Floats]) -> list[Stratum]:
    """Return a sum of scores by dataset. `parts`: what the score of each setting counts for in it, [n], by metric."""
    strata = []
    for dataset in dict.fromkeys(spec[0] for spec in parts):
        own = {spec: part for spec, part in parts.items() if spec[0] == dataset}
        weight = sum(float(abs(part).max()) for part in own.values())
        difference = sum(float(part @ pairs[spec].scores) for spec, part in own.items())
        left_out = sum((part @ pairs[spec].left_out for spec, part in own.items()), start=np.zeros(1))
        strata.append(Stratum(weight, difference / weight, left_out / weight))
    return strata


def distance_below(pairs: Mapping[Spec, Paired], weights: Mapping[Spec, float]) -> float | None:
    """Return how far the lower limit of the first setting's weighted mean of these metrics lies below it; null = it has none."""
    by_dataset: dict[str, list[Term]] = {}
    score, whole = 0.0, sum(weights.values())
    for spec, weight in weights.items():
        before = pairs[spec].scores[:1]
        spread = spread_of(before, pairs[spec].left_out[:1], (0.0, MOST), np.zeros(1, dtype=bool))
        by_dataset.setdefault(spec[0], []).append(Term(np.array([weight / whole * MOST]), spread))
        score += weight / whole * float(before[0])
    low, _ = sum_limits(np.array([score]), [addend_of(terms) for terms in by_dataset.values()])
    return score - float(low[0]) if np.isfinite(low[0]) else None


Place = tuple[int, Mapping[Spec, Paired]]


@dataclass(frozen=True)
class Pairing:
    """Pairs any two of many models. Those that have the same items of a dataset scored are scored together.

    `rows`: item scores by dataset. `places`: by dataset and model its place among those with the same items, and the metrics of
    them all.
    """

    rows: Mapping[str, pl.DataFrame]
    places: Mapping[str, Mapping[str, Place]]
    tree: Tree

    def pair(self, first: str, second: str, datasets: Iterable[str]) -> dict[Spec, Paired]:
        """Return the metrics of these datasets that both models have items of, the first model first."""
        return {spec: paired for dataset in datasets for spec, paired in self._pairs(first, second, dataset)}

    def _pairs(self, first: str, second: str, dataset: str) -> Iterator[tuple[Spec, Paired]]:
        if not {first, second} <= self.places[dataset].keys():
            return
        (own, mine), (other, theirs) = (self.places[dataset][model] for model in (first, second))
        if mine is theirs:
            for spec, all_of_them in mine.items():
                scores, left_out = (each[[own, other]] for each in (all_of_them.scores, all_of_them.left_out))
                yield spec, replace(all_of_them, scores=scores, left_out=left_out)
        else:
            renamed = pl.col("setting").replace_strict({first: BASE, second: "other"}, default=None)
            both = self.rows[dataset].with_columns(setting=renamed).drop_nulls("setting")
            yield from pair_datasets(both.lazy(), [dataset], self.tree).items()


def compare_totals(
    models: Sequence[str], blueprint: Blueprint, pairing: Pairing
) -> Iterator[tuple[tuple[str, str], PairedScore]]:
    """Yield any two models that have items in common, with their totals before the veto: the first model's less the second's."""
    weights: dict[frozenset[Spec], Weights] = {}
    for first, second in combinations(models, 2):
        pairs = pairing.pair(second, first, blueprint.datasets)
        if (specs := frozenset(pairs)) not in weights:
            weights[specs] = weights_by_scope(common_scores(pairs), blueprint, pairing.tree)[TOTAL]
        if weights[specs]:
            yield (first, second), weigh_scores(pairs, weights[specs])


def pair_models(item_scores: pl.LazyFrame, datasets: Iterable[str], tree: Tree) -> Pairing:
    """Prepare pairs of models; `item_scores` are those of all of them, in one setting."""
    renamed = item_scores.with_columns(setting="model", model=pl.lit("compared"))
    rows = {dataset: _counted_rows(renamed, dataset, tree) for dataset in datasets}
    return Pairing(rows, {name: dict(_places(own, tree)) for name, own in rows.items()}, tree)


def _places(rows: pl.DataFrame, tree: Tree) -> Iterator[tuple[str, Place]]:
    item = pl.struct(*SPEC, "item_id", "part").rank("dense")
    scored = rows.select("setting", item=item).group_by("setting").agg(items=pl.col("item").unique().sort())
    for (models,) in scored.group_by("items").agg(pl.col("setting").sort()).select("setting").iter_rows():
        own = rows.filter(pl.col("setting").is_in(models))
        metrics = dict(score_together(own, models, tree)) if len(models) > 1 else {}
        yield from ((model, (index, metrics)) for index, model in enumerate(models))
