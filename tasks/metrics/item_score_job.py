"""Score one dataset, model and setting: what is read of the lake, and its rows."""

from dataclasses import dataclass

import polars as pl

from schemas.blueprint import MethodSpec
from schemas.errors import ScoringError
from schemas.lineage import PartitionKey, PartitionRef
from schemas.metrics import METRICS
from schemas.tables.items import Items
from schemas.tables.layers import LAYERS
from schemas.tables.responses import Answers, Judgements
from tasks.lake.frames import sort_keys
from tasks.lake.lake import Lake
from tasks.metrics.item_scores import score_items, wholes_of
from tasks.metrics.metric import PROFILES


@dataclass(frozen=True)
class ItemScoreJob:
    """One dataset, model and setting to score."""

    methods: tuple[MethodSpec, ...]
    items: PartitionRef
    answers: PartitionRef
    judgements: tuple[PartitionRef, ...]
    key: PartitionKey
    gold: tuple[PartitionRef, ...] = ()
    """Of the layers that have what is right, where it is not in the items."""

    @property
    def title(self) -> str:
        """Return what is scored, and whether as the released code would."""
        profile = " as released" if any(method.profile == "reference" for method in self.methods) else ""
        return "/".join(self.answers.key(name) for name in ("dataset", "model", "setting")) + profile


def compute_item_scores(job: ItemScoreJob, lake: Lake) -> pl.DataFrame:
    """Return rows of `item_scores`, from what the lake holds; methods of the reference profile do not look at ratings."""
    items = lake.read(job.items, Items)
    answers = lake.read(job.answers, Answers)
    rated = [lake.read(ref, Judgements) for ref in job.judgements]
    judgements = Judgements.cast(pl.concat(rated)) if rated else None
    gold = {ref.layer: lake.read(ref, LAYERS[ref.layer].schema) for ref in job.gold}
    scores = [
        PROFILES[method.profile].score(items, answers, method)
        if method.profile in PROFILES and not wholes_of([method])
        else score_items(items, answers, judgements, method, gold)
        for method in job.methods
    ]
    return check_bounds(pl.concat(scores))


def check_bounds(scores: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `item_scores` as they are; raise ScoringError if a value lies outside its metric's bounds."""
    rows = [(metric, *METRICS[metric].bounds) for metric in scores["metric"].unique()]
    bounds = pl.DataFrame(rows, schema={"metric": pl.String, "low": pl.Float64, "high": pl.Float64}, orient="row")
    outside = scores.join(bounds, on="metric").filter(~pl.col("value").is_between("low", "high"))
    if outside.is_empty():
        return scores
    row = outside.sort(sort_keys(("dataset", "item_id", "method", "metric"))).row(0, named=True)
    raise ScoringError(
        "an item's value lies outside the bounds of its metric",
        where=f"dataset {row['dataset']}, item {row['item_id']}, method {row['method']}, metric {row['metric']}",
        expected=f"between {row['low']:g} and {row['high']:g}",
        got=f"{row['value']} ({outside.height} such values)",
        next_step="correct the metric, or the bounds in its row",
    )
