"""Ratings of one dimension: of a judge with people, of people among each other, and of the best constant."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from tasks.statistics import raters
from tasks.statistics.raters import FEWEST_SYSTEMS, LEVELS, STATISTICS
from tasks.statistics.reliability import ALPHA_LEVELS, FEWEST_PAIRS, FEWEST_RATINGS, Units, alphas
from tasks.statistics.resampling import Floats, design_effects, limits_of, shares

PAIRED, DISTANCES, OF_VALUES = slice(3), slice(3, 5), slice(5)
"""Places in STATISTICS: of two ratings on one scale, for which a judge is compared with each person; those in values; both."""

EXACT, KAPPA, MAE = (STATISTICS.index((name, LEVELS[0])) for name in ("exact", "kappa_quadratic", "mae"))
ROWS = pl.DataFrame(STATISTICS, ["statistic", "level"], orient="row")

SIDES = ("value", "human_value", "same_targets_value", "constant_value")
"""Of the judge with people, each person with the others, the judge with those others, the best constant with people."""

FEW, NO_ITEM = "too few common units, no variance or not on the scale", "no item has three unlike systems"
NOMINAL, NOT_WHOLE = "the ratings are names without an order", "too few units that all raters rated, or no variance"
PAIRS, LEAVE_ONE_OUT = "pairs of people", "each person with the mean of the others"
PAIRS_OF_TWO = "pairs of people, since they are fewer than three"
MOST_UNDEFINED = 0.05
"""Share of draws without a value above which there is no interval."""

REASONS = {"value": "undefined_because", "human_value": "human_undefined_because"}

Pairs = Sequence[tuple[Floats, Floats]]
"""Ratings of two raters, [units] each."""


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
    draws = np.array([*alphas(people, ratings.units).values()])
    draws[[ratings.nominal and level != "nominal" for level in ALPHA_LEVELS]] = np.nan
    counts = {"n_units": int(paired.sum()), "n_pairs": int(given[paired].sum())}
    counts["n_clusters"] = len(np.unique(ratings.units.clusters[paired]))
    of_alpha = pl.DataFrame({"statistic": [f"alpha_{level}" for level in ALPHA_LEVELS], "level": LEVELS[0], **counts})
    of_alpha = of_alpha.with_columns(undefined_because=pl.lit(NOMINAL if ratings.nominal else FEW))
    icc = raters.intraclass_correlations(whole) if min(whole.shape) > 1 else {}
    names = [] if ratings.nominal else ["icc_2_1", "icc_2_k"] if ratings.identified else ["icc_1_1"]
    rows = [(name, LEVELS[0], len(whole), int((given > 0).sum()) - len(whole), NOT_WHOLE) for name in names]
    columns = {"statistic": pl.String, "level": pl.String, "n_units": pl.Int64, "n_items_left_out": pl.Int64}
    of_icc = pl.DataFrame(rows, {**columns, "undefined_because": pl.String}, orient="row")
    of_icc = with_values(of_icc, "value", np.array([[icc.get(name, np.nan)] for name in names]).reshape(-1, 1), tail)
    both = (with_values(of_alpha, "value", draws, tail), of_icc.drop("value_undefined_draws"))
    return pl.concat(both, how="diagonal_relaxed")


def halo_row(dimensions: Floats, people: Floats, units: Units, tail: float) -> pl.DataFrame:
    """Return a row: halo of a rater's dimensions, [dimensions, units], and that of people, [resamples]."""
    counts = {"statistic": "halo", "level": LEVELS[0], "n_units": int(np.isfinite(dimensions).all(axis=0).sum())}
    row = with_values(pl.DataFrame({**counts, **dict.fromkeys(REASONS.values(), FEW)}), "human_value", people[None], tail)
    return with_values(row, "value", raters.halo(dimensions, units)[None], tail)


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
    ratings = ratings._replace(people=np.where(np.isnan(judge)[:, None], np.nan, ratings.people))
    people = ratings.people.T
    pairs = list(combinations(people, 2)) if ratings.identified else []
    apart = people[: len(people) * (ratings.identified and not ratings.nominal)]
    others = [(person, row_means(np.delete(people, at, axis=0).T)) for at, person in enumerate(apart)]
    masked = [(np.where(np.isnan(person), np.nan, judge), rest) for person, rest in others]
    same = _side(masked, [(judge, person) for person in people] if pairs else [], ratings)
    of_judge, of_people = _with_people(judge, ratings, raters.agreement), _side(others, pairs, ratings)
    sides = np.array([of_judge, of_people, same, np.full_like(same, np.nan)])
    # Each statistic has its own best constant, chosen on the data themselves and kept in all draws.
    flat = [np.where(np.isnan(judge), np.nan, value) for value in ratings.scale]
    constants = np.array([_with_people(constant, ratings, raters.compare_values)[OF_VALUES] for constant in flat])
    best = np.hstack((constants[:, PAIRED, 0], -np.abs(constants[:, DISTANCES, 0]))).argmax(axis=0)
    sides[-1, OF_VALUES] = constants[best, range(5)]
    if (own["lowest"][0], own["highest"][0]) != (ratings.scale[0], ratings.scale[-1]):
        sides[:, OF_VALUES] = np.nan
    if ratings.nominal:
        sides[:, KAPPA + 1 :] = np.nan
    return sides


