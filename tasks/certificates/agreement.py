"""How far judges agree with people, beside how far people agree with each other and what the best constant would reach."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from schemas.documents.certificates import CriterionAgreement, JudgeAgreement, JudgeCheck
from schemas.documents.models import RefusedRating
from schemas.roles import PEOPLE
from schemas.tables.ratings import UNIT
from tasks.certificates.joining import JoinedRatings, join_ratings
from tasks.ratings.reading import read_human_ratings
from tasks.runs.past_run import PastRun
from tasks.scoring.uncertainty import Resampling, limits_of
from tasks.statistics import raters
from tasks.statistics.raters import CORRELATIONS, FEWEST_SYSTEMS, LEVELS, STATISTICS, Units
from tasks.statistics.reliability import ALPHA_LEVELS, FEWEST_PAIRS, krippendorff_alpha
from tasks.statistics.resampling import RESAMPLES, Floats, design_effects, draw_weights, place_clusters, shares, tails

MEAN, MEAN_OF_CRITERIA = "mean of dimensions", "mean of criteria"
PAIRED, DISTANCES, OF_VALUES = slice(3), slice(3, 5), slice(5)
"""Places in STATISTICS: of two ratings on one scale, for which a judge is compared with each person; those in values; both."""

SIDES = ("value", "human_value", "same_targets_value", "constant_value")
"""Of the judge with people, each person with the others, the judge with those others, the best constant with people."""

CORRELATED = [(name, level) for level in LEVELS[:2] for name in CORRELATIONS]
"""Statistic and level of what is compared across dimensions, in the order of `correlate_levels`."""

FEW = "too few common units, no variance or not on the scale"
FEW_OR_UNLIKE, NO_ITEM = "too few common units, no variance or dimensions of unlike scales", "no item has three unlike systems"
MOST_UNDEFINED = 0.05
"""Share of draws without a value above which there is no interval."""

REASONS = ("undefined_because", "human_undefined_because")
UNLIKE = "undefined in a dimension, or dimensions of unlike scales"
OF_MEAN = pl.DataFrame({**dict.fromkeys(REASONS, UNLIKE), "design_effect": [None] * len(STATISTICS)})


class Ratings(NamedTuple):
    """Of one dimension by people, [units, raters] with NaN where there is none; `identified`: a rater is the same throughout."""

    people: Floats
    identified: bool
    scale: Floats
    rises: bool
    units: Units


def check_judges(run: PastRun, human: Path, *, across: bool = False) -> JudgeCheck:
    """Compare the judges of a run with the ratings of a file, whose bad rows are refused.

    `across`: compare each dimension with each criterion of people, too.
    """
    ratings = read_human_ratings(human)
    joined = join_ratings(ratings.ratings, run)
    resampling = Resampling(RESAMPLES, int(run.manifest.plan.get("seed", 0)))
    table = certificates(joined, resampling)
    return JudgeCheck(
        run=run.name,
        human=str(human),
        read=ratings.read,
        good=ratings.ratings.height,
        refused=len(ratings.refused),
        refused_by_rule=Counter(row.rule for row in ratings.refused),
        refused_rows=tuple(RefusedRating(file=str(human), line=row.line, rule=row.rule) for row in ratings.refused),
        left_out=dict(joined.left_out),
        agreements=tuple(JudgeAgreement(**row) for row in table.iter_rows(named=True)),
        across=tuple(compare_across(joined, resampling)) if across else (),
    )


def certificates(joined: JoinedRatings, resampling: Resampling) -> pl.DataFrame:
    """Return a row per source, judge, rubric, dimension, statistic and level; of the judge `people` what they are to each other.

    Clusters of units are drawn once per source, for all judges, dimensions and people; the first resample is the data itself.
    Raters that share fewer than three units are not compared. What is undefined is null, with a reason.
    """
    tables = list[pl.DataFrame]()
    of_people = joined.judges.join(joined.people, on=[*UNIT, "dimension"], how="semi")
    for source, drawn, tail, ratings, judges in _sources(joined.people, of_people, resampling):
        rows = [(PEOPLE, "", name, _among_people(own)) for name, own in ratings.items()]
        for (judge, rubric), own in judges.group_by("judge", "rubric", maintain_order=True):
            rated = {name: (given, ratings[name], _on_units(given, len(drawn.items))) for name, given in _by_dimension(own)}
            sides = {name: _compare(*of_dimension) for name, of_dimension in rated.items()}
            rows += [(judge, rubric, name, _table(values, tail, _counts(*rated[name][1:]))) for name, values in sides.items()]
            if len(sides) > 1:
                mean = np.mean([*sides.values()], axis=0)
                if len({(*by_people.scale, by_people.rises) for _, by_people, _ in rated.values()}) > 1:
                    mean[:, DISTANCES] = np.nan
                rows.append((judge, rubric, MEAN, _table(mean, tail, OF_MEAN)))
        for judge, rubric, name, table in rows:
            key = {"source": source, "judge": judge, "rubric": rubric, "dimension": name}
            tables.append(table.select(*(pl.lit(value).alias(column) for column, value in key.items()), pl.all()))
    return pl.concat(tables, how="diagonal_relaxed")


def compare_across(joined: JoinedRatings, resampling: Resampling) -> Iterator[CriterionAgreement]:
    """Yield the correlations of each judged dimension with each criterion of people, whatever the names of the two.

    The means of both sides' dimensions, and each text metric, are compared like a dimension. A unit counts where both sides have
    a value, and in a mean where all of its dimensions have one. Clusters are drawn as in `certificates`.
    """
    for source, drawn, tail, ratings, judges in _sources(joined.people, joined.judges, resampling):
        alike = len({(*of_name.scale, of_name.rises) for of_name in ratings.values()}) == 1
        criteria = _with_mean(
            {name: _row_means(of_name.people) for name, of_name in ratings.items()}, MEAN_OF_CRITERIA, alike=alike
        )
        for (judge, rubric), own in judges.group_by("judge", "rubric", maintain_order=True):
            # A text metric has no dimension: its values stand once for each criterion.
            values = own if rubric else own.unique("row", maintain_order=True).with_columns(dimension=pl.lit(""))
            rated = {name: _on_units(of_name, len(drawn.items)) for name, of_name in _by_dimension(values)}
            rated = _with_mean(rated, MEAN, alike=values.select("lowest", "highest").n_unique() == 1)
            for (dimension, left), (criterion, right) in product(rated.items(), criteria.items()):
                for row in _correlations(left, right, drawn, tail).to_dicts():
                    key = {"source": source, "judge": judge, "rubric": rubric, "dimension": dimension, "criterion": criterion}
                    yield CriterionAgreement(**key, **row)


def _with_mean(sides: dict[str, Floats], name: str, *, alike: bool) -> dict[str, Floats]:
    """Return values by name, [units], and their mean where there are several: without a value if their scales are unlike."""
    mean = np.mean([*sides.values()], axis=0) if alike else np.full(len(next(iter(sides.values()))), np.nan)
    return {**sides, name: mean} if len(sides) > 1 else sides


def _correlations(left: Floats, right: Floats, drawn: Units, tail: float) -> pl.DataFrame:
    """Return a row per correlation, pooled and by item: counts, value, interval, and why there is no value."""
    kept = np.flatnonzero(np.isfinite(left) & np.isfinite(right))
    units, table = drawn.only(kept), pl.DataFrame(CORRELATED, ["statistic", "level"], orient="row")
    values = np.full((len(CORRELATED), drawn.weights.shape[1]), np.nan)
    left_out = 0
    if len(kept) >= FEWEST_PAIRS:
        values = raters.correlate_levels(left[kept], right[kept], units)[: len(CORRELATED)]
        left_out = int(np.isnan(raters.correlate_items(left[kept], right[kept], units)[:, 0]).sum())
    undefined_because = pl.col("level").replace_strict({"pooled": FEW_OR_UNLIKE, "by_item": NO_ITEM})
    return table.with_columns(
        n_units=len(kept),
        n_items_left_out=pl.when(level="by_item").then(left_out),
        value=pl.Series(values[:, 0], nan_to_null=True),
        **_interval("value", values[:, 1:], tail).to_dict(),
    ).with_columns(undefined_because=pl.when(pl.col("value").is_null()).then(undefined_because))


def _by_dimension(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (name,), own in frame.sort("dimension").group_by("dimension", maintain_order=True):
        yield str(name), own


class _Source(NamedTuple):
    """Units of a source, what is cut off an interval over their clusters, ratings by people by dimension, and what else rates."""

    name: str
    units: Units
    tail: float
    people: dict[str, Ratings]
    judges: pl.DataFrame


def _sources(people: pl.DataFrame, judges: pl.DataFrame, resampling: Resampling) -> Iterator[_Source]:
    """Yield the sources; each unit has a `row`, and is drawn once, then at random with the others of its cluster."""
    for (source,), own in people.sort("source").group_by("source", maintain_order=True):
        clusters = place_clusters(own.select(item_id="unit_id", cluster=pl.coalesce("cluster_id", "unit_id")).unique())
        places = clusters.select("place", unit_id="item_id").unique()
        units = own.select(UNIT).unique().sort(UNIT).join(places, on="unit_id", maintain_order="left").with_row_index("row")
        draws = draw_weights(str(source), places["place"].n_unique(), resampling.resamples, resampling.seed)
        items, systems = (np.unique(units[name].to_numpy(), return_inverse=True)[1] for name in ("unit_id", "system"))
        rows = units["place"].to_numpy().astype(np.int64)
        drawn = Units(items, systems, rows, np.hstack((np.ones((units.height, 1)), draws[rows])))
        tail = tails(units.select("place", system=0, item_id="row"))["tail"][0]
        ratings = {name: _ratings(of_name, drawn) for name, of_name in _by_dimension(own.join(units, on=UNIT))}
        yield _Source(str(source), drawn, tail, ratings, judges.join(units, on=UNIT).sort("judge", "rubric"))


def _ratings(own: pl.DataFrame, drawn: Units) -> Ratings:
    _, rater = np.unique(own["rater"].to_numpy(), return_inverse=True)
    people = np.full((len(drawn.items), rater.max() + 1), np.nan)
    people[own["row"].to_numpy(), rater] = own["rating"].to_numpy()
    scale, rises = own["scale"][0].to_numpy(), own["higher_is_better"][0]
    return Ratings(people, bool(own["rater_known"].all()), scale, rises, drawn)


def _among_people(ratings: Ratings) -> pl.DataFrame:
    """Return alpha of all ratings, and ICC of the units that all raters rated: one-way where it is not known who rated."""
    units = [[value for value in row if np.isfinite(value)] for row in ratings.people]
    paired = sum(len(row) > 1 for row in units)
    values = [(f"alpha_{level}", krippendorff_alpha(units, level), paired) for level in ALPHA_LEVELS]
    whole = ratings.people[np.isfinite(ratings.people).all(axis=1)]
    if min(whole.shape) > 1:
        icc = raters.intraclass_correlations(whole).items()
        values += [(name, value, len(whole)) for name, value in icc if ratings.identified == name.startswith("icc_2")]
    schema = {"statistic": pl.String, "value": pl.Float64, "n_units": pl.Int64}
    table = pl.DataFrame(values, schema, orient="row", nan_to_null=True)
    return table.with_columns(level=pl.lit("pooled"), undefined_because=pl.when(pl.col("value").is_null()).then(pl.lit(FEW)))


def _on_units(own: pl.DataFrame, n_units: int) -> Floats:
    """Return a judge's ratings of what people rated, [units]; NaN where it gave none."""
    judge = np.full(n_units, np.nan)
    judge[own["row"].to_numpy()] = own["value"].to_numpy()
    return judge


