"""How far judges agree with people, beside how far people agree with each other and what the best constant would reach."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from schemas.documents.certificates import CriterionAgreement, JudgeAgreement, JudgeCheck
from schemas.documents.models import RefusedRating
from schemas.roles import PEOPLE
from schemas.tables.ratings import UNIT
from tasks.certificates import sides
from tasks.certificates.joining import JoinedRatings, join_ratings
from tasks.certificates.panels import add_panels
from tasks.ratings.reading import read_human_ratings
from tasks.runs.past_run import PastRun
from tasks.statistics import raters
from tasks.statistics.raters import CORRELATIONS, LEVELS
from tasks.statistics.reliability import FEWEST_PAIRS, Units
from tasks.statistics.resampling import RESAMPLES, Floats, Resampling, draw_weights, place_clusters, tails

MEAN, MEAN_OF_CRITERIA = "mean of dimensions", "mean of criteria"
FEW_OR_UNLIKE = "too few common units, no variance or dimensions of unlike scales"
UNLIKE = "undefined in a dimension, or dimensions of unlike scales"
OF_MEAN = sides.ROWS.with_columns(
    *(pl.lit(UNLIKE).alias(reason) for reason in sides.REASONS.values()),
    design_effect=pl.lit(None, pl.Float64),
    human_method=pl.lit("mean of dimensions"),
)


def check_judges(
    run: PastRun, human: Path, *, across: bool = False, panels: Sequence[str] = (), least: int | None = None
) -> JudgeCheck:
    """Compare the judges of a run with the ratings of a file, whose bad rows are refused.

    `across`: compare each dimension with each criterion of people, too. `panels` and `least`: as of `add_panels`.
    """
    ratings = read_human_ratings(human)
    joined = add_panels(join_ratings(ratings.ratings, run), panels, least)
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
        rows = [(PEOPLE, "", name, sides.among_people(own, tail)) for name, own in ratings.items()]
        halo_of_people = sides.people_halo([own.people for own in ratings.values() if own.identified], drawn)
        for (judge, rubric), own in judges.group_by("judge", "rubric", maintain_order=True):
            rated = {name: (given, ratings[name], sides.on_units(given, len(drawn.items))) for name, given in _by_dimension(own)}
            compared = {name: sides.compare(*of_dimension) for name, of_dimension in rated.items()}
            rows += [
                (judge, rubric, name, sides.table_of(values, tail, sides.counts(*rated[name][1:], values[0, :, 1:])))
                for name, values in compared.items()
            ]
            if len(compared) > 1:
                mean = np.mean([*compared.values()], axis=0)
                if len({(*by_people.scale, by_people.rises) for _, by_people, _ in rated.values()}) > 1:
                    mean[:, sides.DISTANCES] = np.nan
                halo = sides.halo_row(np.array([of_name for *_, of_name in rated.values()]), halo_of_people, drawn, tail)
                rows += [(judge, rubric, MEAN, table) for table in (sides.table_of(mean, tail, OF_MEAN), halo)]
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
        by_people = {name: sides.row_means(of_name.people) for name, of_name in ratings.items()}
        criteria = _with_mean(by_people, MEAN_OF_CRITERIA, alike=alike)
        for (judge, rubric), own in judges.group_by("judge", "rubric", maintain_order=True):
            # A text metric has no dimension: its values stand once for each criterion.
            values = own if rubric else own.unique("row", maintain_order=True).with_columns(dimension=pl.lit(""))
            rated = {name: sides.on_units(of_name, len(drawn.items)) for name, of_name in _by_dimension(values)}
            rated = _with_mean(rated, MEAN, alike=values.select("lowest", "highest").n_unique() == 1)
            for (dimension, left), (criterion, right) in product(rated.items(), criteria.items()):
                for row in _correlations(left, right, drawn, tail).to_dicts():
                    key = {"source": source, "judge": judge, "rubric": rubric, "dimension": dimension, "criterion": criterion}
                    yield CriterionAgreement(**key, **row)


def _with_mean(values: dict[str, Floats], name: str, *, alike: bool) -> dict[str, Floats]:
    """Return values by name, [units], and their mean where there are several: without a value if their scales are unlike."""
    mean = np.mean([*values.values()], axis=0) if alike else np.full(len(next(iter(values.values()))), np.nan)
    return {**values, name: mean} if len(values) > 1 else values


def _correlations(left: Floats, right: Floats, drawn: Units, tail: float) -> pl.DataFrame:
    """Return a row per correlation, pooled and by item: counts, value, interval, and why there is no value."""
    kept = np.flatnonzero(np.isfinite(left) & np.isfinite(right))
    units, table = drawn.only(kept), sides.ROWS.filter(pl.col("statistic").is_in(CORRELATIONS), pl.col("level") != LEVELS[2])
    values = np.full((len(table), drawn.weights.shape[1]), np.nan)
    left_out = 0
    if len(kept) >= FEWEST_PAIRS:
        values = raters.correlate_levels(left[kept], right[kept], units)[: len(table)]
        left_out = int(np.isnan(raters.correlate_items(left[kept], right[kept], units)[:, 0]).sum())
    reason = pl.col("level").replace_strict({"pooled": FEW_OR_UNLIKE, "by_item": sides.NO_ITEM})
    left_out_of = pl.when(level="by_item").then(left_out)
    table = table.with_columns(n_units=len(kept), n_items_left_out=left_out_of, undefined_because=reason)
    return sides.with_values(table, "value", values, tail)


def _by_dimension(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (name,), own in frame.sort("dimension").group_by("dimension", maintain_order=True):
        yield str(name), own


_Source = tuple[str, Units, float, dict[str, sides.Ratings], pl.DataFrame]
"""Units of a source, what is cut off an interval over their clusters, ratings by people by dimension, and what else rates."""


def _sources(people: pl.DataFrame, judges: pl.DataFrame, resampling: Resampling) -> Iterator[_Source]:
    """Yield the sources; each unit has a `row`, and is drawn once, then at random with the others of its cluster."""
    for (source,), own in people.sort("source").group_by("source", maintain_order=True):
        clusters = place_clusters(own.select(item_id="unit_id", cluster=pl.coalesce("cluster_id", "unit_id")).unique())
        places = clusters.select("place", unit_id="item_id").unique()
        units = own.select(UNIT).unique().sort(UNIT).join(places, on="unit_id", maintain_order="left").with_row_index("row")
        draws = draw_weights(str(source), places["place"].n_unique(), resampling.resamples, resampling.seed)
        items, systems = (np.unique(units[name].to_numpy(), return_inverse=True)[1] for name in ("unit_id", "system"))
        rows = units["place"].to_numpy().astype(np.int64)
        drawn = Units(items, systems, rows, np.hstack((np.ones((len(draws), 1)), draws)))
        tail = tails(units.select("place", system=0, item_id="row"))["tail"][0]
        _, raters_of = np.unique(own["rater"].to_numpy(), return_inverse=True)
        n_raters = int(raters_of.max()) + 1
        placed = own.with_columns(place_of_rater=pl.Series(raters_of)).join(units, on=UNIT)
        ratings = {name: _ratings(of_name, drawn, n_raters, resampling.seed) for name, of_name in _by_dimension(placed)}
        yield str(source), drawn, tail, ratings, judges.join(units, on=UNIT).sort("judge", "rubric")


def _ratings(own: pl.DataFrame, drawn: Units, raters_of_source: int, seed: int) -> sides.Ratings:
    """Return ratings of a dimension; a rater has the same column in each dimension of a source."""
    people = np.full((len(drawn.items), raters_of_source), np.nan)
    people[own["row"].to_numpy(), own["place_of_rater"].to_numpy()] = own["rating"].to_numpy()
    named = own.get_column("words", default=own["scale"].clear(1))[0] is not None
    return sides.Ratings(
        people, bool(own["rater_known"].all()), own["scale"][0].to_numpy(), own["higher_is_better"][0], named, drawn, seed
    )
