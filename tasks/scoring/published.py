"""Tables of the papers, scored by the functions that runs use."""

from pathlib import Path

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.errors import SourceError, SourceMissingError
from schemas.tables.scores import AbilityScores, Totals
from tasks.scoring.tree import dataset_counts
from tasks.scoring.veto import rank_models, total_scores

PUBLISHED = Path(__file__).resolve().parents[2] / "data" / "published" / "moodbench_table4.csv"
ABILITIES = ["foundational", "emotional", "companionship", "values_safety"]
SETTING = "base"
"""The papers ask their items plainly."""


class PublishedScores(dy.Schema):
    """MoodBench 1.0, Table 4: one row per model, scores on 0-100. Column names are the paper's."""

    rank = dy.Int64(nullable=True, min=1)
    model = dy.String(primary_key=True, min_length=1)
    overall = dy.Float64(min=0, max=100, description="total as printed; for vetoed models the one before the veto")
    foundational = dy.Float64(min=0, max=100)
    emotional = dy.Float64(min=0, max=100)
    companionship = dy.Float64(min=0, max=100)
    values_safety = dy.Float64(min=0, max=100)
    ranked = dy.Bool(description="false for vetoed models")
    institution = dy.String()
    type = dy.String()
    parameters = dy.String()


def load_published(file: Path = PUBLISHED) -> dy.DataFrame[PublishedScores]:
    """Read a published table, rows in the printed order.

    Args:
        file: CSV with the columns of PublishedScores.

    Raises:
        SourceMissingError: if the file is not there.
        SourceError: if it is not such a table.
    """
    if not file.is_file():
        raise SourceMissingError("the published table is missing", where=str(file), next_step="reinstall the package")
    columns = {name: column.dtype for name, column in PublishedScores.columns().items()}
    try:
        return PublishedScores.validate(pl.read_csv(file, schema=columns))
    except (pl.exceptions.PolarsError, dy.exc.ValidationError, dy.exc.SchemaError) as error:
        raise SourceError(
            "the published table cannot be used",
            where=str(file),
            expected=f"a CSV with the columns {', '.join(columns)}, one row per model, scores on 0-100",
            got=str(error).splitlines()[0],
            next_step="compare the file with the paper's table",
        ) from error


def published_abilities(published: pl.DataFrame) -> pl.DataFrame:
    """The ability columns of a published table, one row per model and ability.

    Returns:
        model, setting, ability, score_0_100; null where the table has no number.
    """
    long = published.unpivot(ABILITIES, index="model", variable_name="ability", value_name="score_0_100")
    return long.with_columns(setting=pl.lit(SETTING)).select("model", "setting", "ability", "score_0_100")


def score_published(published: pl.DataFrame, blueprint: Blueprint) -> dy.DataFrame[Totals]:
    """Totals, veto and ranks of a paper's models, from its ability columns, by the functions that runs use.

    Args:
        published: model and one column per main ability, on 0-100.
        blueprint: weights and gate. An ability with a number counts as fully measured: the papers state no coverage.

    Returns:
        Rows of `totals`, by model, without intervals and item counts.
    """
    totals = rank_models(total_scores(complete_abilities(published, blueprint), blueprint), blueprint)
    none = [pl.lit(None, pl.Float64).alias(name) for name in ("ci_low", "ci_high")]
    return Totals.validate(totals.with_columns(none).select(Totals.column_names()).sort("model", "setting"))


def complete_abilities(published: pl.DataFrame, blueprint: Blueprint) -> dy.DataFrame[AbilityScores]:
    """Rows of `ability_scores` as a run would have written them with these scores."""
    scored = pl.col("score_0_100").is_not_null()
    rows = published_abilities(published).join(dataset_counts(blueprint), on="ability")
    counted = rows.with_columns(
        datasets_scored=pl.when(scored).then("datasets_total").otherwise(0),
        n_scored=pl.lit(0, pl.Int64),
        n_total=pl.lit(0, pl.Int64),
    )
    return AbilityScores.validate(counted.select(AbilityScores.column_names()))
