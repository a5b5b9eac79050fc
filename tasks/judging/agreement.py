"""Measure how far judges agree with each other and with themselves, and what else than the answer moves their ratings."""

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean
from typing import Literal, get_args

import dataframely as dy
import numpy as np
import polars as pl
from numpy.typing import NDArray

from schemas.errors import ScoringError
from schemas.roles import PEOPLE
from schemas.tables.comparisons import Agreements
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from tasks.judging.answers import judged_answers
from tasks.judging.rubrics import OwnRubrics, Rubric, load_rubric, place_of
from tasks.solvers.answers import ANSWER, require_counterparts

AGREEMENTS_VERSION = "2"
"""Bumped when agreement is measured differently."""

SCOPE = ["dataset", "model", "setting", "rubric", "dimension"]
ASKED = ["rubric", "dimension", "judge", "judge_repetition"]

FEWEST_PAIRS = 3
"""For a correlation: two pairs always lie on a line."""


def agreements_rows(rows: Mapping[str, pl.DataFrame], _settings: object, own: OwnRubrics) -> pl.DataFrame:
    """Compute rows of `agreements` of those of its parents, by layer."""
    judgements, answers, items = (rows[layer] for layer in ("judgements", "answers", "items"))
    rubrics = {name: load_rubric(name, own) for name in judgements["rubric"].unique()}
    return agreements(Judgements.cast(judgements), Answers.cast(answers), Items.cast(items), rubrics)


def agreements(
    judgements: dy.DataFrame[Judgements],
    answers: dy.DataFrame[Answers],
    items: dy.DataFrame[Items],
    rubrics: Mapping[str, Rubric],
) -> dy.DataFrame[Agreements]:
    """Compare all ratings of the same answers.

    A rater is a judge in one of its repetitions: with one judge asked several times, alpha says how far it agrees with itself;
    with several, both kinds of disagreement count. Of `people` each person is a repetition, and all are asked in the same order.
    Ratings that failed are missing, and nothing takes their place.

    There is a row also where nothing can be compared. Ratings that stand alone are in `n_ratings` and `length_correlation`.
    ScoringError: a rubric or dimension is not among those given, or no answer belongs to a rating.
    """
    lengths = judged_answers(answers, items).select(*ANSWER, characters=pl.col("answer").str.len_chars())
    require_counterparts(judgements, lengths, ANSWER, "ratings belong to no answer", "ratings of the answers given")
    rated = judgements.join(lengths, on=ANSWER).join(_places(judgements, rubrics), on=ASKED)
    rows = [dict(zip(SCOPE, scope, strict=True)) | _compare(group) for scope, group in rated.group_by(SCOPE)]
    frame = pl.DataFrame(rows, schema=Agreements.create_empty().schema)
    return Agreements.validate(frame.sort(Agreements.primary_key()))


def _places(judgements: pl.DataFrame, rubrics: Mapping[str, Rubric]) -> pl.DataFrame:
    """Return columns ASKED, and `place`, from 0."""
    calls = judgements.select(ASKED).unique()
    rows = []
    for row in calls.iter_rows(named=True):
        rubric = rubrics.get(row["rubric"])
        if rubric is None or row["dimension"] not in rubric.names:
            raise ScoringError(
                "the ratings belong to an unknown rubric",
                where=f"rubric {row['rubric']}, dimension {row['dimension']}",
                expected="; ".join(f"{name}: {', '.join(other.names)}" for name, other in rubrics.items()),
                next_step="run infer again to rate with the current rubrics",
            )
        turned = 0 if row["judge"] == PEOPLE else row["judge_repetition"]
        rows.append({**row, "place": place_of(rubric, row["dimension"], turned)})
    return pl.DataFrame(rows, schema={**calls.schema, "place": pl.Int64})


def _compare(group: pl.DataFrame) -> dict[str, object]:
    """Return columns of Agreements besides SCOPE."""
    given = group.filter(pl.col("rating").is_not_null())
    of_answers = given.group_by(ANSWER).agg("rating")["rating"].to_list()
    return {
        "judges": sorted(group["judge"].unique()),
        "n_answers": sum(len(ratings) >= FEWEST_RATINGS for ratings in of_answers),
        "n_ratings": given.height,
        "alpha": krippendorff_alpha(of_answers),
        "length_correlation": rank_correlation(given["rating"], given["characters"]),
        "place_effect": _place_effect(given),
    }


