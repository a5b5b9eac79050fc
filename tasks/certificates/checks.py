"""Figures of a judge's checks: what a changed text, order or instruction does to its ratings, with the limits they must keep."""

from collections.abc import Callable, Collection, Iterator, Mapping
from math import isnan, nan
from typing import Any, NamedTuple

import dataframely as dy
import polars as pl

from schemas.documents.certificates import CheckFigure
from schemas.tables.ratings import UNIT, CertificateRatings
from tasks.certificates.perturbations import RELEVANCE, Check, load_perturbations, replies_of
from tasks.judging.rubrics import Rubric
from tasks.ratings.reading import RatedSource
from tasks.statistics.paired import compare_pairs
from tasks.statistics.raters import partial_spearman
from tasks.statistics.reliability import FEWEST_RATINGS, krippendorff_alpha

D, LOWER, ALPHA = "mean d", "share with d <= -1", "alpha"
FALLS, RISES, BY_JUDGES = pl.col("gain") <= -1, pl.col("gain") >= 1, pl.col("rater_kind") == "judge"

Names = Collection[str]


class Estimate(NamedTuple):
    """A value of n pairs, its 95 and 90 % intervals, and the pairs left out: their parent has no step to the end of the scale."""

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    low_90: float | None = None
    high_90: float | None = None
    no_room: int = 0


class _Given(NamedTuple):
    """Ratings of one dimension: as they are, of these in the first order, as changed, and of the source; the judge's name.

    Of a change: `d`; `gain` = d, or -d where low is good; `below`, `above`: steps from the parent to the worst and best rating.
    """

    rated: pl.DataFrame
    first: pl.DataFrame
    changed: pl.DataFrame
    source: pl.DataFrame
    judge: str


Found = Iterator[tuple[str, str, Estimate]]  # figure, variant, estimate


def _share(hits: pl.Series) -> Estimate:
    from scipy.stats import binomtest  # noqa: PLC0415  a second, and only certificates need it

    if hits.is_empty():
        return Estimate(0)
    interval = binomtest(int(hits.sum()), len(hits)).proportion_ci(method="wilson")
    return Estimate(len(hits), hits.mean(), interval.low, interval.high)  # type: ignore[arg-type]


def _mean(rows: pl.DataFrame, value: pl.Expr) -> Estimate:
    """Return the mean over clusters of their mean value, in steps of the scale."""
    means = rows.group_by("cluster_id").agg(value=value.mean()).drop_nulls().sort("cluster_id")["value"]
    # Where one of its texts changes by a step, the mean of a cluster does by less.
    test = compare_pairs(means.to_numpy(), 0.0, step=means.len() / max(rows.height, 1))
    return Estimate(rows.height, test.mean, test.ci_low, test.ci_high, test.low_90, test.high_90)


def _differences(given: _Given) -> Found:
    for (variant,), own in given.changed.group_by("variant", maintain_order=True):
        yield D, variant, _mean(own, pl.col("d"))
        yield "mean abs d", variant, _mean(own, pl.col("d").abs())


def _shares(rows: pl.DataFrame, figure: str, hit: pl.Expr, room: str = "") -> Found:
    """Yield shares of all variants together and of each."""
    named = rows.filter(pl.col("variant") != "").group_by("variant", maintain_order=True)
    for (variant,), own in ((("",), rows), *named):
        able = own.filter(pl.col(room) >= 1) if room else own
        yield figure, variant, _share(able.select(hit).to_series())._replace(no_room=own.height - able.height)


def _repeat(given: _Given) -> Found:
    again = given.first.group_by("cluster_id", *UNIT).agg("rating").sort(UNIT)
    again = again.filter(pl.col("rating").list.len() >= FEWEST_RATINGS)
    lists = pl.col("rating").list
    yield ALPHA, "", Estimate(again.height, krippendorff_alpha(again["rating"].to_list(), "ordinal"))
    yield "share of answers rated identically", "", _share(again.select(lists.n_unique() == 1).to_series())
    yield "standard deviation within an answer", "", Estimate(again.height, again.select(lists.var().mean().sqrt()).item())
    yield "swing: highest - lowest of an answer", "", _mean(again, lists.max() - lists.min())


def _dimension_order(given: _Given) -> Found:
    place, rating = pl.col("place"), pl.col("rating")
    ends = given.rated.with_columns(first=place.min(), last=place.max()).filter(pl.col("first") < pl.col("last"))
    d = rating.filter(place == pl.col("first")).mean() - rating.filter(place == pl.col("last")).mean()
    yield "place effect", "", _mean(ends.group_by("cluster_id", *UNIT).agg(d=d).drop_nulls("d"), pl.col("d"))


