"""The tables of a run that a report reads, and the systems they are about."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from inspect import signature
from typing import Any, NamedTuple, Self, TypeVar

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.certificates import CoveredDataset
from schemas.changes import RunChanges
from schemas.documents.run import InstrumentCount, SimulationCheck
from schemas.lineage import RunManifest
from schemas.metrics import Metric
from schemas.tables import scores as tables
from schemas.tables.comparisons import Agreements, NeedleScores, SettingGains
from schemas.tables.items import Contexts, Items, Retrievals
from schemas.tables.layers import AGGREGATED
from schemas.tables.responses import Answers, Judgements, Responses, SimulationFaults
from tasks.judging.answers import GOLD
from tasks.runs.baselines import Baselines, measure_datasets
from tasks.scoring.published import BASE_SETTING, PublishedTable, as_table
from tasks.solvers.answers import ASKED
from tasks.solvers.registry import setting_order, setting_title

ResultT = TypeVar("ResultT")
Row = dict[str, Any]

PROMPT_CHUNKS = pl.Schema(
    dict.fromkeys(("dataset", "item_id", "model", "setting"), pl.String)
    | dict.fromkeys(("repetition", "query_number", "rank"), pl.Int64)
    | {"text": pl.String, "holds_needle": pl.Boolean}
)
STAGES = ("initial", "search", "reranked")
"""Stages in the order in which they come: what the last one keeps goes into the prompt."""


def last_stage(retrievals: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `retrievals` that belong to the last stage of their item."""
    stage = pl.col("stage").cast(pl.String).cast(pl.Enum(STAGES)).to_physical()
    return retrievals.filter(stage == stage.max().over(ASKED))


def join_prompt_chunks(chunks: pl.DataFrame, retrievals: pl.DataFrame, keys: Mapping[str, str]) -> pl.DataFrame:
    """Return texts of the chunks of one partition that went into prompts, in columns PROMPT_CHUNKS.

    Another partition may have cut the same text in other places: those of the chunks' partition `keys` that `retrievals`, of any
    partitions, has as columns say which of its rows refer to them.
    """
    mine = retrievals.filter(*(pl.col(name) == value for name, value in keys.items() if name in retrievals.columns))
    kept = last_stage(mine).filter("kept")
    texts = chunks.select("dataset", "item_id", "corpus", "chunk", "text")
    return kept.join(texts, on=["dataset", "item_id", "corpus", "chunk"], how="inner").select(*PROMPT_CHUNKS).cast(PROMPT_CHUNKS)