def _compare(own: pl.DataFrame, ratings: Ratings, judge: Floats) -> Floats:
    """Return SIDES, [sides, statistics, resamples]."""
    values = partial(_average, ratings=ratings, compare=raters.compare_values)
    people = np.where(np.isnan(judge)[:, None], np.nan, ratings.people)
    target, each = _row_means(people), [(judge, person) for person in people.T]
    others = [(person, _row_means(np.delete(people, at, axis=1))) for at, person in enumerate(people.T) if ratings.identified]
    masked = [(np.where(np.isnan(person), np.nan, judge), rest) for person, rest in others]
    pairs = list(combinations(people.T, 2)) if ratings.identified else []
    sides = np.array([_average(whole, ratings, raters.agreement) for whole in ([(judge, target)], others, masked, [])])
    for side, paired in zip(sides, (each, pairs, each if pairs else []), strict=False):
        side[PAIRED] = values(paired)[PAIRED]
    flat = [np.where(np.isnan(judge), np.nan, value) for value in ratings.scale]
    constants = np.array([values([(constant, target)])[OF_VALUES] for constant in flat])
    of_each = np.array([values([(constant, person) for person in people.T]) for constant in flat])
    sides[-1, PAIRED] = of_each[:, PAIRED].max(axis=0)
    sides[-1, DISTANCES] = np.take_along_axis(constants, np.abs(constants).argmin(axis=0)[None], axis=0)[0, DISTANCES]
    if (own["lowest"][0], own["highest"][0]) != (ratings.scale[0], ratings.scale[-1]):
        sides[:, OF_VALUES] = np.nan
    return sides


