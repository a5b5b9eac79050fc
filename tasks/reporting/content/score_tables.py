"""Describe scores as tables: a leaderboard's models by dimension; a run's systems by group of items, by headline, over base."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from operator import itemgetter
from statistics import fmean

import polars as pl

from schemas.blueprint import Blueprint
from schemas.chart import Axis, Chart, Point
from schemas.documents.run_scores import DatasetHeadlines, HeadlineScore
from schemas.table import Cell, Column, Interval, Table, Value, columns
from schemas.tables.comparisons import OF_ALL
from tasks.explain.groups import metric_scores, score_groups
from tasks.judging.answers import GOLD
from tasks.judging.rubrics import falling_dimensions, order_dimensions, title_dimension
from tasks.leaderboard.ranking import GROUP, RUN, LeaderboardData
from tasks.runs.run_tables import ReportData, Row, System
from tasks.runs.sections import Block
from tasks.scoring.benchmark import rank_correlations
from tasks.scoring.breakdowns import put_on_scale
from tasks.scoring.gains import difference_cell
from tasks.solvers.registry import setting_order, setting_title
from tasks.text.number_format import count, number, signed
from tasks.text.tables import correlations_table


def score_cell(row: Row) -> Cell:
    """Return a score on 0-100 with its interval, and how many of the answers have one."""
    if not row["n_total"]:
        return Cell(row["score"])
    of = f" of {count(row['n_total'])}" if row["n"] < row["n_total"] else ""
    scale, rated = "", ""
    if "mean" in row:
        scale, rated = f"{number(row['mean'], 2)} on {row['scale_min']} to {row['scale_max']}, ", of and " rated"
    return Cell(row["score"], f"{scale}{count(row['n'])}{of}{rated}", interval=Interval.of(row["ci_low"], row["ci_high"]))


def describe_dimensions(data: LeaderboardData) -> tuple[Table, ...]:
    """Describe what was rated, datasets in the blueprint's order, models in that of the ranking, gold replies last.

    Dimensions are in the order of their rubric, behind them their mean where each of a rubric's has a score.
    """
    rated = data.dimensions.with_columns(n="n_answers", **put_on_scale()).to_dicts()
    ranked = {_system(row): row for row in (each.model_dump() for each in data.rows) if RUN in row}
    group_of = {row[RUN]: row.get(GROUP) for row in ranked.values()}
    golds = {group_of.get(row[RUN]): _system(row) for row in reversed(rated) if row["setting"] == GOLD}  # newest of each group
    ranked |= {system: {"model": GOLD, "setting": GOLD, GROUP: group} for group, system in golds.items()}
    tables = []
    for name, dataset in data.blueprint.datasets.items():
        for rubric in dict.fromkeys(row["rubric"] for row in rated if row["dataset"] == name):
            of = [row for row in rated if (row["dataset"], row["rubric"]) == (name, rubric)]
            order = order_dimensions(rubric, (row["dimension"] for row in of), data.blueprint.own_rubrics)
            falling = falling_dimensions(rubric, data.blueprint.own_rubrics)
            cells = {(_system(row), row["dimension"]): row for row in of}
            systems = [system for system in ranked if any((system, each) in cells for each in order)]
            rows = [
                (_name(ranked[system], data), *_dimension_cells([cells.get((system, each)) for each in order], falling))
                for system in systems
            ]
            scores = columns("score", *(title_dimension(rubric, each, data.blueprint.own_rubrics) for each in order), "average")
            tables += [Table((Column("Model", "name"), *scores), rows, dataset.title)] if rows else []
    return tuple(tables)


def _system(row: Row) -> tuple[str, str, str]:
    return row["model"], row["setting"], row[RUN]


def _name(row: Row, data: LeaderboardData) -> str:
    group = f", group {row[GROUP]}" if len(data.groups) > 1 else ""
    return f"{System(row['model'], row['setting']).label}{group}"


def _dimension_cells(rows: Sequence[Row | None], falling: Set[str]) -> Iterator[Value]:
    """Yield scores by dimension and their mean: it has no interval of its own, and none is told unless each has a score.

    In the mean, a score of which low is good counts as what it lacks of 100.
    """
    known = [row for row in rows if row and row["score"] is not None]
    scores = [100 - row["score"] if row["dimension"] in falling else row["score"] for row in known]
    yield from (score_cell(row) if row else None for row in rows)
    yield fmean(scores) if len(scores) == len(rows) else None


GROUPS = "Scores on 0–100 over the items of each group, with 95 % interval and number of answers. Groups of few items say little."


def lay_out_groups(data: ReportData) -> Iterator[Block]:
    """Yield the scores by group and value, in the order of the datasets; nothing where no item is in a group."""
    rows = sorted(score_groups(data), key=lambda row: data.dataset_order(row["dataset"]))
    groups = groupby(rows, key=itemgetter("dataset", "model", "setting"))
    blocks = [Block(tables=(_group_table(data, list(some)),)) for _, some in groups]
    yield from [Block(words=GROUPS), *blocks] if blocks else ()


def _group_table(data: ReportData, rows: list[Row]) -> Table:
    measures = dict.fromkeys(row["measure"] for row in rows)
    cells = {(row["group"], row["value"], row["measure"]): score_cell(row) for row in rows}
    lines: list[tuple[Value, ...]] = []
    for group, value in dict.fromkeys((row["group"], row["value"]) for row in rows):
        scores = (cells.get((group, value, measure)) for measure in measures)
        lines.append((group.replace("_", " "), value.replace("_", " "), *scores))
    heads = (*columns("name", "Group", "Value"), *columns("score", *(measure.replace("_", " ") for measure in measures)))
    title = f"{data.titles[rows[0]['dataset']]}: {System(rows[0]['model'], rows[0]['setting']).label}"
    return Table(heads, lines, title)


class Headlines(DatasetHeadlines):
    """What a dataset has, with its tables."""

    def table(self, systems: Iterable[System]) -> Table:
        """Return the scores, a row per system."""
        scores = {(System(row.model, row.setting), row.headline): score_cell(dict(row)) for row in self.scores}
        rows = [(system.label, *(scores.get((system, name)) for name in self.metrics)) for system in systems]
        return Table((Column("Model", "name"), *columns("score", *self.metrics)), rows, f"Scores: {self.dataset}")


HEADLINES = "On 0–100, with 95 % interval and number of items. A dash is a missing score, not 0."
RHO = (
    "Spearman's rho over the models that have both: 1 is the same order, −1 the reverse. A dash: fewer than three models, or all "
    "alike. What is a part of another score goes with it by construction."
)
FEWEST = 3
"""Models that can be ranked alike."""


def lay_out_headlines(headlines: Sequence[Headlines], systems: Sequence[System]) -> Iterator[Block]:
    """Yield the scores of each dataset side by side, and how alike they rank the systems in each setting."""
    for entry in headlines:
        metrics = ", ".join(f"{headline}: {metric}" for headline, metric in entry.metrics.items())
        title = entry.dataset if len(headlines) > 1 else ""
        yield Block(title, f"{HEADLINES} {metrics}; the method defines them.", (entry.table(systems),))
        matrices = entry.correlations.items() if len(systems) >= FEWEST else ()
        tables = [correlations_table("Rank correlations", setting_title(setting), matrix) for setting, matrix in matrices]
        words = RHO if tables else "A rank correlation needs three models."
        yield Block("Do they rank the models alike?", words, tuple(tables), folds=True)


def describe_headlines(blueprint: Blueprint, layers: Mapping[str, pl.DataFrame]) -> Iterator[Headlines]:
    """Yield what each dataset with headlines has; `layers`: `raw_scores` and `normalized_scores` by name."""
    scored = metric_scores(layers["raw_scores"], layers["normalized_scores"], blueprint).sort("setting", "model")
    selected = scored.select("model", "setting", "score", "ci_low", "ci_high", "n", "n_total", "dataset", "method", "metric")
    for name, dataset in blueprint.datasets.items():
        specs = {
            spec.headline: (method.id, spec.metric) for method in dataset.methods for spec in method.metrics if spec.headline
        }
        rows = [
            {"headline": headline, **row}
            for headline, (method, metric) in specs.items()
            for row in selected.filter(dataset=name, method=method, metric=metric).iter_rows(named=True)
        ]
        if specs:
            metrics = {headline: metric for headline, (_, metric) in specs.items()}
            scores = tuple(HeadlineScore(**row) for row in rows)
            yield Headlines(dataset=dataset.title, metrics=metrics, scores=scores, correlations=dict(_correlate(rows, metrics)))


def _correlate(rows: Sequence[Row], headlines: Iterable[str]) -> Iterator[tuple[str, dict[str, dict[str, float | None]]]]:
    for setting in dict.fromkeys(row["setting"] for row in rows):
        scores = {(row["headline"], row["model"]): row["score"] for row in rows if row["setting"] == setting}
        models = dict.fromkeys(model for _, model in scores)
        yield setting, rank_correlations({name: [scores.get((name, model)) for model in models] for name in headlines})


GAINS = (
    "Difference of a setting and Base over the items that were scored in both, in points on 0–100. Lines: 95 % intervals of the "
    "difference, items paired. An interval that includes 0 may be chance."
)


def lay_out_gains(data: ReportData) -> Iterator[Block]:
    """Yield the gains of each model, in the order of the report: the total, then the datasets in the blueprint's order."""
    gains = data.setting_gains.rows_by_key("model", named=True)
    models = dict.fromkeys(system.model for system in data.systems if system.model in gains)
    yield from [Block(words=GAINS)] if models else ()
    for model in models:
        rows = gains[model]
        rows.sort(key=lambda row: (row["scope"] != OF_ALL, data.dataset_order(row["scope"]), setting_order(row["setting"])))
        titles = ["Total" if row["scope"] == OF_ALL else data.title_of(row["scope"]) for row in rows]
        named = [(title, setting_title(row["setting"]), row) for title, row in zip(titles, rows, strict=True)]
        most = max(named, key=lambda gain: abs(gain[-1]["gain"]))
        words = f"The largest difference from Base is {signed(most[-1]['gain'])}: {most[0]} with {most[1]}."
        points = (Point(row["gain"], title, setting, None, row["ci_low"], row["ci_high"]) for title, setting, row in named)
        chart = Chart(model, words, "ranges", tuple(points), x=Axis("points gained over Base"))
        yield Block(charts=(chart,), tables=(_gains_table(model, named),))


def _gains_table(model: str, gains: Sequence[tuple[str, str, Row]]) -> Table:
    """Return the gains with the scores that they are differences of."""
    scores = (*columns("score", "Base", "Setting", digits=1), Column("Gain, 95 % interval", "difference", 1))
    lines = [
        (title, setting, row["base_0_100"], row["setting_0_100"], difference_cell(row["gain"], row), row["n_items"])
        for title, setting, row in gains
    ]
    return Table((*columns("name", "Score", "Setting"), *scores, Column("Items", "count")), lines, f"Gains of {model}")
