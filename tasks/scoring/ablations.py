"""Lay the scores of an ablation's variants side by side."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product

import dataframely as dy
import polars as pl

from schemas.ablation import Varied, number_of
from schemas.lineage import PartitionRef
from schemas.tables.comparisons import Ablations
from schemas.tables.scores import NormalizedScores, RawScores
from tasks.scoring.normalisation import SPEC
from tasks.scoring.reduction import KEY


@dataclass(frozen=True)
class Variant:
    """One combination of factors' values, in columns of the layer; the `_value`s are null where a value is no number."""

    variant: str
    factor: str
    x: str
    x_value: float | None
    second_factor: str | None = None
    y: str | None = None
    y_value: float | None = None


@dataclass(frozen=True)
class VariantScores:
    """A variant and where its scores are."""

    variant: Variant
    raw: PartitionRef
    normalized: PartitionRef


def list_variants(varied: Sequence[Varied]) -> Iterator[tuple[Variant, tuple[str, ...]]]:
    """List every combination of the factors' values, as the layer names it and as it is."""
    factors = [one.factor for one in varied]
    for values in product(*(one.values for one in varied)):
        yield _variant(factors, values), values


def _variant(factors: list[str], values: tuple[str, ...]) -> Variant:
    second = (factors[1], values[1], number_of(values[1])) if len(factors) > 1 else (None, None, None)
    named = ", ".join(f"{factor} {value}" for factor, value in zip(factors, values, strict=True))
    return Variant(named, factors[0], values[0], number_of(values[0]), *second)


def ablation_rows(
    ablation: str,
    scored: Iterable[tuple[Variant, dy.DataFrame[RawScores], dy.DataFrame[NormalizedScores]]],
    metrics: pl.DataFrame,
) -> dy.DataFrame[Ablations]:
    """Return the layer `ablations`.

    Args:
        ablation: its name.
        scored: every variant with its raw and normalised scores.
        metrics: those of the blueprint, rows of Tree.metrics. Scores that are no ratios get no interval, since theirs is one of
            raw scores.
    """
    frames = [_rows(variant, raw, normalized, metrics) for variant, raw, normalized in scored]
    schema = Ablations.create_empty().schema
    rows = pl.concat(frames).with_columns(ablation=pl.lit(ablation)).select(schema.names()).cast(schema)
    return Ablations.validate(rows.sort(Ablations.primary_key()))


def _rows(variant: Variant, raw: pl.DataFrame, normalized: pl.DataFrame, metrics: pl.DataFrame) -> pl.DataFrame:
    scores = raw.join(normalized.select(*KEY, value_0_100="normalized_0_100"), on=KEY)
    joined = scores.join(metrics.select(*SPEC, "kind"), on=SPEC, how="left")
    limits = [pl.when(kind="ratio").then(100 * pl.col(name)).alias(name) for name in ("ci_low", "ci_high")]
    return joined.with_columns(*limits, **{name: pl.lit(value) for name, value in asdict(variant).items()})
