"""Pair any two of many models over the items that both have scored, as tasks.scoring.gains pairs two settings.

Models that have the same items of a dataset scored share one resampling, so that a pair costs no more than a subtraction.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from tasks.scoring.gains import BASE, Paired, Spec, counted_rows, pair_datasets, score_together
from tasks.scoring.normalisation import SPEC
from tasks.scoring.tree import Tree
from tasks.scoring.uncertainty import Resampling

Place = tuple[int, Mapping[Spec, Paired]]


@dataclass(frozen=True)
class Pairing:
    """Item scores by dataset; and by dataset and model its place among those with the same items, and the metrics of them all."""

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
        (one, mine), (other, theirs) = (self.places[dataset][model] for model in (first, second))
        if mine is theirs:
            for spec, all_of_them in mine.items():
                scores, replicates = (each[[one, other]] for each in (all_of_them.scores, all_of_them.replicates))
                yield spec, Paired(scores, replicates, all_of_them.items)
        else:
            named = pl.col("setting").replace_strict({first: BASE, second: "other"}, default=None)
            both = self.rows[dataset].with_columns(setting=named).drop_nulls("setting")
            yield from pair_datasets(both.lazy(), [dataset], self.tree, self.resampling).items()


def pair_models(item_scores: pl.LazyFrame, datasets: Iterable[str], tree: Tree, resampling: Resampling) -> Pairing:
    """Prepare pairs of models.

    Args:
        item_scores: rows of `item_scores` of all of them, in one setting.
        datasets: names.
        tree: the blueprint's tables.
        resampling: number of resamples (0 = no intervals), and seed.
    """
    renamed = item_scores.with_columns(setting="model", model=pl.lit("compared"))
    rows = {dataset: counted_rows(renamed, dataset, tree) for dataset in datasets}
    return Pairing(rows, {name: dict(_places(own, tree, resampling)) for name, own in rows.items()}, tree, resampling)


def _places(rows: pl.DataFrame, tree: Tree, resampling: Resampling) -> Iterator[tuple[str, Place]]:
    item = pl.struct(*SPEC, "item_id", "part").rank("dense")
    scored = rows.select("setting", item=item).group_by("setting").agg(items=pl.col("item").unique().sort())
    for (models,) in scored.group_by("items").agg(pl.col("setting").sort()).select("setting").iter_rows():
        own = rows.filter(pl.col("setting").is_in(models))
        metrics = dict(score_together(own, models, tree, resampling)) if len(models) > 1 else {}
        yield from ((model, (place, metrics)) for place, model in enumerate(models))