def _answer_order(given: _Given) -> Found:
    both = given.changed.group_by(UNIT).agg(pl.len(), turned=pl.col("rating").n_unique() == 1).filter(pl.col("len") > 1)
    yield "share of decisions that turn", "", _share(both["turned"])  # the same place is preferred whichever answer stands there


def _length(given: _Given) -> Found:
    yield from _differences(given)
    people = given.source.filter(~BY_JUDGES).group_by(UNIT).agg(people=pl.col("rating").mean())
    rated = given.first.group_by(*UNIT, "characters").agg(pl.col("rating").mean()).join(people, on=UNIT)
    sides = rated.select(pl.col("rating", "characters", "people").cast(pl.Float64)).to_numpy().T
    value = partial_spearman(*sides) if rated.height else nan
    yield "partial Spearman with length", "", Estimate(rated.height, None if isnan(value) else value)


def family_of(model: pl.Expr) -> pl.Expr:
    """Return the letters that a model's name begins with, after an owner's name: `openai/GPT-4o` is of the family gpt."""
    return model.str.to_lowercase().str.extract(r"([a-z]*)[^/]*$")


def compares_families(ratings: pl.DataFrame, judge: str) -> bool:
    """Return whether a judge's family and another one wrote answers, and judges of other families rated."""
    system, rater, own = (family_of(name) for name in (pl.col("system"), pl.col("rater"), pl.lit(judge)))
    are_own = ratings.filter(system != "").select(system == own).to_series()
    return are_own.n_unique() == 2 and not ratings.filter(BY_JUDGES, rater != own).is_empty()  # noqa: PLR2004  own and others


def _self_preference(given: _Given) -> Found:
    """Compare, on the same answers, with judges of other families: what people say of these cancels out. In steps."""
    of_judges = given.source.filter(BY_JUDGES, family_of(pl.col("rater")) != family_of(pl.lit(given.judge)))
    step = {value: float(at) for at, value in enumerate(of_judges["scale"].to_list()[0] if of_judges.height else ())}
    others = of_judges.group_by(UNIT).agg(other=pl.col("rating").replace_strict(step, return_dtype=pl.Float64).mean())
    rated = given.first.group_by("cluster_id", *UNIT).agg((pl.col("rating") - pl.col("lowest")).mean())
    answers = rated.join(others, on=UNIT).join(given.source.filter(~BY_JUDGES, pl.col("system") != ""), on=UNIT, how="semi")
    own, beyond = family_of(pl.col("system")) == family_of(pl.lit(given.judge)), pl.col("rating") - pl.col("other")
    d = answers.group_by("cluster_id").agg(d=beyond.filter(own).mean() - beyond.filter(~own).mean()).drop_nulls("d")
    yield "own family less others, beyond other judges", "", _mean(d, pl.col("d"))


def _flipped_turn(given: _Given) -> Found:
    control = pl.col("variant").str.starts_with("control")
    yield from _shares(given.changed.filter(~control), LOWER, FALLS, "below")
    yield from _shares(given.changed.filter(control), "share of controls with d <= -1", FALLS, "below")


def _wording(given: _Given) -> Found:
    both = given.changed.filter(variant="strict").join(given.changed.filter(variant="lenient"), on=UNIT)
    yield "lenient - strict", "", _mean(both, pl.col("rating_right") - pl.col("rating"))


MEASURES: Mapping[str, Callable[[_Given], Found]] = {
    "repeat": _repeat,
    "format": _differences,
    "dimension_order": _dimension_order,
    "answer_order": _answer_order,
    "length": _length,
    "self_preference": _self_preference,
    "flipped_turn": _flipped_turn,
    "wrong_answer": lambda given: _shares(given.changed, LOWER, FALLS, "below"),
    "injection": lambda given: _shares(given.changed, "share with d >= 1", RISES, "above"),
    "floor": lambda given: _shares(given.changed, "share not at the lowest rating", pl.col("rating") != pl.col("lowest")),
    "name": _differences,
    "wording": _wording,
}


def _keeps(rule: str, margin: float, found: Estimate) -> bool | None:
    """Return whether a value keeps a rule; null = too few pairs or clusters to say."""
    value, low, high = found.value or 0.0, found.low, found.high
    if rule.startswith("at "):
        return value >= margin if rule.startswith("at least") else abs(value) <= margin
    if rule.startswith("equivalent"):
        within = found.low_90 is not None and found.high_90 is not None and -margin < found.low_90 and found.high_90 < margin
        return within or (None if found.low_90 is None or abs(value) <= margin else False)
    if low is None or high is None:
        return None
    return low <= margin <= high if rule.startswith("interval") else value == 0 and (high < margin or None)


