"""Algorithm 1: raw scores of any unit to normalised scores on 0-100."""

import polars as pl

from schemas.errors import ScoringError
from schemas.metrics import sort_keys
from tasks.scoring.tree import Tree

SPEC = ["dataset", "method", "metric"]
_VALUE, _KIND, _LOW, _HIGH = pl.col("value"), pl.col("kind"), pl.col("low"), pl.col("high")


def normalise_scores(raw: pl.DataFrame, tree: Tree) -> pl.DataFrame:
    """Put raw scores on 0-100 by the rule the blueprint gives their method. Out of range is an error, never clamped.

    Null stays null; the order of rows is unspecified.

    Raises:
        ScoringError: if a score belongs to no method of the blueprint, lies outside its bounds or is an unknown grade.
    """
    scored = raw.join(tree.metrics.drop("weight"), on=SPEC, how="left")
    if not (unknown := scored.filter(_KIND.is_null())).is_empty():
        raise _refusal(
            unknown, "a score belongs to no method of the blueprint", "a dataset, method and metric the blueprint names"
        )
    if not (outside := scored.filter(~_VALUE.is_between(_LOW, _HIGH))).is_empty():
        row = _first(outside)
        expected = f"between {row['low']:g} and {row['high']:g} ({row['kind']})"
        raise _refusal(outside, "a raw score lies outside what its method allows", expected)
    graded = scored.with_columns(grade=plain_number(_VALUE)).join(tree.grades, on=[*SPEC, "grade"], how="left")
    if not (strange := graded.filter((_KIND == "grade") & _VALUE.is_not_null() & pl.col("points").is_null())).is_empty():
        raise _refusal(strange, "a raw score is no grade of its method", "a grade of the method's table")
    grade = pl.when(_KIND == "grade").then("points")
    normalized = grade.otherwise(scale(_VALUE, _KIND, _LOW, _HIGH))
    return graded.select("model", *SPEC, "setting", "n_scored", "n_total", normalized_0_100=normalized)


def scale(value: pl.Expr, kind: pl.Expr, low: pl.Expr, high: pl.Expr) -> pl.Expr:
    """Return raw to 0-100 for the kinds that have bounds.

    numeric: (raw - min) / (max - min) x 100. ratio: raw x 100. none: raw itself. centred: (1 - |raw - best| / span) x 100, where
    the bounds are best - span and best + span.
    """
    # Twice the distance to the nearer bound is 1 - |raw - best| / span; the upper limit only takes away rounding.
    centred = (pl.min_horizontal(value - low, high - value) * 2 / (high - low) * 100).clip(upper_bound=100)
    shared = (value - low) / (high - low) * 100
    return pl.when(kind == "none").then(value).when(kind == "centred").then(centred).otherwise(shared)


def plain_number(value: pl.Expr) -> pl.Expr:
    """Return a number as it is written in names of grades and bins: 3 for 3.0, 2.5 for 2.5."""
    whole = value.cast(pl.Int64, strict=False)
    return pl.when(value == whole).then(whole.cast(pl.String)).otherwise(value.cast(pl.String))


def _first(rows: pl.DataFrame) -> dict[str, object]:
    return rows.sort(sort_keys((*SPEC, "model", "setting"))).row(0, named=True)


def _refusal(rows: pl.DataFrame, what: str, expected: str) -> ScoringError:
    row = _first(rows)
    return ScoringError(
        what,
        where=f"dataset {row['dataset']}, method {row['method']}, metric {row['metric']}, model {row['model']}",
        expected=expected,
        got=f"{row['value']} ({rows.height} such scores)",
        next_step="correct the method's normalisation in the blueprint, or score the replies again",
    )
