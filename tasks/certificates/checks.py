"""Figures of a judge's checks: what a changed text, order or instruction does to its ratings, with the limits they must keep."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple, Protocol

import dataframely as dy
import polars as pl

from schemas.documents.certificates import CheckFigure
from schemas.tables.ratings import UNIT, CertificateRatings
from tasks.certificates import perturbations as names
from tasks.certificates.agreement import MEAN
from tasks.certificates.perturbations import CHECKS, CONTROL, WORDINGS, Limit, load_banks
from tasks.judging.rubrics import Rubric
from tasks.statistics.equivalence import paired_test
from tasks.statistics.reliability import FEWEST_RATINGS, krippendorff_alpha, rank_correlation

Z = 1.959963984540054
"""Quantile of the normal distribution at 0.975."""


class Source(Protocol):
    """Ratings by people and other judges (HumanRatings), and their texts (RatedTexts)."""

    @property
    def ratings(self) -> pl.DataFrame: ...  # noqa: D102
    @property
    def texts(self) -> pl.DataFrame: ...  # noqa: D102


class Estimate(NamedTuple):
    """A value that rests on n pairs, its 95 % interval, and its 90 % interval, which tells equivalence."""

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    low_90: float | None = None
    high_90: float | None = None
    constant: bool = False
    """All ratings are equal: alpha is undefined, and no repetition differs."""


class _Given(NamedTuple):
    """Ratings of one dimension: of texts as they are, of what the check changed (`d`; `gain` = d, or -d where low is good)."""

    rated: pl.DataFrame
    changed: pl.DataFrame
    source: pl.DataFrame
    judge: str


Found = Iterator[tuple[str, str, Estimate]]
"""Figure, variant, estimate."""


def wilson_interval(hits: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of n. Source: Wilson 1927."""
    share, spread = hits / n, Z**2 / n
    half = Z * sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, (share + spread / 2 - half) / (1 + spread)), min(1.0, (share + spread / 2 + half) / (1 + spread))


def _share(hits: pl.Series) -> Estimate:
    return Estimate(len(hits), hits.mean(), *wilson_interval(int(hits.sum()), len(hits))) if len(hits) else Estimate(0)  # type: ignore[arg-type]


def _mean(rows: pl.DataFrame, value: pl.Expr) -> Estimate:
    """Return the mean over clusters of their mean value."""
    means = rows.group_by("cluster_id").agg(value=value.mean()).drop_nulls().sort("cluster_id")["value"]
    test = paired_test(means.to_numpy(), 0)
    return Estimate(rows.height, test.mean, test.ci_low, test.ci_high, test.low_90, test.high_90)


