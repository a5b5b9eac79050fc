"""Describe the scores that a report shows before the total, those with a headline, and how alike they rank the models."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from schemas.blueprint import Blueprint
from schemas.metrics import Metric
from schemas.table import Column, Table, columns
from tasks.explain.groups import metric_scores
from tasks.reporting.content.score_tables import score_cell
from tasks.runs.run_tables import Row, System
from tasks.scoring.benchmark import rank_correlation
from tasks.solvers.registry import setting_title


@dataclass(frozen=True)
class Headlines:
    """What a dataset has. `metrics`: by headline, in the order of the blueprint.

    `scores`: headline, model, setting, `score` on 0-100, 95 % interval `ci_low` to `ci_high`, `n` of `n_total` items scored.
    `correlations`: by setting and two headlines Spearman's rho; null where fewer than three models have both or one never varies.
    """

    dataset: str
    metrics: Mapping[str, Metric]
    scores: list[Row]
    correlations: Mapping[str, Mapping[str, Mapping[str, float | None]]]

    def table(self, systems: Iterable[System]) -> Table:
        """Return the scores, a row per system."""
        scores = {(System(row["model"], row["setting"]), row["headline"]): score_cell(row) for row in self.scores}
        rows = [(system.label, *(scores.get((system, name)) for name in self.metrics)) for system in systems]
        return Table((Column("Model", "name"), *columns("score", *self.metrics)), rows, f"Scores: {self.dataset}")

    @property
    def correlation_tables(self) -> tuple[Table, ...]:
        """Rank correlations of each setting, a row and a column per headline."""
        return tuple(
            Table(
                (Column(setting_title(setting), "name"), *columns("number", *matrix)),
                [(name, *("" if other == name else rho[other] for other in matrix)) for name, rho in matrix.items()],
                "Rank correlations",
            )
            for setting, matrix in self.correlations.items()
        )


def describe_headlines(blueprint: Blueprint, layers: Mapping[str, pl.DataFrame]) -> Iterator[Headlines]:
    """Yield what each dataset with headlines has; `layers`: `raw_scores` and `normalized_scores` by name."""
    known = metric_scores(layers["raw_scores"], layers["normalized_scores"], blueprint).sort("setting", "model")
    shown = known.select("model", "setting", "score", "ci_low", "ci_high", "n", "n_total", "dataset", "method", "metric")
    for name, dataset in blueprint.datasets.items():
        specs = {
            spec.headline: (method.id, spec.metric) for method in dataset.methods for spec in method.metrics if spec.headline
        }
        rows = [
            {"headline": headline, **row}
            for headline, (method, metric) in specs.items()
            for row in shown.filter(dataset=name, method=method, metric=metric).iter_rows(named=True)
        ]
        if specs:
            metrics = {headline: metric for headline, (_, metric) in specs.items()}
            yield Headlines(dataset.title, metrics, rows, dict(_correlate(rows, metrics)))


def _correlate(rows: Sequence[Row], headlines: Iterable[str]) -> Iterator[tuple[str, dict[str, dict[str, float | None]]]]:
    for setting in dict.fromkeys(row["setting"] for row in rows):
        known = {(row["headline"], row["model"]): row["score"] for row in rows if row["setting"] == setting}
        models = dict.fromkeys(model for _, model in known)
        values = {name: [known.get((name, model)) for model in models] for name in headlines}
        pairs = {one: [other for other in values if other != one] for one in values}
        yield setting, {one: {other: rank_correlation(values[one], values[other]) for other in pairs[one]} for one in values}
