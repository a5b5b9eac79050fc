"""Ratings of one dimension: of a judge with people, of people among each other, and of the best constant."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from tasks.scoring.uncertainty import limits_of
from tasks.statistics import raters
from tasks.statistics.raters import FEWEST_SYSTEMS, LEVELS, STATISTICS, Units
from tasks.statistics.reliability import ALPHA_LEVELS, FEWEST_PAIRS, FEWEST_RATINGS
from tasks.statistics.resampling import Floats, design_effects, shares

PAIRED, DISTANCES, OF_VALUES = slice(3), slice(3, 5), slice(5)
"""Places in STATISTICS: of two ratings on one scale, for which a judge is compared with each person; those in values; both."""

EXACT, KAPPA, MAE = (STATISTICS.index((name, LEVELS[0])) for name in ("exact", "kappa_quadratic", "mae"))

SIDES = ("value", "human_value", "same_targets_value", "constant_value")
"""Of the judge with people, each person with the others, the judge with those others, the best constant with people."""

FEW, NO_ITEM = "too few common units, no variance or not on the scale", "no item has three unlike systems"
NOMINAL, NOT_WHOLE = "the ratings are names without an order", "too few units that all raters rated, or no variance"
PAIRS, LEAVE_ONE_OUT = "pairs of people", "each person with the mean of the others"
PAIRS_OF_TWO = "pairs of people, since they are fewer than three"
MOST_UNDEFINED = 0.05
"""Share of draws without a value above which there is no interval."""

REASONS = ("undefined_because", "human_undefined_because")


class Ratings(NamedTuple):
    """Of one dimension by people, [units, raters] with NaN where there is none; `identified`: a rater is the same throughout.

    `nominal`: numbers on the scale stand for names. `seed`: of draws of single units.
    """

    people: Floats
    identified: bool
    scale: Floats
    rises: bool
    nominal: bool
    units: Units
    seed: int


def among_people(ratings: Ratings, tail: float) -> pl.DataFrame:
    """Return alpha of all ratings, and ICC of the units that all raters rated: one-way where it is not known who rated."""
    people = ratings.people[:, np.isfinite(ratings.people).any(axis=0)]
    given = np.isfinite(people).sum(axis=1)
    paired, whole = given >= FEWEST_RATINGS, people[given == people.shape[1]]
    alphas = raters.alphas(people, ratings.units)
    draws = np.array([alphas[level] for level in ALPHA_LEVELS])
    if ratings.nominal:
        draws[[level != "nominal" for level in ALPHA_LEVELS]] = np.nan
    of_alpha = pl.DataFrame({"statistic": [f"alpha_{level}" for level in ALPHA_LEVELS]}).with_columns(
        value=pl.Series(draws[:, 0], nan_to_null=True),
        n_units=pl.lit(int(paired.sum())),
        n_pairs=pl.lit(int(given[paired].sum())),
        n_clusters=pl.lit(len(np.unique(ratings.units.clusters[paired]))),
        undefined_because=pl.lit(NOMINAL if ratings.nominal else FEW),
    )
    names = [] if ratings.nominal else ["icc_2_1", "icc_2_k"] if ratings.identified else ["icc_1_1"]
    icc = raters.intraclass_correlations(whole) if min(whole.shape) > 1 else {}
    of_icc = pl.DataFrame(
        {"statistic": names, "value": np.array([icc.get(name, np.nan) for name in names])},
        {"statistic": pl.String, "value": pl.Float64},
        nan_to_null=True,
    ).with_columns(
        n_units=pl.lit(len(whole)), n_items_left_out=int((given > 0).sum()) - len(whole), undefined_because=pl.lit(NOT_WHOLE)
    )
    both = pl.concat([of_alpha.hstack(interval("value", draws[:, 1:], tail)), of_icc], how="diagonal_relaxed")
    why = pl.when(pl.col("value").is_null()).then("undefined_because")
    return both.with_columns(level=pl.lit(LEVELS[0]), undefined_because=why)


def halo_row(dimensions: Floats, people: Floats, units: Units, tail: float) -> pl.DataFrame:
    """Return a row: halo of a rater's dimensions, [dimensions, units], and of people, [resamples]."""
    draws = raters.halo(dimensions, units)
    columns = {"statistic": "halo", "level": LEVELS[0], "n_units": int(np.isfinite(dimensions).all(axis=0).sum())}
    values = {"value": draws[:1], "human_value": people[:1]}
    row = pl.DataFrame(columns).with_columns(pl.Series(name, value, nan_to_null=True) for name, value in values.items())
    why = (pl.when(pl.col(name).is_null()).then(pl.lit(FEW)).alias(why) for name, why in zip(values, REASONS, strict=True))
    row = row.with_columns(*why, human_method=pl.lit("mean of people"))
    return row.hstack(interval("value", draws[None, 1:], tail)).hstack(interval("human_value", people[None, 1:], tail))