class System(NamedTuple):
    """Who is scored: a model in one setting."""

    model: str
    setting: str

    @property
    def label(self) -> str:
        """Name in headings; the usual setting goes without saying."""
        if self.setting == GOLD:
            return "gold replies"
        return self.model if self.setting == BASE_SETTING else f"{self.model} ({setting_title(self.setting)})"

    def rows(self, frame: pl.DataFrame) -> list[Row]:
        """Return rows of a frame with columns `model` and `setting` that are about this system, in the frame's order."""
        return self.of(frame).to_dicts()

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the part of a frame with columns `model` and `setting` that is about this system."""
        return frame.filter((pl.col("model") == self.model) & (pl.col("setting") == self.setting))


def pool_counts(counts: Iterable[InstrumentCount]) -> Iterable[InstrumentCount]:
    """Return counts of a system with one for each instrument, over all its datasets."""
    pooled: dict[tuple[str, str], InstrumentCount] = {}
    for count in counts:
        so_far = pooled.get((count.instrument, count.name), replace(count, datasets=(), faulty=0, total=0))
        sums = {name: getattr(so_far, name) + getattr(count, name) for name in ("datasets", "faulty", "total")}
        pooled[count.instrument, count.name] = replace(count, **sums)
    return pooled.values()


def from_row(kind: Callable[..., ResultT], row: Mapping[str, Any], **others: Any) -> ResultT:
    """Return a row of a table as an object of a kind that takes columns by name; those that it does not know are left out.

    `others`: what is no column of the row, or has another value than there.
    """
    parameters = _parameters(kind)
    return kind(**{name: value for name, value in row.items() if name in parameters} | others)


@cache
def _parameters(kind: Callable[..., object]) -> frozenset[str]:
    # A model that nothing was made of yet has no signature.
    return frozenset(getattr(kind, "model_fields", None) or signature(kind).parameters)


def ordered(totals: pl.DataFrame) -> list[Row]:
    """Return rows of `totals` as leaderboards list them: by rank, then those without one by total and name."""
    return totals.sort("rank", "total", "model", "setting", descending=[False, True, False, False], nulls_last=True).to_dicts()


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything a report shows, in memory: the run and each of its layers, all models and settings together.

    A layer has its own name here, and is empty where a run has no such thing.

    `paper`: its table; nothing is compared with one without rows. `changes`: since the run before; null = that was not looked at.
    `prompt_chunks`, the chunks that went into prompts, has the columns PROMPT_CHUNKS.
    """

    manifest: RunManifest
    blueprint: Blueprint
    paper: PublishedTable = field(default_factory=as_table)
    changes: RunChanges | None = None
    raw_scores: dy.DataFrame[tables.RawScores] = field(default_factory=tables.RawScores.create_empty)
    normalized_scores: dy.DataFrame[tables.NormalizedScores] = field(default_factory=tables.NormalizedScores.create_empty)
    dataset_scores: dy.DataFrame[tables.DatasetScores] = field(default_factory=tables.DatasetScores.create_empty)
    task_scores: dy.DataFrame[tables.TaskScores] = field(default_factory=tables.TaskScores.create_empty)
    level_scores: dy.DataFrame[tables.LevelScores] = field(default_factory=tables.LevelScores.create_empty)
    sub_ability_scores: dy.DataFrame[tables.SubAbilityScores] = field(default_factory=tables.SubAbilityScores.create_empty)
    ability_scores: dy.DataFrame[tables.AbilityScores] = field(default_factory=tables.AbilityScores.create_empty)
    totals: dy.DataFrame[tables.Totals] = field(default_factory=tables.Totals.create_empty)
    item_scores: dy.DataFrame[tables.ItemScores] = field(default_factory=tables.ItemScores.create_empty)
    items: dy.DataFrame[Items] = field(default_factory=Items.create_empty)
    responses: dy.DataFrame[Responses] = field(default_factory=Responses.create_empty)
    answers: dy.DataFrame[Answers] = field(default_factory=Answers.create_empty)
    judgements: dy.DataFrame[Judgements] = field(default_factory=Judgements.create_empty)
    contexts: dy.DataFrame[Contexts] = field(default_factory=Contexts.create_empty)
    retrievals: dy.DataFrame[Retrievals] = field(default_factory=Retrievals.create_empty)
    setting_gains: dy.DataFrame[SettingGains] = field(default_factory=SettingGains.create_empty)
    agreements: dy.DataFrame[Agreements] = field(default_factory=Agreements.create_empty)
    dimension_scores: dy.DataFrame[tables.DimensionScores] = field(default_factory=tables.DimensionScores.create_empty)
    needle_scores: dy.DataFrame[NeedleScores] = field(default_factory=NeedleScores.create_empty)
    sections: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    simulation_faults: dy.DataFrame[SimulationFaults] = field(default_factory=SimulationFaults.create_empty)
    simulation: tuple[SimulationCheck, ...] = ()
    instruments: tuple[InstrumentCount, ...] = ()
    judges: tuple[CoveredDataset, ...] = ()
    prompt_chunks: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PROMPT_CHUNKS))

    def about(self, system: System, dataset: str) -> Self:
        """Return the rows about the items of a dataset, and what one system made of them."""
        about: dict[str, Any] = {}
        for name, table in vars(self).items():
            if isinstance(table, pl.DataFrame) and "item_id" in table.columns:
                rows = table.filter(dataset=dataset)
                about[name] = system.of(rows) if "model" in rows.columns else rows
        return replace(self, **about)

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """Ranked models first, then by total (vetoed ones have 0), then by name; those without a row come last."""
        scored = [System(row["model"], row["setting"]) for row in ordered(self.totals)]
        settings, models = self.manifest.plan.get("settings", (BASE_SETTING,)), self.manifest.plan.get("models", ())
        return tuple(dict.fromkeys([*scored, *(System(model["name"], setting) for model in models for setting in settings)]))

    @cached_property
    def baselines(self) -> dict[tuple[str, Metric], Baselines]:
        """What answers without reading earn, by dataset and metric of the blueprint; datasets without items are left out."""
        return measure_datasets(self.blueprint, self.items, self.answers)

    @property
    def layers(self) -> Mapping[str, pl.DataFrame]:
        """Layers from raw scores to totals by name."""
        return {layer: getattr(self, layer) for layer in AGGREGATED}

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings of the systems, in the order in which they are shown."""
        return tuple(sorted({system.setting for system in self.systems}, key=setting_order))

    @cached_property
    def titles(self) -> dict[str, str]:
        """Titles of the blueprint's datasets by id, in its order."""
        ids = [entry.id for _, task in self.blueprint.tasks() for entry in task.datasets]
        return {name: self.blueprint.datasets[name].title for name in ids}

    def title_of(self, dataset: str) -> str:
        """Return the title of a dataset, its id where the blueprint has none."""
        return self.titles.get(dataset, dataset)

    def dataset_order(self, dataset: str) -> tuple[int, str]:
        """Return sort key: datasets in the blueprint's order, others last by name."""
        order = [*self.titles, dataset]
        return order.index(dataset), dataset
