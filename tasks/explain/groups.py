"""Break scores down by the groups that items are in: each metric and each rated dimension, for every value of a group."""

from collections.abc import Iterator

import polars as pl

from schemas.blueprint import Blueprint
from schemas.roles import JUDGE
from schemas.tables.responses import Judgements
from tasks.judging.rubrics import order_dimensions
from tasks.runs.run_tables import ReportData, Row
from tasks.scoring.benchmark import ScoreSettings, score_benchmark
from tasks.scoring.breakdowns import put_on_scale, score_dimensions
from tasks.scoring.reduction import SPEC, scale
from tasks.scoring.tree import tree_tables
from tasks.scoring.uncertainty import LIMITS, Resampling

ALL = "all"
"""Group and value of all items of a dataset, beside which those of its groups stand."""

TOTAL = "total"
ITEM = ["dataset", "item_id"]
SCORE = ["dataset", "model", "setting", "method", "measure", "score", "ci_low", "ci_high", "n", "n_total"]
_APART = "\x1f"


def score_groups(data: ReportData, *, totals: bool = False) -> list[Row]:
    """Score the items of each value of each group as if there were no others; an item may be in several groups.

    Clusters are drawn from those of all items that have groups, by the seed of the run; those with an item of the value count.

    Args:
        data: the tables of a run.
        totals: add the total before the veto of each value, over the datasets that its items are in; its `dataset` is empty.

    Returns:
        One row per dataset, model, setting, `group`, `value` and `measure`, a metric or a dimension of its rubric, in the order
        of these: `score` and its 95 % interval on 0-100 (of a dimension 100 x (mean - lowest) / (highest - lowest)) over `n` of
        `n_total` rows. All items come first. None of datasets whose items have no groups.
    """
    grouped = data.items.select(*ITEM, "groups").explode("groups").unnest("groups").drop_nulls()
    groups = grouped.select(*ITEM, of=pl.concat_str(pl.lit(""), "name", "value", separator=_APART))
    whole = grouped.select(ITEM).unique().with_columns(of=pl.lit(f"{_APART}{ALL}{_APART}{ALL}"))
    if groups.is_empty():
        return []
    plan, groups = data.manifest.plan, pl.concat([whole, groups])
    resampling = Resampling(plan.get("bootstrap", 0), plan.get("seed", 0))
    rows = [*_score_metrics(data, groups, resampling, totals=totals), *_score_dimensions(data, groups, resampling)]
    scores = [row | dict(zip(("model", "group", "value"), row["model"].split(_APART), strict=True)) for row in rows]
    place = ("dataset", "model", "setting")
    return sorted(scores, key=lambda row: (*(row[name] for name in place), row["group"] != ALL, row["group"], row["value"]))


def _spread(rows: pl.DataFrame, groups: pl.DataFrame) -> pl.DataFrame:
    """Return rows about items once for each value of theirs; what a model made of the items of a value is a model of its own."""
    return rows.join(groups, on=ITEM).with_columns(model=pl.concat_str("model", "of")).drop("of")


def _score_metrics(data: ReportData, groups: pl.DataFrame, resampling: Resampling, *, totals: bool) -> list[Row]:
    settings = ScoreSettings(seed=resampling.seed, bootstrap=resampling.resamples)
    found = score_benchmark(_spread(data.item_scores, groups).lazy(), data.blueprint, settings)
    scored = metric_scores(found.raw, found.normalized, data.blueprint)
    whole = found.totals.with_columns(dataset=pl.lit(""), method=pl.lit(""), measure=pl.lit(TOTAL), n="n_scored")
    whole = whole.with_columns(score="total_before_veto").select(SCORE)
    return [*scored.select(SCORE).to_dicts(), *(whole.to_dicts() if totals else ())]


def metric_scores(raw: pl.DataFrame, normalized: pl.DataFrame, blueprint: Blueprint) -> pl.DataFrame:
    """Return columns SCORE, among others, on 0-100; what is best in the middle of its range, or a grade, has no interval.

    Args: `raw`, `normalized`: rows of `raw_scores` and `normalized_scores`; `blueprint`: by which they were normalised.
    """
    key, kind = ["model", *SPEC, "setting"], pl.col("kind")
    straight = ~kind.is_in(["centred", "grade"])
    limits = {name: pl.when(straight).then(scale(pl.col(name), kind, pl.col("low"), pl.col("high"))) for name in LIMITS}
    scored = raw.join(normalized.select(*key, score="normalized_0_100"), on=key)
    return scored.join(tree_tables(blueprint).metrics, on=SPEC).with_columns(measure="metric", n="n_scored", **limits)


def _score_dimensions(data: ReportData, groups: pl.DataFrame, resampling: Resampling) -> list[Row]:
    """Score by dimension, as the judge rates whose ratings count."""
    key = ("dataset", "rubric", "judge")
    counted = pl.DataFrame(list(_counted(data)), dict.fromkeys((*key, "method"), pl.String), orient="row")
    rated = _spread(data.judgements.join(counted, on=key, how="semi"), groups).select(Judgements.column_names())
    scores = score_dimensions(Judgements.validate(rated), data.items, resampling).join(counted, on=key)
    found = scores.with_columns(measure="dimension", n="n_answers", **put_on_scale())
    own = data.blueprint.own_rubrics
    order = {rubric: order_dimensions(str(rubric), rows["dimension"], own) for (rubric,), rows in found.group_by("rubric")}
    rows = sorted(found.iter_rows(named=True), key=lambda row: (row["rubric"], order[row["rubric"]].index(row["dimension"])))
    return [{name: row[name] for name in SCORE} for row in rows]


def _counted(data: ReportData) -> Iterator[tuple[str, ...]]:
    """Yield dataset, rubric, judge and method of the ratings that scores are made of."""
    for name, dataset in data.blueprint.datasets.items():
        for entry in data.manifest.role_models(JUDGE, name):
            yield from ((name, method.rubric, entry["name"], method.id) for method in dataset.methods if method.rubric)
