"""Read what papers say of their own runs, and score their tables by the functions that runs use."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import new_class
from typing import Any

import dataframely as dy
import polars as pl
from pydantic import ValidationError

from schemas.benchmark import rows
from schemas.blueprint import Blueprint
from schemas.errors import SourceError, SourceMissingError
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.model_description import ModelDescription, parse_size
from schemas.paper import AbilityColumns, ModelTable, Paper, PrintedColumn
from schemas.table import Interval
from schemas.tables.scores import Totals
from tasks.scoring.aggregation import apply_veto, rank_models, total_scores
from tasks.scoring.normalisation import describe_normalisation, raw_bounds, scale
from tasks.scoring.tree import dataset_counts
from tasks.scoring.uncertainty import LIMITS, LIMITS_OF_GATE

FOLDER = DATA_FOLDER / "published"
BASE_SETTING = "base"
LANGUAGE = "language"
TOTAL = "overall"
"""Column of the total as printed; for vetoed models it is the one before the veto."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A paper's table of models; it may be without rows.

    `wide`: a row per model and setting with a column per ability, TOTAL, `ranked`, and what the paper states beside these.
    """

    wide: pl.DataFrame

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Settings of the table, in its order."""
        return tuple(dict.fromkeys(self.wide["setting"]))

    def scores(self, name: str, setting: str, *, ranked: bool = False) -> list[float]:
        """Return an ability's scores, or TOTAL's, of all models in one setting, on request of the ranked ones alone."""
        if name not in self.wide.columns:
            return []
        of_setting = self.wide.filter((pl.col("setting") == setting) & (pl.col("ranked") | (not ranked)))
        return of_setting[name].drop_nulls().to_list()

    def range_of(self, ability: str, setting: str) -> Interval | None:
        """Return range of one ability in one setting; null if the table has none."""
        values = self.scores(ability, setting)
        return Interval(min(values), max(values)) if values else None


def as_table(published: pl.DataFrame | None = None) -> PublishedTable:
    """Return published scores as a table: `setting` is left out where all are `base`, `ranked` where all are; null = none."""
    if published is None or published.is_empty():
        return PublishedTable(pl.DataFrame(schema={"setting": pl.String, "ranked": pl.Boolean}))
    usual = {"setting": pl.lit(BASE_SETTING), "ranked": pl.lit(value=True)}
    return PublishedTable(
        published.with_columns(**{name: value for name, value in usual.items() if name not in published.columns})
    )


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers of all benchmarks; raise SourceError if a file of one cannot be used."""
    return tuple(read_paper(file) for file in rows("papers", Path))


def read_paper(file: Path) -> Paper:
    """Read the YAML file of a paper; raise SourceError if it cannot be used."""
    try:
        return Paper.model_validate({**read_yaml(read_text(file)), "folder": file.parent})
    except (OSError, ValueError) as error:
        reason = str(error) if isinstance(error, ValidationError) else repr(error)
        step = "correct the file, or reinstall the package that has it"
        raise SourceError("the file of a paper cannot be used", where=str(file), got=reason, next_step=step) from error


def paper_of(blueprint: Blueprint) -> Paper | None:
    """Return the paper of a benchmark: the one that names its blueprint, or whose table has one of its main abilities."""
    if listed := [paper for paper in papers() if blueprint.name in paper.blueprints]:
        return listed[0]
    main = {ability.id for ability in blueprint.abilities}
    return next((paper for paper in papers() if main & paper.models.abilities.keys()), None)


def read_table(paper: Paper, table: ModelTable) -> pl.DataFrame:
    """Read a table of a paper, rows in the printed order; raise SourceError if its file is missing or is no such table."""
    file = paper.folder / table.file
    if not file.is_file():
        raise SourceMissingError("the published table is missing", where=str(file), next_step="reinstall the package")
    columns = {name: _schema_column(column, is_key=name in table.key) for name, column in table.columns.items()}
    schema: Any = new_class("Printed", (dy.Schema,), exec_body=lambda namespace: namespace.update(columns))
    line = ""
    try:
        printed = pl.read_csv(file, schema={name: column.dtype for name, column in columns.items()})
        faulty = (n for n, row in enumerate(printed.iter_slices(1), start=2) if not schema.is_valid(row))
        line = "".join(f", line {n}" for n in islice(faulty, 1))
        return pl.DataFrame(schema.validate(printed)).cast({pl.Enum: pl.String})
    except (pl.exceptions.PolarsError, dy.exc.ValidationError, dy.exc.SchemaError) as error:
        raise SourceError(
            "the published table cannot be used",
            where=f"{file}{line}",
            expected=f"a CSV with the columns {', '.join(columns)}, one row per model, scores on the paper's scales",
            got=" ".join(str(error).split()),
            next_step="compare the file with the paper's table",
        ) from error


def _schema_column(column: PrintedColumn, *, is_key: bool) -> dy.Column:
    if column.values:
        return dy.Enum(column.values, nullable=column.optional, primary_key=is_key)
    if column.kind == "number":
        low, high = (0 if column.low is None else column.low), (100 if column.high is None else column.high)
        return dy.Float64(min=low, max=high, nullable=column.optional, primary_key=is_key)
    if column.kind == "whole":
        least, most = (None if limit is None else int(limit) for limit in (column.low, column.high))
        return dy.Int64(min=least, max=most, nullable=column.optional, primary_key=is_key)
    if column.kind == "yes_no":
        return dy.Bool(nullable=column.optional, primary_key=is_key)
    return dy.String(min_length=1, nullable=column.optional, primary_key=is_key)


def ability_score(columns: AbilityColumns) -> pl.Expr:
    """Return a main ability on 0-100 as an expression over a printed table; null in rows of other languages."""
    mean = pl.col(columns.mean[0]) if len(columns.mean) == 1 else pl.mean_horizontal(columns.mean)
    score = scale(mean, pl.lit(columns.normalisation.type), *map(pl.lit, raw_bounds(columns.normalisation)))
    return pl.when(**columns.where).then(score) if columns.where else score


def published_of(blueprint: Blueprint) -> pl.DataFrame | None:
    """Return what a paper published of a benchmark's main abilities, on the benchmark's scales.

    Variants of a benchmark (`-mini`, `-released`) have its abilities and weights, hence its table: it says where published models
    stand, not that they were asked the variant's items.

    Columns: model, setting, one on 0-100 per main ability, TOTAL if one is printed, what the table has beside these; rows in the
    printed order. None if no paper has published scores of these abilities.
    """
    paper = paper_of(blueprint)
    return None if paper is None else scores_of_paper(paper)


def scores_of_paper(paper: Paper) -> pl.DataFrame:
    """Return the scores of a paper's table as above; SourceError: one of them lies outside 0-100."""
    table = paper.models
    setting = pl.col("method").replace_strict(table.methods) if table.methods else pl.lit(table.setting)
    total = {TOTAL: pl.col(table.total)} if table.total else {}
    abilities = {name: ability_score(columns) for name, columns in table.abilities.items()}
    scores = read_table(paper, table).select("model", setting.alias("setting"), *table.beside, **total, **abilities)
    for name, columns in table.abilities.items():
        _require_points(scores, name, columns, paper.folder / table.file)
    return scores