def _with_people(judge: Floats, ratings: Ratings, compare: Callable[..., Floats]) -> Floats:
    """Return what `compare` says of the judge and the mean of people, or, of those of PAIRED, each person."""
    return _side([(judge, row_means(ratings.people))], [(judge, person) for person in ratings.people.T], ratings, compare)


def _side(whole: Pairs, paired: Pairs, ratings: Ratings, compare: Callable[..., Floats] = raters.agreement) -> Floats:
    """Return what `compare` says, [statistics, resamples]: those of PAIRED of the pairs `paired`, others of `whole`."""
    side = _average(whole, ratings, compare)
    side[PAIRED] = _average(paired, ratings, raters.compare_names if ratings.nominal else raters.compare_values)[PAIRED]
    return side


def row_means(table: Floats) -> Floats:
    """Return the mean of what is there in each row; NaN where nothing is."""
    return shares(np.nansum(table, axis=1), np.isfinite(table).sum(axis=1).astype(np.float64), np.nan)


def _average(pairs: Pairs, ratings: Ratings, compare: Callable[..., Floats]) -> Floats:
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
    why = pl.col("level").replace_strict(dict(zip(LEVELS, (FEW, NO_ITEM, few), strict=True)))
    people, at = np.isfinite(ratings.people[kept]), pl.int_range(pl.len())
    mean = PAIRS_OF_TWO if people.any(axis=0).sum() <= FEWEST_RATINGS else LEAVE_ONE_OUT
    return ROWS.with_columns(
        statistic=pl.col("statistic").replace("kappa_quadratic", "kappa") if ratings.nominal else "statistic",
        n_units=len(kept),
        n_pairs=int(people.sum()),
        n_clusters=len(np.unique(units.clusters)),
        n_items_left_out=pl.when(level="by_item").then(left_out),
        design_effect=pl.Series(_effects(ratings, judge, draws), dtype=pl.Float64),
        undefined_because=pl.when(ratings.nominal & ~at.is_in([EXACT, KAPPA])).then(pl.lit(NOMINAL)).otherwise(why),
        human_undefined_because=pl.lit(FEW if ratings.identified else "people are not told apart"),
        human_method=pl.when(at < PAIRED.stop).then(pl.lit(PAIRS)).otherwise(pl.lit(mean)),
    )


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
    variances = [np.ma.masked_invalid(of).var(axis=1) for of in (draws, _with_people(table[first, 0], alone, raters.agreement))]
    effects = np.ma.masked_less_equal(variances[0], 0) / np.ma.masked_less_equal(variances[1], 0)
    off = pl.DataFrame({"place": places, "item_id": kept, "bias": judge[kept] - row_means(ratings.people)[kept]})
    both = off.with_columns(mae=pl.col("bias").abs()).unpivot(["mae", "bias"], index=["place", "item_id"], variable_name="system")
    of_means = dict(design_effects(both).select("system", "design_effect").iter_rows())
    return [of_means.get(name, value) for (name, _), value in zip(STATISTICS, effects.tolist(), strict=True)]


def table_of(sides: Floats, tail: float, counts: pl.DataFrame) -> pl.DataFrame:
    """Return a row per statistic: its counts, SIDES, intervals of the first two of them, and the gain over the best constant."""
    gains = np.full_like(sides[0], np.nan)
    gains[EXACT], gains[MAE] = sides[0, EXACT] - sides[-1, EXACT], sides[-1, MAE] - sides[0, MAE]
    table = counts.with_columns(pl.Series(SIDES[at], sides[at, :, 0], nan_to_null=True) for at in (2, 3))
    for name, draws in zip((*SIDES[:2], "gain"), (*sides[:2], gains), strict=True):
        table = with_values(table, name, draws, tail)
    only_of = {"value": "design_effect", "human_value": "human_method"}
    defined = (pl.when(pl.col(of).is_not_null()).then(name).alias(name) for of, name in only_of.items())
    return table.with_columns(*defined).drop("gain_undefined_draws")


def with_values(table: pl.DataFrame, name: str, draws: Floats, tail: float) -> pl.DataFrame:
    """Return rows with a value, its interval, the draws that have no value, and its reason only where there is no value.

    `draws`: [rows, resamples], the first is the value. Without an interval where too many of the others have none.
    """
    drawn = draws[:, 1:]
    undefined = np.isnan(drawn).sum(axis=1)
    defined = np.where((undefined > MOST_UNDEFINED * drawn.shape[1])[:, None], np.nan, drawn)
    limits = limits_of(defined, pl.repeat(tail, len(draws), eager=True))
    table = table.with_columns(
        pl.Series(name, draws[:, 0], nan_to_null=True),
        pl.Series(f"{name}_undefined_draws", undefined),
        **{f"{name}_low": limits["ci_low"], f"{name}_high": limits["ci_high"]},
    )
    reasons = [pl.when(pl.col(name).is_null()).then(why).alias(why) for of, why in REASONS.items() if of == name]
    return table.with_columns(reasons)
