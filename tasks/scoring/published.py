"""Read the papers' tables and score them by the functions that runs use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.errors import SourceError, SourceMissingError
from schemas.folders import DATA_FOLDER
from schemas.tables.scores import Totals
from tasks.scoring.tree import dataset_counts
from tasks.scoring.uncertainty import LIMITS, LIMITS_OF_GATE
from tasks.scoring.veto import apply_veto, rank_models, total_scores

SchemaT = TypeVar("SchemaT", bound=dy.Schema)

FOLDER = DATA_FOLDER / "published"
PUBLISHED = FOLDER / "moodbench_table4.csv"
ABILITIES = ["foundational", "emotional", "companionship", "values_safety"]
SETTING = "base"
"""MoodBench asks its items plainly."""


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
    series = dy.String(min_length=1, description="family, as Table 3 has it: what the model's name begins with")
    institution = dy.String()
    type = dy.String()
    parameters = dy.String()


class PublishedLongEmotion(dy.Schema):
    """LongEmotion, Table 2: one row per method and model. Column names are the paper's."""

    method = dy.Enum(["Base", "RAG", "CoEM"], primary_key=True)
    model = dy.String(primary_key=True, min_length=1)
    EC = dy.Float64(min=0, max=100, description="accuracy, percent")
    ED = dy.Float64(min=0, max=100, description="accuracy, percent")
    QA = dy.Float64(min=0, max=100, description="F1, percent")
    ES = dy.Float64(min=1, max=5, description="mean rating on 1 to 5")
    MC4 = dy.Float64(min=0, max=5, description="mean rating on 0 to 5")
    EE = dy.Float64(min=0, max=100, description="mean rating on 0 to 100")
    avg = dy.Float64(min=0, max=100, description="overall average as printed")


DIMENSIONS = ("fluency", "expression", "empathy", "information", "skillful", "humanoid", "overall")
LANGUAGE = "language"


class PublishedEscEval(dy.Schema):
    """ESC-Eval, Table 2: one row per model and language; means of people's ratings on 0-100."""

    language = dy.Enum(["en", "zh"], primary_key=True)
    kind = dy.Enum(["closed", "open", "domain"], alias="class")
    model = dy.String(primary_key=True, min_length=1)
    fluency = dy.Float64(min=0, max=100)
    expression = dy.Float64(min=0, max=100)
    empathy = dy.Float64(min=0, max=100)
    information = dy.Float64(min=0, max=100)
    skillful = dy.Float64(min=0, max=100)
    humanoid = dy.Float64(min=0, max=100)
    overall = dy.Float64(min=0, max=100)
    average = dy.Float64(min=0, max=100, description="of the seven, as printed")
    note = dy.String(nullable=True, description="ours: what is to be known of the row")


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper of this title.

    `abilities`: each main ability on 0-100, from the printed columns. `total`: its column; null = none is printed. `methods`: the
    setting of each method; without any all is `setting`. `beside`: columns that rows keep; by their `language` they are ranked.
    """

    paper: str
    file: Path
    schema: type[dy.Schema]
    abilities: Mapping[str, pl.Expr]
    total: str | None
    methods: Mapping[str, str] = field(default_factory=dict)
    setting: str = SETTING
    beside: tuple[str, ...] = ()


TABLES = (
    PaperTable(
        "MoodBench",
        PUBLISHED,
        PublishedScores,
        {name: pl.col(name) for name in ABILITIES},
        "overall",
        beside=("ranked", "series", "type", "parameters"),
    ),
    PaperTable(
        "LongEmotion",
        FOLDER / "longemotion_table2.csv",
        PublishedLongEmotion,
        {
            "emotion_classification": pl.col("EC"),
            "emotion_detection": pl.col("ED"),
            "emotion_qa": pl.col("QA"),
            "emotion_summary": pl.col("ES") * 20,
            "emotion_conversation": pl.col("MC4") * 20,
            "emotion_expression": pl.col("EE"),
        },
        "avg",
        {"Base": "base", "RAG": "rag", "CoEM": "coem"},
    ),
    PaperTable(
        "ESC-Eval",
        FOLDER / "esceval_table2.csv",
        PublishedEscEval,
        {
            ability: pl.when(pl.col(LANGUAGE) == language).then(pl.mean_horizontal(DIMENSIONS))
            for ability, language in {"english": "en", "chinese": "zh"}.items()
        },
        None,
        setting="role_play",
        beside=(LANGUAGE, "class", "note"),
    ),
)
_KNOWN = [ability for table in TABLES for ability in table.abilities]


def read_table(file: Path, schema: type[SchemaT]) -> dy.DataFrame[SchemaT]:
    """Read a published table, rows in the printed order.

    Raises:
        SourceMissingError: if the file is not there.
        SourceError: if it is not such a table.
    """
    if not file.is_file():
        raise SourceMissingError("the published table is missing", where=str(file), next_step="reinstall the package")
    columns = {name: column.dtype for name, column in schema.columns().items()}
    try:
        return schema.validate(pl.read_csv(file, schema=columns))
    except (pl.exceptions.PolarsError, dy.exc.ValidationError, dy.exc.SchemaError) as error:
        raise SourceError(
            "the published table cannot be used",
            where=str(file),
            expected=f"a CSV with the columns {', '.join(columns)}, one row per model, scores on the paper's scales",
            got=str(error).splitlines()[0],
            next_step="compare the file with the paper's table",
        ) from error


def table_of(blueprint: Blueprint) -> PaperTable | None:
    """Return the paper's table that has a column for one of a benchmark's main abilities; None if no paper's has."""
    main = {ability.id for ability in blueprint.abilities}
    return next((table for table in TABLES if main & set(table.abilities)), None)