def people_halo(people: Sequence[Floats], units: Units) -> Floats:
    """Return the mean halo of people whose is defined, [resamples], from their ratings by dimension, [units, raters] each."""
    of_raters = (raters.halo(of_rater, units) for of_rater in (np.moveaxis(np.array(people), 2, 0) if people else ()))
    defined = [draws for draws in of_raters if np.isfinite(draws[0])]
    return np.mean(defined, axis=0) if defined else np.full(units.weights.shape[1], np.nan)


def on_units(own: pl.DataFrame, n_units: int) -> Floats:
    """Return a judge's ratings of what people rated, [units]; NaN where it gave none."""
    judge = np.full(n_units, np.nan)
    judge[own["row"].to_numpy()] = own["value"].to_numpy()
    return judge


def compare(own: pl.DataFrame, ratings: Ratings, judge: Floats) -> Floats:
    """Return SIDES, [sides, statistics, resamples]."""
    values = partial(_average, ratings=ratings, compare=raters.compare_names if ratings.nominal else raters.compare_values)
    people = np.where(np.isnan(judge)[:, None], np.nan, ratings.people)
    target, each = row_means(people), [(judge, person) for person in people.T]
    apart = people.T[: len(people.T) * (ratings.identified and not ratings.nominal)]
    others = [(person, row_means(np.delete(people, at, axis=1))) for at, person in enumerate(apart)]
    masked = [(np.where(np.isnan(person), np.nan, judge), rest) for person, rest in others]
    pairs = list(combinations(people.T, 2)) if ratings.identified else []
    rest = [_average(whole, ratings, raters.agreement) for whole in (others, masked, [])]
    sides = np.array([_with_people(judge, ratings), *rest])
    for side, paired in zip(sides[1:], (pairs, each if pairs else []), strict=False):
        side[PAIRED] = values(paired)[PAIRED]
    flat = [np.where(np.isnan(judge), np.nan, value) for value in ratings.scale]
    constants = np.array([values([(constant, target)])[OF_VALUES] for constant in flat])
    of_each = np.array([values([(constant, person) for person in people.T]) for constant in flat])
    # Each statistic has its own best constant, chosen on the data themselves and kept in all draws.
    best, nearest = of_each[:, PAIRED, 0].argmax(axis=0), np.abs(constants[:, DISTANCES, 0]).argmin(axis=0)
    sides[-1, OF_VALUES] = [*of_each[best, range(3)], *constants[nearest, range(3, 5)]]
    if (own["lowest"][0], own["highest"][0]) != (ratings.scale[0], ratings.scale[-1]):
        sides[:, OF_VALUES] = np.nan
    if ratings.nominal:
        sides[:, KAPPA + 1 :] = np.nan
    return sides


def _with_people(judge: Floats, ratings: Ratings) -> Floats:
    """Return STATISTICS of the judge and the mean of people, or, of those of PAIRED, each person."""
    of_names = raters.compare_names if ratings.nominal else raters.compare_values
    whole = _average([(judge, row_means(ratings.people))], ratings, raters.agreement)
    whole[PAIRED] = _average([(judge, person) for person in ratings.people.T], ratings, of_names)[PAIRED]
    return whole


def row_means(table: Floats) -> Floats:
    """Return the mean of what is there in each row; NaN where nothing is."""
    return shares(np.nansum(table, axis=1), np.isfinite(table).sum(axis=1).astype(np.float64), np.nan)


def _average(pairs: Sequence[tuple[Floats, Floats]], ratings: Ratings, compare: Callable[..., Floats]) -> Floats:
    """Return the mean over pairs of raters of what `compare` says of the units that both rated; NaN where no pair has enough."""
    agreements = []
    for left, right in pairs:
        kept = np.flatnonzero(np.isfinite(left) & np.isfinite(right))
        if len(kept) >= FEWEST_PAIRS:
            agreements.append(compare(left[kept], right[kept], ratings.units.only(kept), ratings.scale))
    return np.mean(agreements, axis=0) if agreements else np.full((len(STATISTICS), ratings.units.weights.shape[1]), np.nan)


