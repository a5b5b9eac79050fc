"""Measure how far judges agree with each other and with themselves, and what else than the answer moves their ratings."""

from collections.abc import Mapping
from statistics import fmean

import dataframely as dy
import polars as pl

from schemas.errors import ScoringError
from schemas.roles import PEOPLE
from schemas.tables.comparisons import Agreements
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from tasks.judging.answers import judged_answers
from tasks.judging.rubrics import OwnRubrics, Rubric, load_rubric, place_of
from tasks.solvers.answers import ANSWER, require_counterparts
from tasks.statistics.reliability import FEWEST_RATINGS, krippendorff_alpha, rank_correlation

AGREEMENTS_VERSION = "2"
"""Bumped when agreement is measured differently."""

SCOPE = ["dataset", "model", "setting", "rubric", "dimension"]
ASKED = ["rubric", "dimension", "judge", "judge_repetition"]


def agreements_rows(rows: Mapping[str, pl.DataFrame], own: OwnRubrics) -> pl.DataFrame:
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
