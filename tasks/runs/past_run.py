"""Open past runs from the lake: manifest, the blueprint it holds, and the layers of its scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from shlex import join

import polars as pl
from pydantic_core import to_json

from schemas.blueprint import Blueprint
from schemas.documents.run import InstrumentCount
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.lineage import PartitionRef, RunManifest
from schemas.metrics import Metric
from schemas.tables.layers import AGGREGATED, LAYERS
from tasks.lake.files import unreadable_document
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, read_code_version, read_manifest, run_folder
from tasks.runs.baselines import Baselines, measure_datasets
from tasks.runs.run_tables import System, ordered
from tasks.scoring.breakdowns import judges_first


@dataclass(frozen=True, eq=False)
class PastRun:
    """A run of the lake. `blueprint` is the one of its manifest, whatever files say now.

    Whatever reads rows of it raises LakeError if a partition is gone or changed. `names_lake`: whether commands about it say
    where its lake is, which is left out of pages that go elsewhere.
    """

    manifest: RunManifest
    blueprint: Blueprint
    lake: Lake
    names_lake: bool = True

    @property
    def name(self) -> str:
        """Of the run."""
        return self.manifest.run

    @cached_property
    def layers(self) -> Mapping[str, pl.DataFrame]:
        """Layers from raw scores to totals by name, read and checked."""
        return {layer: self.lake.read(self.manifest.partition(layer), LAYERS[layer].schema) for layer in AGGREGATED}

    @property
    def systems(self) -> list[System]:
        """Models and settings with a total, in the order of the leaderboard."""
        return [System(row["model"], row["setting"]) for row in ordered(self.layers["totals"])]

    @cached_property
    def instruments(self) -> tuple[InstrumentCount, ...]:
        """What its instruments failed to do."""
        from tasks.runs.failures import count_instruments  # noqa: PLC0415  which reads a run

        return count_instruments(self)

    @cached_property
    def baselines(self) -> Mapping[tuple[str, Metric], Baselines]:
        """What answers without reading earn on its items, by dataset and metric."""
        orders = self.read("answers") if self.manifest.plan.get("permute", 0) > 1 else no_rows("answers")
        return measure_datasets(self.blueprint, self.read("items"), orders)

    def partitions(self, layer: str, **keys: str) -> list[PartitionRef]:
        """Return partitions of a layer with these values of their keys."""
        return [ref for ref in self.manifest.partitions if ref.layer == layer and keys.items() <= dict(ref.place).items()]

    def read(self, layer: str, **keys: str) -> pl.DataFrame:
        """Return all rows of partitions of a layer with these values of their keys."""
        return pl.concat([*self.read_each(layer, **keys)] or [no_rows(layer)])

    def read_each(self, layer: str, **keys: str) -> Iterator[pl.DataFrame]:
        """Yield the rows of each partition of a layer with these values of their keys."""
        return (self.lake.read(ref, LAYERS[layer].schema) for ref in self.partitions(layer, **keys))

    @cached_property
    def dimension_scores(self) -> pl.DataFrame:
        """Means of the dimensions that judges rated; no rows where nothing was judged."""
        return self.read("dimension_scores")

    def counted_judgements(self, system: System) -> dict[str, PartitionRef]:
        """Return the ratings that count of what a model and setting answered, by dataset; not those of a panel."""
        rated = system.of(judges_first(self.dimension_scores)).select("dataset", "judge", "rubric").unique().to_dicts()
        refs = {row["dataset"]: self.partitions("judgements", **system._asdict(), **row) for row in rated}
        return {dataset: partitions[0] for dataset, partitions in refs.items() if partitions}

    def options(self, system: System) -> tuple[str, ...]:
        """Return the options that name a system; none where the run has no other."""
        return ("--model", system.model, "--setting", system.setting) if len(self.systems) > 1 else ()

    def command(self, name: str, *arguments: str) -> str:
        """Return a command about this run, to be typed as it is."""
        is_named = self.names_lake and str(self.lake.root) != str(DEFAULT_LAKE)
        lake = ["--lake", str(self.lake.root)] if is_named else []
        return join(["moodflow", *name.split(), self.name, *arguments, *lake])


def reopen(folder: Folder, run: str) -> PastRun:
    """Open a run; UsageError: there is none of this name, LakeError: its manifest cannot be read."""
    return past_run(read_manifest(folder, run), Lake(folder, read_code_version()))


def past_run(manifest: RunManifest, lake: Lake) -> PastRun:
    """Return the run of a manifest; LakeError: its blueprint is damaged."""
    with unreadable_document(
        f"the blueprint in the manifest of run {manifest.run}", run_folder(lake.root, manifest.run) / MANIFEST
    ):
        return PastRun(manifest, _read_blueprint(to_json(manifest.blueprint)), lake)


@lru_cache(maxsize=16)  # thousands of runs have the same
def _read_blueprint(text: bytes) -> Blueprint:
    return Blueprint.model_validate_json(text)


@cache
def no_rows(layer: str) -> pl.DataFrame:
    """Return a layer without rows; to make one takes longer than to read a small partition."""
    return LAYERS[layer].schema.create_empty()