def rank_correlation(left: Sequence[float | None] | pl.Series, right: Sequence[float | None] | pl.Series) -> float | None:
    """Return Spearman's correlation over the places where both have a value, ties in the middle of their ranks.

    It is null below three pairs, or if one of the two is constant. The order of the pairs does not matter.
    """
    pairs = pl.DataFrame({"left": left, "right": right}, strict=False).drop_nulls().sort("left", "right")
    if pairs.height < FEWEST_PAIRS or 1 in (pairs["left"].n_unique(), pairs["right"].n_unique()):
        return None
    correlation = pairs.select(pl.corr("left", "right", method="spearman")).item()
    return round(float(correlation), 12)  # arithmetic may go past 1 by its last digit


def _place_effect(given: pl.DataFrame) -> float | None:
    """Return the mean, over answers and judges who gave both, of the rating at the first place less that at the last.

    What the example in the instruction says at a place is part of the effect. Null if no judge rated an answer at two places.
    """
    whole = [*ANSWER, "judge"]
    first, last = (given.filter(pl.col("place") == end) for end in (pl.col("place").min(), pl.col("place").max()))
    means = [ends.group_by(whole).agg(pl.col("rating").mean()) for ends in (first, last)]
    pairs = means[0].join(means[1], on=whole, suffix="_last")
    if given["place"].n_unique() == 1 or pairs.is_empty():
        return None
    return fmean(pairs["rating"] - pairs["rating_last"])


FEWEST_RATINGS = 2
"""Of a unit: with one rating there is nothing to compare."""

AlphaLevel = Literal["nominal", "ordinal", "interval"]
"""Of measurement: what a difference of two ratings is worth."""
ALPHA_LEVELS: tuple[AlphaLevel, ...] = get_args(AlphaLevel)


def krippendorff_alpha(units: Sequence[Sequence[float | None]], level: AlphaLevel = "interval") -> float | None:
    """Compute Krippendorff's alpha: 1 = raters agree, 0 = as far as chance would have it, below 0 = less than that.

    It is null if no unit has two ratings, or all ratings of such units are the same: without variance it is not defined. The
    order of units and of their ratings does not matter, to the last bit.

    Args:
        units: what was rated, each with the ratings it got; null = a rater gave none. Who gave a rating does not matter.
        level: squared differences are of the values (interval), of their ranks among all ratings (ordinal), or 0 and 1 (nominal).

    Source: Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E.
    """
    rated = [[rating for rating in unit if rating is not None] for unit in units]
    paired = [ratings for ratings in rated if len(ratings) >= FEWEST_RATINGS]
    values = sorted({rating for ratings in paired for rating in ratings})
    if len(values) < FEWEST_RATINGS:
        return None
    coincidences, of_values = _count_coincidences(paired, values)
    differences = 1 - np.eye(len(values))
    if level != "nominal":
        places = values if level == "interval" else of_values.cumsum() - of_values / 2
        differences = np.subtract.outer(places, places) ** 2.0
    observed = fsum((coincidences * differences).flat)
    expected = fsum((np.outer(of_values, of_values) * differences).flat) / (of_values.sum() - 1)
    return float(1 - observed / expected)


def _count_coincidences(
    units: Sequence[Sequence[float]], values: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return how often each two values meet in a unit, and how often each occurs.

    Each rating of a unit counts once in all, however many others there are. Whole numbers are summed before they are divided:
    fractions summed unit by unit would depend on the units' order.
    """
    counts = np.array([[ratings.count(value) for value in values] for ratings in units], dtype=np.int64)
    sizes, coincidences = counts.sum(axis=1), np.zeros((len(values), len(values)))
    for size in np.unique(sizes):
        of_size = counts[sizes == size]
        # A rating does not meet itself.
        coincidences += (of_size.T @ of_size - np.diag(of_size.sum(axis=0))) / (size - 1)
    return coincidences, counts.sum(axis=0)
