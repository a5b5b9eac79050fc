"""A judge's ratings of answers, and what they come to."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.blueprint import MethodSpec
from schemas.errors import ScoringError
from schemas.tables.responses import Judgements
from tasks.solvers.answers import ANSWER


class Rating(NamedTuple):
    """A rating and the ends of its scale."""

    rating: int
    lowest: int
    highest: int


def rating_share(ratings: Sequence[Rating]) -> float:
    """Return the mean of the ratings' places on their scales: 0 at the lowest, 1 at the highest."""
    return fmean((rating - lowest) / (highest - lowest) for rating, lowest, highest in ratings)


def rating_level(ratings: Sequence[Rating]) -> float:
    """Return the mean of rating / highest; raise ScoringError if a scale reaches below 0.

    Source: arXiv 2509.07403, Table 2: 20 x the mean on 1 to 5 or 0 to 5 is 100 x this.
    """
    if wrong := [rating for rating in ratings if rating.lowest < 0 or rating.highest <= 0]:
        raise ScoringError(
            "mean_rating divides a rating by the highest one, and a scale reaches below 0",
            expected="scales from 0 or above",
            got=f"a scale from {wrong[0].lowest} to {wrong[0].highest}",
            next_step="score the dataset by judged_rating, or give the rubric another scale",
        )
    return fmean(rating / highest for rating, _, highest in ratings)


CompleteRatings = Mapping[tuple[Any, ...], Sequence[Sequence[Rating]]]
"""By the answer (values of ANSWER): what the judge gave it each time that it rated all dimensions."""


def read_ratings(judgements: dy.DataFrame[Judgements] | None, method: MethodSpec) -> CompleteRatings:
    """Return the ratings a judged method needs; a time at which a dimension is missing is left out.

    The dimensions are those the judge was asked for anywhere: the executor writes a row for each, also where the judge failed.

    Raises:
        ScoringError: if there are no judgements.
    """
    if judgements is None:
        raise ScoringError(
            f"method {method.id} needs a judge's ratings",
            expected=f"judgements by rubric {method.rubric}",
            got="none",
            next_step="run the infer stage with a judge",
        )
    of_rubric = judgements.filter(pl.col("rubric") == method.rubric)
    given: dict[tuple[Any, ...], list[Rating]] = {}
    for row in of_rubric.filter(pl.col("rating").is_not_null()).iter_rows(named=True):
        time = (*(row[name] for name in ANSWER), row["judge_repetition"])
        given.setdefault(time, []).append(Rating(row["rating"], row["lowest"], row["highest"]))
    complete: dict[tuple[Any, ...], list[list[Rating]]] = {}
    for (*answer, _), ratings in given.items():
        if len(ratings) == of_rubric["dimension"].n_unique():
            complete.setdefault(tuple(answer), []).append(ratings)
    return complete