def _figure(check: Check, figure: str, variant: str, found: Estimate, *, tried: bool, held: bool) -> dict[str, Any]:
    """Return columns of a figure. A limit is of all variants together, that of mean d of each; `held` false: not applicable."""
    rule, margin = check.limits.get(figure, ("", None)) if not variant or figure == D else ("", None)
    passed, why = None if margin is None else _keeps(rule, margin, found), None
    if margin is not None and not held:
        rule, margin, passed, why = "", None, None, f"not applicable: needs {check.needs}"
    elif found.value is None and figure == ALPHA and found.n:
        passed, why = True, "all ratings are equal, in every repetition"
    elif found.value is None:
        passed, why = None, "too few ratings" if tried else "not tried"
    elif margin is not None and passed is None:
        why = f"{found.n} pairs or their clusters are too few to decide{f': needs {check.needs}' if rule.startswith('0') else ''}"
    why = f"{why}; {found.no_room} more had no room" if why and found.no_room else why
    named = {"figure": figure, "variant": variant, "limit": rule.format(margin), "margin": margin, "undefined_because": why}
    return {**named, "passed": passed, "value": found.value, "ci_low": found.low, "ci_high": found.high, "n": found.n}


def check_figures(
    given: dy.DataFrame[CertificateRatings], source: RatedSource, rubric: Rubric, checks: Names, judge: str, applicable: Names
) -> list[CheckFigure]:
    """Return the figures of all checks, each with whether it keeps its limit; those that were not tried, with that as a reason.

    d = rating of a changed text minus the mean rating of the text as it is, asked at the same place among the dimensions. Means
    and their intervals are of clusters, in steps of the scale; shares are of pairs, with Wilson's interval. Shares with a step up
    or down leave out pairs whose parent has no room for it. `judge`: name of the called model; `applicable`: checks with limits.
    """
    known, alike, place = load_perturbations(), [*UNIT, "dimension", "place"], pl.col("place")
    lengths = [sum(map(len, replies_of(row["turns"] or row["text"]))) for row in source.texts.iter_rows(named=True)]
    texts = source.texts.select(*UNIT, "cluster_id", characters=pl.Series(lengths, dtype=pl.Int64))
    rows = given.drop_nulls("rating").join(texts, on=UNIT)
    falls = pl.col("dimension").is_in(source.ratings.filter(~pl.col("higher_is_better"))["dimension"].unique().to_list())
    worst, best = (pl.when(side).then("highest").otherwise("lowest") for side in (falls, ~falls))
    rated, parent, d = rows.filter(perturbation=""), pl.col("parent"), pl.col("rating") - pl.col("parent")
    parents = rated.group_by(alike).agg(parent=pl.col("rating").mean())
    changed = rows.filter(pl.col("perturbation") != "").join(parents, on=alike, how="left").sort("variant", *UNIT)
    changed = changed.filter(parent.is_not_null() | (pl.col("dimension") == known.preferred.name))
    room = {"below": (parent - worst).abs(), "above": (parent - best).abs()}
    changed = changed.with_columns(d=d, gain=pl.when(falls).then(-d).otherwise(d), **room)
    dimensions = [name for name in rubric.names if name in given["dimension"]]
    relevance = [name for name in dimensions if RELEVANCE in name]
    of_whole = {"wrong_answer": relevance or ["relevance"], "answer_order": [known.preferred.name]}
    figures = list[CheckFigure]()
    for name, check in known.checks.items():
        own, tried = changed.filter(perturbation=name), name in checks
        for dimension in of_whole.get(name, dimensions):
            own_rated, of_source = rated.filter(dimension=dimension), source.ratings.filter(dimension=dimension)
            first = own_rated.filter(place == place.filter(pl.col("repetition") == 0).first())
            ratings = _Given(own_rated, first, own.filter(dimension=dimension), of_source, judge)
            found = [*MEASURES[name](ratings)] if tried else []
            rises = of_source["higher_is_better"].all()
            has = {"wrong_answer": bool(relevance), "self_preference": compares_families(of_source, judge)}
            held = {**has, "floor": rises, "flipped_turn": rises}.get(name, True) and name in applicable
            found += [(figure, "", Estimate(0)) for figure in sorted(check.limits.keys() - {figure for figure, _, _ in found})]
            named = {"check": name, "dimension": dimension}
            figures += [CheckFigure(**named, **_figure(check, *each, tried=tried, held=held)) for each in found]
    return figures