def _row_means(table: Floats) -> Floats:
    return shares(np.nansum(table, axis=1), np.isfinite(table).sum(axis=1).astype(np.float64), np.nan)


def _average(pairs: Sequence[tuple[Floats, Floats]], ratings: Ratings, compare: Callable[..., Floats]) -> Floats:
    """Return the mean over pairs of raters of what `compare` says of the units that both rated; NaN where no pair has enough."""
    agreements = []
    for left, right in pairs:
        kept = np.flatnonzero(np.isfinite(left) & np.isfinite(right))
        if len(kept) >= FEWEST_PAIRS:
            agreements.append(compare(left[kept], right[kept], ratings.units.only(kept), ratings.scale))
    return np.mean(agreements, axis=0) if agreements else np.full((len(STATISTICS), ratings.units.weights.shape[1]), np.nan)


def _counts(ratings: Ratings, judge: Floats) -> pl.DataFrame:
    """Return a row per statistic: counts, design effects, and why a value that is not defined is not."""
    kept = np.flatnonzero(np.isfinite(judge))
    target, units = _row_means(ratings.people)[kept], ratings.units.only(kept)
    off = pl.DataFrame({"place": units.clusters, "item_id": kept, "bias": judge[kept] - target})
    both = off.with_columns(mae=pl.col("bias").abs()).unpivot(["mae", "bias"], index=["place", "item_id"], variable_name="system")
    effects = dict(design_effects(both).iter_rows())
    left_out = int(np.isnan(raters.correlate_items(judge[kept], target, units)[:, 0]).sum())
    few = f"no variance, or fewer than {FEWEST_SYSTEMS} systems: {len(np.unique(units.systems))}"
    why = {"pooled": FEW, "by_item": NO_ITEM, "by_system": few}
    columns = {
        "n_units": len(kept),
        "n_pairs": int(np.isfinite(ratings.people[kept]).sum()),
        "n_clusters": len(np.unique(units.clusters)),
        "n_items_left_out": [left_out if level == "by_item" else None for _, level in STATISTICS],
        "design_effect": [effects.get(name) for name, _ in STATISTICS],
        "undefined_because": [why[level] for _, level in STATISTICS],
        "human_undefined_because": FEW if ratings.identified else "people are not told apart",
    }
    return pl.DataFrame(columns)