def _by_variant(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (variant,), own in rows.sort("variant", *UNIT).group_by("variant", maintain_order=True):
        yield str(variant), own


def _differences(given: _Given) -> Found:
    for variant, own in _by_variant(given.changed):
        yield names.D, variant, _mean(own, pl.col("d"))
        yield "mean abs d", variant, _mean(own, pl.col("d").abs())


def _shares(rows: pl.DataFrame, figure: str, hit: pl.Expr) -> Found:
    for variant, own in (("", rows), *_by_variant(rows)):
        yield figure, variant, _share(own.select(hit).to_series())


def _first_order(rated: pl.DataFrame) -> pl.DataFrame:
    return rated.filter(pl.col("place") == pl.col("place").filter(pl.col("repetition") == 0).first())


def _repeat(given: _Given) -> Found:
    again = _first_order(given.rated).group_by("cluster_id", *UNIT).agg("rating").sort(UNIT)
    again = again.filter(pl.col("rating").list.len() >= FEWEST_RATINGS)
    lists = pl.col("rating").list
    constant = again["rating"].explode().n_unique() == 1
    alpha = krippendorff_alpha(again["rating"].to_list(), "ordinal")
    yield names.ALPHA, "", Estimate(again.height, alpha, constant=constant)
    yield "share of answers rated identically", "", _share(again.select(lists.n_unique() == 1).to_series())
    if again.height:
        variance = again.select(lists.var().mean()).item()
        yield "standard deviation within an answer", "", Estimate(again.height, sqrt(variance))
        yield "swing: highest - lowest of an answer", "", _mean(again, lists.max() - lists.min())


def _dimension_order(given: _Given) -> Found:
    place, rating = pl.col("place"), pl.col("rating")
    ends = given.rated.with_columns(first=place.min(), last=place.max()).filter(pl.col("first") < pl.col("last"))
    d = rating.filter(place == pl.col("first")).mean() - rating.filter(place == pl.col("last")).mean()
    yield names.PLACE, "", _mean(ends.group_by("cluster_id", *UNIT).agg(d=d).drop_nulls("d"), pl.col("d"))


def _answer_order(given: _Given) -> Found:
    both = given.changed.group_by(UNIT).agg(pl.len(), turned=pl.col("rating").n_unique() == 1).filter(pl.col("len") > 1)
    yield names.TURNED, "", _share(both["turned"])  # the same place is preferred whichever answer stands there


def _length(given: _Given) -> Found:
    yield from _differences(given)
    people = _people(given.source, pl.col("rater_kind") != "judge")
    rated = _first_order(given.rated).group_by(*UNIT, "characters").agg(pl.col("rating").mean())
    joined = rated.join(people.group_by(UNIT).agg(people=pl.col("rating").mean()), on=UNIT)
    yield names.PARTIAL, "", Estimate(joined.height, partial_spearman(joined["rating"], joined["characters"], joined["people"]))


def partial_spearman(left: pl.Series, right: pl.Series, third: pl.Series) -> float | None:
    """Return Spearman's correlation of two columns given a third; null where it is undefined."""
    pairs = ((left, right), (left, third), (right, third))
    a, b, c = (rank_correlation(*pair) for pair in pairs)
    if a is None or b is None or c is None or 1 in (abs(b), abs(c)):
        return None
    return (a - b * c) / sqrt((1 - b**2) * (1 - c**2))


def _people(source: pl.DataFrame, which: pl.Expr) -> pl.DataFrame:
    return source.filter(which, pl.col("turn").is_null()).drop_nulls("rating").with_columns(pl.col("system").fill_null(""))


def family_of(model: str) -> str:
    """Return the letters that a model's name begins with, after an owner's name: `openai/GPT-4o` is of the family gpt."""
    return re.sub(r"[^a-z].*", "", model.rsplit("/", 1)[-1].lower())


def _self_preference(given: _Given) -> Found:
    """Compare, on the same answers, with judges of other families: what people say of these cancels out. In steps."""
    own, family = family_of(given.judge), pl.col("rater").map_elements(family_of, return_dtype=pl.String)
    of_judges = _people(given.source, pl.col("rater_kind") == "judge").filter(family != own)
    step = {value: float(at) for at, value in enumerate(of_judges["scale"].to_list()[0] if of_judges.height else ())}
    others = of_judges.group_by(UNIT).agg(other=pl.col("rating").replace_strict(step, return_dtype=pl.Float64).mean())
    rated = _first_order(given.rated).group_by("cluster_id", *UNIT).agg((pl.col("rating") - pl.col("lowest")).mean())
    people = _people(given.source, pl.col("rater_kind") != "judge")
    answers = (
        rated.join(others, on=UNIT).join(people, on=UNIT, how="semi").with_columns(beyond=pl.col("rating") - pl.col("other"))
    )
    is_own = pl.col("system").map_elements(family_of, return_dtype=pl.String) == own
    contrast = pl.col("beyond").filter(is_own).mean() - pl.col("beyond").filter(~is_own).mean()
    yield names.OWN, "", _mean(answers.group_by("cluster_id").agg(d=contrast, n=pl.len()).drop_nulls("d"), pl.col("d"))


def _flipped_turn(given: _Given) -> Found:
    control, lower = pl.col("variant").str.starts_with(CONTROL), pl.col("gain") <= -1
    yield from _shares(given.changed.filter(~control), names.LOWER, lower)
    yield from _shares(given.changed.filter(control), names.LOWER_CONTROL, lower)


def _wording(given: _Given) -> Found:
    strict, lenient = (given.changed.filter(variant=name) for name in WORDINGS)
    both = strict.join(lenient.select(*UNIT, lenient="rating"), on=UNIT)
    yield "lenient - strict", "", _mean(both, pl.col("lenient") - pl.col("rating"))


def _keeps(limit: Limit, found: Estimate) -> bool | None:
    """Return whether a value keeps its limit; null = too few pairs or clusters to say."""
    value, margin = found.value or 0.0, limit.margin
    if limit.rule == names.WITHIN:
        return None if found.low_90 is None or found.high_90 is None else -margin < found.low_90 and found.high_90 < margin
    if limit.rule == names.HOLDS:
        return None if found.low is None or found.high is None else found.low <= margin <= found.high
    if limit.rule == names.NONE:
        return None if value == 0 and (found.high is None or found.high >= margin) else value == 0
    return value >= margin if limit.rule == names.LEAST else abs(value) <= margin


def _figure(check: str, dimension: str, found: tuple[str, str, Estimate], *, tried: bool) -> CheckFigure:
    figure, variant, estimate = found
    row, passed, why = CHECKS[check], None, None
    limit = row.limits.get(figure) if estimate.value is None or bool(variant) == row.by_variant else None
    if estimate.constant:
        passed, why = True, "all ratings are equal, in every repetition"
    elif estimate.value is None:
        why = f"too few ratings{row.needs and f', or not {row.needs}'}" if tried else "not tried"
    elif limit is not None and (passed := _keeps(limit, estimate)) is None:
        why = f"{estimate.n} pairs or their clusters are too few to decide"
    return CheckFigure(
        check=check,
        variant=variant,
        dimension=dimension,
        figure=figure,
        value=estimate.value,
        ci_low=estimate.low,
        ci_high=estimate.high,
        n=estimate.n,
        limit="" if limit is None else str(limit),
        margin=None if limit is None else limit.margin,
        passed=passed,
        undefined_because=why,
    )


MEASURES: Mapping[str, Callable[[_Given], Found]] = {
    "repeat": _repeat,
    "format": _differences,
    "dimension_order": _dimension_order,
    "answer_order": _answer_order,
    "length": _length,
    "self_preference": _self_preference,
    "flipped_turn": _flipped_turn,
    "wrong_answer": lambda given: _shares(given.changed, names.LOWER, pl.col("gain") <= -1),
    "injection": lambda given: _shares(given.changed, names.HIGHER, pl.col("gain") >= 1),
    "floor": lambda given: _shares(given.changed, names.ABOVE, pl.col("rating") != pl.col("worst")),
    "name": _differences,
    "wording": _wording,
}


def check_figures(
    given: dy.DataFrame[CertificateRatings], source: Source, rubric: Rubric, checks: Sequence[str], judge: str = ""
) -> list[CheckFigure]:
    """Return the figures of all checks, each with whether it keeps its limit; those that were not tried, with that as a reason.

    d = rating of a changed text minus the mean rating of the text as it is, asked at the same place among the dimensions. Means
    and their intervals are of clusters, in steps of the scale; shares are of pairs, with Wilson's interval.

    `source`: people's ratings tell in which dimensions a low rating is good; ratings by other judges serve self_preference, which
    needs the name of this `judge`, too.
    """
    texts = source.texts.select(*UNIT, "cluster_id", characters=pl.col("text").str.len_chars())
    rows = given.drop_nulls("rating").join(texts, on=UNIT)
    falls = pl.col("dimension").is_in(source.ratings.filter(~pl.col("higher_is_better"))["dimension"].unique().to_list())
    rated, alike = rows.filter(perturbation=""), [*UNIT, "dimension", "place"]
    parents, d = rated.group_by(alike).agg(parent=pl.col("rating").mean()), pl.col("rating") - pl.col("parent")
    changed = rows.filter(pl.col("perturbation") != "").join(parents, on=alike, how="left")
    worst = pl.when(falls).then("highest").otherwise("lowest")
    changed = changed.with_columns(d=d, gain=pl.when(falls).then(-d).otherwise(d), worst=worst)
    paired, preferred = changed.drop_nulls("d"), load_banks().preferred.name
    dimensions = [name for name in rubric.names if name in given["dimension"]]
    relevance = [name for name in dimensions if "relevan" in name]
    figures = list[CheckFigure]()
    for check, row in CHECKS.items():
        own = paired.filter(perturbation=check)
        of_whole = {"wrong_answer": relevance or [MEAN], "answer_order": [preferred]}
        for dimension in dimensions if row.by_dimension else of_whole[check]:
            pairs = (changed.filter(perturbation=check) if dimension == preferred else own).filter(dimension=dimension)
            if dimension == MEAN:
                pairs = own.group_by("variant", *UNIT).agg(pl.col("gain").mean())
            of_dimension = _Given(rated.filter(dimension=dimension), pairs, source.ratings.filter(dimension=dimension), judge)
            found = [*MEASURES[check](of_dimension)] if check in checks else []
            missing = row.limits.keys() - {figure for figure, _, _ in found}
            found += [(figure, "", Estimate(0)) for figure in sorted(missing)]
            figures += [_figure(check, dimension, each, tried=check in checks) for each in found]
    return figures
