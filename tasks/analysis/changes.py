"""Compare a run with earlier runs of the lake."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import TOTAL, RunChanges, RunState, ScoreDifference, SystemChanges
from schemas.errors import LakeError
from schemas.lineage import PartitionRef, RunManifest
from schemas.tables.layers import LAYERS
from schemas.tables.scores import ItemScores
from tasks.analysis.comparable_runs import difference, systems_of
from tasks.analysis.regression import SystemScores, find_regressions, find_warnings, score_changes
from tasks.analysis.run_tables import System
from tasks.lake.lake import Lake
from tasks.lake.manifest import list_runs, read_manifest
from tasks.scoring.uncertainty import Resampling

SchemaT = TypeVar("SchemaT", bound=dy.Schema)

LOOKED_BACK = 100
"""Earlier runs looked through for one that can be compared: reading more manifests would take longer than the comparison."""

ITEMS = ("items", "contexts")


class Previous(NamedTuple):
    """The run a model and setting is compared with, or why there is none."""

    manifest: RunManifest | None
    reason: str | None


@dataclass(frozen=True)
class Earlier:
    """What was found of each model and setting, and runs on the way that cannot be read."""

    found: dict[System, Previous]
    remarks: tuple[str, ...]


def find_earlier(run: RunManifest, lake: Lake) -> Earlier:
    """Find the newest earlier run that can be compared, for every model and setting of a run.

    Args:
        run: names of runs begin with their start time: earlier ones sort before it.
        lake: where the runs are.
    """
    found: dict[System, Previous] = {}
    reasons: dict[System, str] = {}
    remarks: list[str] = []
    names = [name for name in list_runs(lake.root) if name < run.run]
    for name in names[:LOOKED_BACK]:
        wanted = [system for system in systems_of(run) if system not in found]
        if not wanted:
            break
        try:
            earlier = read_manifest(lake.root, name)
        except LakeError as error:
            remarks.append(f"run {name} was passed over: {error.what}")
            continue
        for system in wanted:
            if (obstacle := difference(run, earlier, system)) is None:
                found[system] = Previous(earlier, None)
            elif earlier.benchmark == run.benchmark and earlier.ablation is None:
                reasons.setdefault(system, f"no earlier run can be compared; of the newest, {name}: {obstacle}")
    limit = f" among the newest {LOOKED_BACK} in the lake" if len(names) > LOOKED_BACK else ""
    none = f"no earlier run of {run.benchmark}{limit}"
    return Earlier(
        {system: found.get(system, Previous(None, reasons.get(system, none))) for system in systems_of(run)}, tuple(remarks)
    )


def changes_since(run: RunManifest, blueprint: Blueprint, resampling: Resampling, lake: Lake) -> RunChanges:
    """Compare every model and setting of a run with the newest earlier run that it can be compared with.

    Args:
        run: its manifest.
        blueprint: of the run.
        resampling: of the run's intervals.
        lake: where this and the earlier runs are.

    Raises:
        LakeError: if a partition of this run cannot be read. One of an earlier run that cannot is a reason not to compare.
    """
    earlier = find_earlier(run, lake)
    comparison = _Comparison(run, blueprint, resampling, lake)
    systems = tuple(comparison.changes(system, previous) for system, previous in earlier.found.items())
    compared = {system.previous for system in systems}
    runs = [one.manifest for one in earlier.found.values() if one.manifest and one.manifest.run in compared]
    newest = max(runs, key=lambda manifest: manifest.run, default=None)
    return RunChanges(
        run=run.run,
        benchmark=run.benchmark,
        state=_state(run, newest, systems),
        previous=newest.run if newest else None,
        reason=None if newest else next((system.reason for system in systems), None),
        units=systems,
        remarks=earlier.remarks,
    )


def _state(run: RunManifest, previous: RunManifest | None, systems: Sequence[SystemChanges]) -> RunState:
    if any(system.findings for system in systems):
        return "Regressed"
    unchanged = previous is not None and set(run.partitions) <= set(previous.partitions)
    return "UpToDate" if unchanged and not run.calls.sent and not run.calls.failed else "Completed"


class _Comparison:
    """One run against others; what is read of each is kept."""

    def __init__(self, run: RunManifest, blueprint: Blueprint, resampling: Resampling, lake: Lake) -> None:
        self._run, self._blueprint, self._resampling, self._lake = run, blueprint, resampling, lake
        self._kept: dict[tuple[str, str], pl.DataFrame] = {}

    def changes(self, system: System, previous: Previous) -> SystemChanges:
        """Return what became of one model and setting."""
        named = SystemChanges(model=system.model, setting=system.setting, reason=previous.reason)
        if previous.manifest is None:
            return named
        now = self._read_scores(self._run, system)
        try:
            was, changes = self._read_scores(previous.manifest, system), self._changes(system, previous.manifest)
        except LakeError as error:
            # The run itself is whole: what is broken is a record of an earlier one.
            return named.model_copy(update={"reason": f"run {previous.manifest.run} cannot be read: {error.what}, {error.where}"})
        return named.model_copy(
            update={
                "previous": previous.manifest.run,
                "changes": changes,
                "findings": find_regressions(changes, was, now, self._blueprint),
                "remarks": find_warnings(was, now),
            }
        )

    def _changes(self, system: System, previous: RunManifest) -> tuple[ScoreDifference, ...]:
        now, was = (_refs(manifest, "item_scores", system) for manifest in (self._run, previous))
        if _contents(now) == _contents(was):
            return tuple(self._unchanged(system))
        before, after = self._layer(was, ItemScores), self._layer(now, ItemScores)
        return score_changes(before, after, self._blueprint, self._resampling, _changed_items(self._run, previous))

    def _unchanged(self, system: System) -> Iterator[ScoreDifference]:
        """Return changes of nothing: the same item scores give the same scores, and no items need to be drawn to know it."""
        total = self._rows(self._run, "totals", system).row(0, named=True)
        abilities = self._rows(self._run, "ability_scores", system)
        scores = [(TOTAL, total["total_before_veto"], total["n_scored"])]
        scores += abilities.select("ability", "score_0_100", "n_scored").rows()
        for what, score, items in scores:
            if score is not None:
                yield ScoreDifference(what=what, before=score, after=score, change=0.0, ci_low=0.0, ci_high=0.0, n_items=items)

    def _read_scores(self, manifest: RunManifest, system: System) -> SystemScores:
        row = self._rows(manifest, "totals", system).row(0, named=True)
        datasets = self._rows(manifest, "dataset_scores", system)
        scored = datasets.filter(pl.col("score_0_100").is_not_null())["dataset"]
        return SystemScores(row["vetoed"], row["coverage"], row["item_coverage"], frozenset(scored))

    def _rows(self, manifest: RunManifest, layer: str, system: System) -> pl.DataFrame:
        """Return rows of one model and setting; a layer of a run is read once for all of them."""
        place = manifest.run, layer
        if place not in self._kept:
            self._kept[place] = self._layer(_refs(manifest, layer), LAYERS[layer])
        return system.of(self._kept[place])

    def _layer(self, refs: Sequence[PartitionRef], schema: type[SchemaT]) -> dy.DataFrame[SchemaT]:
        frames = [self._lake.read(ref, schema) for ref in refs]
        return schema.validate(pl.concat(frames) if frames else schema.create_empty())


def _refs(manifest: RunManifest, layer: str, system: System | None = None) -> list[PartitionRef]:
    refs = [ref for ref in manifest.partitions if ref.layer == layer]
    return refs if system is None else [ref for ref in refs if System(ref.key("model"), ref.key("setting")) == system]


def _contents(refs: Sequence[PartitionRef]) -> set[tuple[str, str]]:
    return {(ref.key("dataset"), ref.content_sha256) for ref in refs}


def _changed_items(run: RunManifest, previous: RunManifest) -> frozenset[str]:
    """Return datasets of both runs whose items, or what is known of their contexts, are not the same."""
    now, was = ({(ref.layer, *pair) for ref in _items(manifest) for pair in _contents([ref])} for manifest in (run, previous))
    in_both = {dataset for _, dataset, _ in now} & {dataset for _, dataset, _ in was}
    return frozenset(dataset for _, dataset, _ in now ^ was if dataset in in_both)


def _items(manifest: RunManifest) -> list[PartitionRef]:
    return [ref for ref in manifest.partitions if ref.layer in ITEMS]