def counts(ratings: Ratings, judge: Floats, draws: Floats) -> pl.DataFrame:
    """Return a row per statistic: counts, design effects of its draws, and why a value that is not defined is not."""
    kept = np.flatnonzero(np.isfinite(judge))
    target, units = row_means(ratings.people)[kept], ratings.units.only(kept)
    left_out = int(np.isnan(raters.correlate_items(judge[kept], target, units)[:, 0]).sum())
    few = f"no variance, or fewer than {FEWEST_SYSTEMS} systems: {len(np.unique(units.systems))}"
    why = {"pooled": FEW, "by_item": NO_ITEM, "by_system": few}
    people = np.isfinite(ratings.people[kept])
    mean = PAIRS_OF_TWO if people.any(axis=0).sum() <= FEWEST_RATINGS else LEAVE_ONE_OUT
    columns = {
        "n_units": len(kept),
        "n_pairs": int(people.sum()),
        "n_clusters": len(np.unique(units.clusters)),
        "n_items_left_out": [left_out if level == "by_item" else None for _, level in STATISTICS],
        "design_effect": _effects(ratings, judge, draws),
        "undefined_because": [
            NOMINAL if ratings.nominal and at not in (EXACT, KAPPA) else why[level] for at, (_, level) in enumerate(STATISTICS)
        ],
        "human_undefined_because": FEW if ratings.identified else "people are not told apart",
        "human_method": [PAIRS] * 3 + [mean] * (len(STATISTICS) - 3),
        "nominal": ratings.nominal,
    }
    return pl.DataFrame(columns)


def _effects(ratings: Ratings, judge: Floats, draws: Floats) -> list[float | None]:
    """Return the design effect of each of STATISTICS: of means by their formula, of others pooled from draws of single units.

    Units with the same ratings are drawn together, how often is multinomial. By item and by system there is none: drawn alone,
    units of an item or a system are no longer all there. Null, too, where no two units share a cluster.
    """
    kept = np.flatnonzero(np.isfinite(judge) & np.isfinite(ratings.people).any(axis=1))
    table, places = np.column_stack((judge, ratings.people))[kept], ratings.units.clusters[kept]
    if len(np.unique(places)) in (0, 1, len(kept)):
        return [None] * len(STATISTICS)
    _, first, times = np.unique(np.nan_to_num(table, nan=np.inf), axis=0, return_index=True, return_counts=True)
    drawn = np.random.default_rng(ratings.seed).multinomial(len(kept), times / len(kept), draws.shape[1]).T.astype(np.float64)
    alike = np.arange(len(first))
    alone = ratings._replace(people=table[first, 1:], units=Units(alike, np.zeros_like(alike), alike, drawn))
    variances = [np.ma.masked_invalid(of).var(axis=1) for of in (draws, _with_people(table[first, 0], alone))]
    effects = np.ma.masked_less_equal(variances[0], 0) / np.ma.masked_less_equal(variances[1], 0)
    off = pl.DataFrame({"place": places, "item_id": kept, "bias": judge[kept] - row_means(ratings.people)[kept]})
    both = off.with_columns(mae=pl.col("bias").abs()).unpivot(["mae", "bias"], index=["place", "item_id"], variable_name="system")
    of_means = dict(design_effects(both).select("system", "design_effect").iter_rows())
    return [of_means.get(name, value) for (name, _), value in zip(STATISTICS, effects.tolist(), strict=True)]


def table_of(sides: Floats, tail: float, counts: pl.DataFrame) -> pl.DataFrame:
    """Return a row per statistic: its counts, SIDES, intervals of the first two of them, and the gain over the best constant."""
    table = pl.DataFrame(STATISTICS, ["statistic", "level"], orient="row").hstack(counts)
    table = table.with_columns(pl.Series(name, side[:, 0], nan_to_null=True) for name, side in zip(SIDES, sides, strict=True))
    gains = np.full_like(sides[0], np.nan)
    gains[EXACT], gains[MAE] = sides[0, EXACT] - sides[-1, EXACT], sides[-1, MAE] - sides[0, MAE]
    table = table.with_columns(pl.Series("gain", gains[:, 0], nan_to_null=True))
    for name, draws in zip((*SIDES[:2], "gain"), (sides[0], sides[1], gains), strict=True):
        table = table.hstack(interval(name, draws[:, 1:], tail))
    for name, reason in zip(SIDES, REASONS, strict=False):
        # A reason stands only where a value is missing.
        table = table.with_columns(pl.when(pl.col(name).is_null()).then(reason).alias(reason))
    named = pl.when("nominal").then(pl.col("statistic").replace("kappa_quadratic", "kappa")).otherwise("statistic")
    only_of = {"value": "design_effect", "human_value": "human_method"}
    defined = (pl.when(pl.col(of).is_not_null()).then(name).alias(name) for of, name in only_of.items())
    return table.with_columns(*defined, statistic=named).drop("nominal", "gain_undefined_draws")


def interval(name: str, draws: Floats, tail: float) -> pl.DataFrame:
    """Return the ends of each row's interval, null where too many draws have no value, and how many these are."""
    undefined = np.isnan(draws).sum(axis=1)
    defined = np.where((undefined > MOST_UNDEFINED * draws.shape[1])[:, None], np.nan, draws)
    limits = limits_of(defined, pl.repeat(tail, len(draws), eager=True))
    ends = limits.rename({"ci_low": f"{name}_low", "ci_high": f"{name}_high"})
    return ends.with_columns(pl.Series(f"{name}_undefined_draws", undefined))