def _table(sides: Floats, tail: float, counts: pl.DataFrame) -> pl.DataFrame:
    """Return a row per statistic: its counts, SIDES, and intervals of the first two of them."""
    table = pl.DataFrame(STATISTICS, ["statistic", "level"], orient="row").hstack(counts)
    table = table.with_columns(pl.Series(name, side[:, 0], nan_to_null=True) for name, side in zip(SIDES, sides, strict=True))
    for name, reason, draws in zip(SIDES, REASONS, sides[:2, :, 1:], strict=False):
        table = table.hstack(_interval(name, draws, tail))
        # A reason stands only where a value is missing.
        table = table.with_columns(pl.when(pl.col(name).is_null()).then(reason).alias(reason))
    return table.with_columns(pl.when(pl.col("value").is_not_null()).then("design_effect").alias("design_effect"))


def _interval(name: str, draws: Floats, tail: float) -> pl.DataFrame:
    """Return the ends of each row's interval, null where too many draws have no value, and how many these are."""
    undefined = np.isnan(draws).sum(axis=1)
    defined = np.where((undefined > MOST_UNDEFINED * draws.shape[1])[:, None], np.nan, draws)
    limits = limits_of(defined, pl.repeat(tail, len(draws), eager=True))
    ends = limits.rename({"ci_low": f"{name}_low", "ci_high": f"{name}_high"})
    return ends.with_columns(pl.Series(f"{name}_undefined_draws", undefined))
