"""Items that another run answers otherwise: right before and wrong now, and the other way round."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import polars as pl

from schemas.vocabulary import Metric
from tasks.scoring.normalisation import SPEC
from tasks.scoring.reduction import COUNTED
from tasks.scoring.summation import exact_sum

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
    """Items that changed, by dataset, method and metric.

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
    """Two-sided p-value of McNemar's exact test: were falling and rising equally likely, how often would they differ so much?

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
