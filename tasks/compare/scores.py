"""Compare the scores of two runs, and list the items that changed.

Scores are compared over the items scored in both, with intervals of the difference. The method is that of tasks.scoring.gains,
with the earlier run in the place of `base`: items are paired by dataset and item id, drawn with replacement for both runs at
once, datasets independently of each other. Totals and abilities therefore rest on the metrics that both runs have; their weights
are spread over those as the aggregation spreads what is missing, so that they may differ from the stored scores, which each rest
on all of their own run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import comb

import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL
from schemas.metrics import Metric
from schemas.tables.scores import NormalizedScores
from tasks.compare.regression import AFTER, contributions_by_scope
from tasks.runs.run_tables import Row
from tasks.scoring.gains import BASE, Paired, Spec, dataset_weights, is_clear, pair_datasets, spec_weights, weigh_gain
from tasks.scoring.normalisation import SPEC
from tasks.scoring.reduction import COUNTED
from tasks.scoring.summation import exact_sum
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import Resampling


def compare_scores(before: pl.DataFrame, after: pl.DataFrame, blueprint: Blueprint, resampling: Resampling) -> list[Row]:
    """Compare what changed from one run to another.

    Args:
        before: rows of `item_scores` of one model and setting of one run.
        after: those of the other, whatever the model and setting are called there.
        blueprint: which metrics count, and how much; of the run after. Metrics it does not have are left out.
        resampling: number of resamples (0 = no intervals), and seed.

    Returns:
        The total before the veto, main abilities and datasets in the blueprint's order, as far as they have common items:
        kind, id, before and after on 0-100, difference, its 95 % interval (null: too few items, a grade, or none was asked for),
        whether that leaves out 0, and n_items.

    Raises:
        ScoringError: as score_benchmark.
    """
    named = [_rename(before, BASE), _rename(after, AFTER)]
    tree = tree_tables(blueprint)
    pairs = pair_datasets(pl.concat(named).lazy(), blueprint.datasets, tree, resampling)
    if not pairs:
        return []
    scopes = contributions_by_scope(common_scores(pairs), blueprint, tree)
    weighed = {what: weights for what, rows in scopes.items() if (weights := spec_weights(rows))}
    found = dataset_weights(tree, pairs)
    return [
        *(_change("total", blueprint.name, pairs, weighed[what]) for what in weighed if what == TOTAL),
        *(_change("ability", what, pairs, weighed[what]) for what in weighed if what != TOTAL),
        *(_change("dataset", name, pairs, found[name]) for name in blueprint.datasets if name in found),
    ]


def _rename(rows: pl.DataFrame, setting: str) -> pl.DataFrame:
    return rows.with_columns(model=pl.lit("compared"), setting=pl.lit(setting))


def _change(kind: str, name: str, pairs: Mapping[Spec, Paired], weights: Mapping[Spec, float]) -> Row:
    found = weigh_gain(pairs, weights)
    return {
        "kind": kind,
        "id": name,
        "before": found["base_0_100"],
        "after": found["setting_0_100"],
        "difference": found["gain"],
        **{column: found[column] for column in ("ci_low", "ci_high", "n_items")},
        "is_clear": is_clear(found),
    }


def common_scores(pairs: Mapping[Spec, Paired]) -> pl.DataFrame:
    """Return the common scores as rows of `normalized_scores`: which metrics there are is the same before and after."""
    rows = [("compared", *spec, BASE, paired.scores[0], len(paired.items), len(paired.items)) for spec, paired in pairs.items()]
    return pl.DataFrame(rows, schema=NormalizedScores.create_empty().schema, orient="row")


HALF = 0.5

GRADED: tuple[Metric, ...] = (
    *("judged_rating", "mean_rating", "questionnaire_points", "rouge_1", "rouge_l", "bleu", "token_f1", "word_recall", "qa_f1"),
    *("recall_at_k", "mrr", "language_model_score"),
)
"""Metrics whose values are shares, even where each item of a run happens to earn all or nothing."""


@dataclass(frozen=True)
class Flips:
    """Items of one metric whose value differs between two runs, of `n_items` scored in both.

    With `binary` values (right or wrong, of a metric that has no others) `fell` turned from right to wrong, `rose` from wrong to
    right, and `p_value` is that of McNemar's exact test; else they earn a smaller or larger share, and there is no test. An item
    asked several times is right if it is so more than half of the times; its share is the mean.
    """

    dataset: str
    method: str
    metric: str
    binary: bool
    n_items: int
    fell: tuple[str, ...]
    rose: tuple[str, ...]
    p_value: float | None


def find_flips(before: pl.DataFrame, after: pl.DataFrame) -> tuple[Flips, ...]:
    """Find items that changed, by dataset, method and metric.

    Args:
        before: rows of `item_scores` of one model and setting of one run.
        after: those of the other run.

    Returns:
        One entry per metric with items scored in both, sorted; also those in which nothing changed.
    """
    return tuple(_compare(_by_item(before).join(_by_item(after), on=[*SPEC, "item_id"], suffix="_after")))


def _by_item(rows: pl.DataFrame) -> pl.DataFrame:
    binary = pl.col("value").is_in([0.0, 1.0]).all()
    return (
        rows.filter(pl.col("status").is_in(COUNTED))
        .group_by(*SPEC, "item_id")
        .agg(value=exact_sum(pl.col("value")) / pl.len(), binary=binary)
    )


def _compare(joined: pl.DataFrame) -> Iterator[Flips]:
    for names, rows in sorted(joined.sort("item_id").partition_by(SPEC, as_dict=True, maintain_order=True).items()):
        dataset, method, metric = map(str, names)
        binary = metric not in GRADED and bool((rows["binary"] & rows["binary_after"]).all())
        was, now = pl.col("value"), pl.col("value_after")
        if binary:
            was, now = (was > HALF).cast(pl.Int8), (now > HALF).cast(pl.Int8)
        fell, rose = (tuple(rows.filter(moved)["item_id"]) for moved in (now < was, now > was))
        p_value = mcnemar_exact(len(fell), len(rose)) if binary else None
        yield Flips(dataset, method, metric, binary, rows.height, fell, rose, p_value)


def mcnemar_exact(fell: int, rose: int) -> float:
    """Return the two-sided p-value of McNemar's exact test, under which falling and rising are equally likely.

    Args:
        fell: items right before and wrong after.
        rose: items wrong before and right after.

    Returns:
        In (0, 1]; 1 if nothing changed. Source: McNemar 1947, with the binomial distribution in place of the normal one.
    """
    changed = fell + rose
    tail = sum(comb(changed, count) for count in range(min(fell, rose) + 1))
    p_value: float = 2 * tail / 2**changed
    return min(1.0, p_value)
