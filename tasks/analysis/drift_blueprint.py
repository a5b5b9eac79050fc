"""What a run's benchmark is now, against the blueprint in its manifest, and what the difference would make of its replies."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from schemas.blueprint import Blueprint
from schemas.errors import BlueprintError, MoodflowError
from schemas.lineage import PartitionRef, RunManifest
from schemas.plan import Plan
from schemas.tables.scores import AbilityScores, Totals
from schemas.verification import Difference, ScoreChange
from tasks.analysis.differences import ABSENT, tree_changes
from tasks.analysis.recompute import StoredRun, compute_scores, of_layer
from tasks.lake.fingerprint import canonical_json
from tasks.scoring.benchmark import score_benchmark
from tasks.scoring.blueprints import profiled_blueprint

LONGEST_VALUE = 60
"""Characters of a changed value that a message shows."""

SHOWN_TOTALS = ("total", "total_before_veto")


class PresentBlueprint(NamedTuple):
    """The blueprint of the run's benchmark as it is now; null with a note if it cannot be had."""

    blueprint: Blueprint | None
    note: str | None = None


def find_present(manifest: RunManifest) -> PresentBlueprint:
    """The blueprint that a run of the same plan would use now."""
    asked = Plan.model_validate(
        {name: manifest.plan[name] for name in ("benchmark", "models", "profile") if name in manifest.plan}
    )
    try:
        return PresentBlueprint(profiled_blueprint(asked))
    except BlueprintError as error:
        found = f"{error.what.rstrip('.')}, at {error.where}" if error.where else error.what
        return PresentBlueprint(None, f"whether the blueprint changed since could not be checked: {found}")


def blueprint_differences(stored: Blueprint, present: Blueprint) -> Iterator[Difference]:
    """One difference per place of the blueprint that changed since the run."""
    before, after = (side.model_dump(mode="json") for side in (stored, present))
    for change in tree_changes(before, after):
        was, now = (value if value is ABSENT else canonical_json(value) for value in (change.before, change.after))
        message = f"blueprint {stored.name}: {change.place} was {_short(was)}, is {_short(now)}"
        yield Difference(kind="blueprint", where=change.place, expected=was, got=now, message=message)


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}..."


class Rescored(NamedTuple):
    """Scores that would differ, and cells that could not be scored anew."""

    changes: list[ScoreChange]
    notes: list[str]


def rescore(stored: StoredRun, blueprint: Blueprint) -> Rescored:
    """Score a run's stored replies by a blueprint and the code as it is now.

    Cells of datasets that the blueprint no longer has are left out; those of datasets that are new to it are missing.

    Raises:
        MoodflowError: if stored scores cannot be read, or no cell can be scored.
    """
    (totals,) = of_layer(stored.manifest.partitions, "totals")
    (abilities,) = of_layer(stored.manifest.partitions, "ability_scores")
    cells = [ref for ref in of_layer(stored.parents(totals), "item_scores") if ref.key("dataset") in blueprint.datasets]
    frames, notes = [], []
    for ref in cells:
        try:
            frames.append(compute_scores(stored, ref, blueprint))
        except MoodflowError as error:
            notes.append(f"{_cell(ref)} cannot be scored by it: {error.what}")
    if not frames:
        return Rescored([], [*notes, "none of the stored replies can be scored by it"])
    tables = score_benchmark(pl.concat(frames).lazy(), blueprint, stored.settings(totals))
    old = _scores(stored.lake.read(totals, Totals), stored.lake.read(abilities, AbilityScores))
    new = _scores(tables.totals, tables.ability)
    changes = [
        ScoreChange(model=model, setting=setting, name=name, before=old.get(key), after=new.get(key))
        for key in dict.fromkeys((*old, *new))
        for model, setting, name in (key,)
        if old.get(key) != new.get(key)
    ]
    return Rescored(changes, notes)


def _cell(ref: PartitionRef) -> str:
    return "/".join(ref.key(name) for name in ("dataset", "model", "setting"))


def _scores(totals: pl.DataFrame, abilities: pl.DataFrame) -> dict[tuple[str, str, str], float | None]:
    """Scores by model, setting and name, totals before abilities."""
    unit = pl.col("model"), pl.col("setting")
    found = [totals.select(*unit, pl.lit(name).alias("name"), pl.col(name).alias("score")) for name in SHOWN_TOTALS]
    found.append(abilities.select(*unit, name="ability", score="score_0_100"))
    return {(model, setting, name): score for model, setting, name, score in pl.concat(found).iter_rows()}