def published_of(blueprint: Blueprint) -> pl.DataFrame | None:
    """Return what a paper published of a benchmark's main abilities, on the benchmark's scales.

    Variants of a benchmark (`-mini`, `-released`) have its abilities and weights, hence its table: it says where published models
    stand, not that they were asked the variant's items.

    Returns:
        model, setting, one column on 0-100 per main ability, `overall` (the total as printed, if one is), what the table has
        beside these, rows in the printed order; None if no paper has published scores of these abilities.
    """
    table = table_of(blueprint)
    if table is None:
        return None
    printed = read_table(table.file, table.schema).cast({pl.Enum: pl.String})
    setting = pl.col("method").replace_strict(table.methods) if table.methods else pl.lit(table.setting)
    total = {"overall": pl.col(table.total)} if table.total else {}
    return printed.select("model", setting.alias("setting"), *table.beside, **total, **table.abilities)


def published_abilities(published: pl.DataFrame) -> pl.DataFrame:
    """Return the ability columns of a published table, one row per model, setting, language if it has that, and ability."""
    named = published if "setting" in published.columns else published.with_columns(setting=pl.lit(SETTING))
    abilities = [name for name in _KNOWN if name in published.columns]
    index = [name for name in ("model", "setting", LANGUAGE) if name in named.columns]
    return named.unpivot(abilities, index=index, variable_name="ability", value_name="score_0_100")


def score_published(published: pl.DataFrame, blueprint: Blueprint) -> dy.DataFrame[Totals]:
    """Return rows of `totals`, without intervals and item counts, from a paper's ability columns, by the functions that runs use.

    An ability with a number counts as fully measured: the papers state no coverage. Rows without a setting are `base`.
    """
    scored = pl.col("score_0_100").is_not_null()
    rows = published_abilities(published).join(dataset_counts(blueprint), on="ability")
    abilities = rows.with_columns(
        datasets_scored=pl.when(scored).then("datasets_total").otherwise(0),
        n_scored=pl.lit(0, pl.Int64),
        n_total=pl.lit(0, pl.Int64),
    )
    none = [pl.lit(None, kind).alias(name) for name, kind in {**LIMITS, **LIMITS_OF_GATE}.items()]
    totals = total_scores(abilities, blueprint).with_columns(none)
    ranked = rank_models(apply_veto(totals, blueprint), blueprint)
    return Totals.validate(ranked.select(Totals.column_names()).sort("model", "setting"))