def _require_points(scores: pl.DataFrame, ability: str, columns: AbilityColumns, file: Path) -> None:
    outside = scores.with_row_index("line", offset=2).filter(~pl.col(ability).is_between(0, 100))
    if outside.height:
        row = outside.row(0, named=True)
        raise SourceError(
            "a published score lies outside 0-100",
            where=f"{file}, line {row['line']}, {' and '.join(columns.mean)}",
            expected=f"{describe_normalisation(columns.normalisation)} within 0-100",
            got=f"{row[ability]:g} of {row['model']} for the ability {ability} ({outside.height} such scores)",
            next_step="correct the normalisation of the ability's columns in the paper's file, or the number",
        )


def published_descriptions(blueprint: Blueprint) -> dict[str, ModelDescription]:
    """Return what a paper's table says of its models, by name; a size in words is none."""
    if (paper := paper_of(blueprint)) is None:
        return {}
    printed = read_table(paper, paper.models).select("model", **paper.models.about).to_dicts()
    sized = (row if parse_size(row.get("parameters") or "") else {**row, "parameters": None} for row in printed)
    return {row.pop("model"): ModelDescription.model_validate(row) for row in sized}


def published_abilities(published: pl.DataFrame) -> pl.DataFrame:
    """Return the ability columns of a published table, one row per model, setting, language if it has that, and ability."""
    with_setting = published if "setting" in published.columns else published.with_columns(setting=pl.lit(BASE_SETTING))
    abilities = [name for paper in papers() for name in paper.models.abilities if name in published.columns]
    index = [name for name in ("model", "setting", LANGUAGE) if name in with_setting.columns]
    return with_setting.unpivot(abilities, index=index, variable_name="ability", value_name="score_0_100")


def score_published(published: pl.DataFrame, blueprint: Blueprint) -> dy.DataFrame[Totals]:
    """Return rows of `totals`, without intervals and item counts, from a paper's ability columns, by the functions that runs use.

    An ability with a number counts as fully measured: the papers state no coverage. Rows without a setting are `base`.
    """
    scored = pl.col("score_0_100").is_not_null()
    counted = published_abilities(published).join(dataset_counts(blueprint), on="ability")
    abilities = counted.with_columns(
        datasets_scored=pl.when(scored).then("datasets_total").otherwise(0),
        n_scored=pl.lit(0, pl.Int64),
        n_total=pl.lit(0, pl.Int64),
    )
    none = [pl.lit(None, kind).alias(name) for name, kind in {**LIMITS, **LIMITS_OF_GATE}.items()]
    totals = total_scores(abilities, blueprint).with_columns(none)
    ranked = rank_models(apply_veto(totals, blueprint), blueprint)
    return Totals.validate(ranked.select(Totals.column_names()).sort("model", "setting"))
