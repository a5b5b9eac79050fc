"""Compare a run with the code, catalogue and blueprint of now."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from schemas.blueprint import Blueprint
from schemas.dataset import DatasetSpec
from schemas.errors import BlueprintError, ChecksumError, MoodflowError, SourceError, UsageError
from schemas.lineage import DatasetNotice, Footer, PartitionRef, RunManifest
from schemas.tables.layers import LAYER_ROWS
from schemas.tables.scores import AbilityScores, Totals
from schemas.verification import Difference, ScoreChange
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.keys import ITEMS_VERSION, LAZY_ITEMS_VERSION
from tasks.datasets.own_items import local_dataset
from tasks.judging.agreement import AGREEMENTS_VERSION
from tasks.judging.executor import JUDGEMENTS_VERSION
from tasks.judging.rubrics import load_rubric
from tasks.judging.simulation import FAULTS_VERSION
from tasks.lake.fingerprint import canonical_json
from tasks.lake.manifest import notices
from tasks.metrics.item_scores import METRICS_VERSION
from tasks.metrics.reference.scoring import REFERENCE_VERSION
from tasks.retrieval.ranking import RANKING_VERSION
from tasks.runs.differences import ABSENT, tree_changes
from tasks.scoring.benchmark import SCORING_VERSION, score_benchmark
from tasks.scoring.blueprints import profiled_blueprint
from tasks.scoring.dimensions import DIMENSIONS_VERSION
from tasks.scoring.steps import COMPARISONS_VERSION
from tasks.solvers.chunk_rows import CHUNKS_VERSION
from tasks.solvers.infer_job import ANSWERS_VERSION
from tasks.solvers.registry import code_behind
from tasks.solvers.truncation import TRUNCATION_VERSION
from tasks.sources.locating import Locator, source_sha256, sources
from tasks.verify.recompute import StoredRun, compute_scores, of_layer

LONGEST_VALUE = 60
"""Characters of a changed value that a message shows."""

TOTALS = ("total", "total_before_veto")


def find_present(manifest: RunManifest) -> tuple[Blueprint | None, list[str]]:
    """Find the blueprint that a run of the same plan would use now; null, with a note why, if it cannot be had."""
    try:
        return profiled_blueprint(manifest.plan["benchmark"], manifest.plan.get("profile", "corrected")), []
    except BlueprintError as error:
        found = f"{error.what.rstrip('.')}, at {error.where}" if error.where else error.what
        return None, [f"whether the blueprint changed since could not be checked: {found}"]


def blueprint_differences(stored: Blueprint, present: Blueprint) -> Iterator[Difference]:
    """Return one difference per place of the blueprint that changed since the run."""
    before, after = (side.model_dump(mode="json") for side in (stored, present))
    for change in tree_changes(before, after):
        was, now = (value if value is ABSENT else canonical_json(value) for value in (change.before, change.after))
        message = f"blueprint {stored.name}: {change.place} was {_short(was)}, is {_short(now)}"
        yield Difference(kind="blueprint", where=change.place, expected=was, got=now, message=message)


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}..."


def rescore(stored: StoredRun, blueprint: Blueprint) -> tuple[list[ScoreChange], list[str]]:
    """Score a run's stored replies by a blueprint and the code as it is now; notes tell what could not be scored anew.

    Scores of datasets that the blueprint no longer has are left out; those of datasets that are new to it are missing.

    Raises:
        MoodflowError: if stored scores cannot be read, or no partition can be scored.
    """
    (totals,) = of_layer(stored.manifest.partitions, "totals")
    (abilities,) = of_layer(stored.manifest.partitions, "ability_scores")
    partitions = [ref for ref in of_layer(stored.parents(totals), "item_scores") if ref.key("dataset") in blueprint.datasets]
    frames, notes = [], []
    for ref in partitions:
        try:
            frames.append(compute_scores(stored, ref, blueprint))
        except MoodflowError as error:
            notes.append(f"{_named(ref)} cannot be scored by it: {error.what}")
    if not frames:
        return [], [*notes, "none of the stored replies can be scored by it"]
    tables = score_benchmark(pl.concat(frames).lazy(), blueprint, stored.settings(totals))
    old = _scores(stored.lake.read(totals, Totals), stored.lake.read(abilities, AbilityScores))
    new = _scores(tables.totals, tables.ability)
    changes = [
        ScoreChange(model=key[0], setting=key[1], name=key[2], before=old.get(key), after=new.get(key))
        for key in dict.fromkeys((*old, *new))
        if old.get(key) != new.get(key)
    ]
    return changes, notes


def _named(ref: PartitionRef) -> str:
    return "/".join(ref.key(name) for name in ("dataset", "model", "setting"))


def _scores(totals: pl.DataFrame, abilities: pl.DataFrame) -> dict[tuple[str, str, str], float | None]:
    """Return scores by model, setting and name, totals before abilities."""
    system = pl.col("model"), pl.col("setting")
    found = [totals.select(*system, pl.lit(name).alias("name"), pl.col(name).alias("score")) for name in TOTALS]
    found.append(abilities.select(*system, name="ability", score="score_0_100"))
    return {(model, setting, name): score for model, setting, name, score in pl.concat(found).iter_rows()}


class _Built(NamedTuple):
    """What items were built from."""

    version: str
    sha256: tuple[str, ...]


def check_catalogue(
    manifest: RunManifest, blueprint: Blueprint, footers: Mapping[str, Footer]
) -> tuple[list[Difference], list[str]]:
    """Compare each dataset's evaluation version and source hashes with those in the footers of its items.

    Where an entry has several sources, one that is the same will do; which of them was used depends on the machine.

    Args:
        manifest: of the run.
        blueprint: of the manifest; names files of the user's own.
        footers: of the run's partitions, by path.

    Returns:
        Differences, and notes on datasets that could not be compared.
    """
    differences: list[Difference] = []
    notes: list[str] = []
    used = {notice.id: notice for notice in manifest.datasets}
    mirror = manifest.plan.get("mirror")
    locator = Locator.for_mirror(Path(mirror) if mirror and Path(mirror).is_dir() else None)
    for footer in footers.values():
        if footer.partition.layer != "items":
            continue
        name, settings = footer.partition.key("dataset"), footer.settings
        built = _Built(settings["dataset_version"], tuple(settings["source_sha256"]))
        try:
            differences.extend(_compare(name, built, _candidates(name, blueprint, used.get(name)), locator))
        except ChecksumError as error:
            differences.append(_difference(name, error.expected, error.got, f"dataset {name}: {error.what}"))
        except SourceError as error:
            notes.append(f"dataset {name}: whether its source changed could not be checked: {error.what}")
        except UsageError as error:
            differences.append(_difference(name, built.version, None, f"dataset {name} is gone: {error.what}"))
    return differences, notes


def _candidates(name: str, blueprint: Blueprint, used: DatasetNotice | None) -> list[DatasetSpec]:
    """Return the entry's sources, that which the run used first."""
    entry = blueprint.datasets.get(name)
    own = local_dataset(name, entry.title, entry.source) if entry and entry.source else None
    listed = [own] if own else list(sources(find_dataset(name)))
    return sorted(listed, key=lambda spec: used is None or notices([spec])[0].sources != used.sources)


def _compare(name: str, built: _Built, candidates: list[DatasetSpec], locator: Locator) -> Iterator[Difference]:
    first, failure = None, None
    for spec in candidates:
        try:
            now = _Built(spec.evaluation_version, source_sha256(spec.files, locator))
        except MoodflowError as error:
            failure = failure or error
            continue
        if now == built:
            return
        first = first or now
    if first is None or (failure and len(candidates) > 1):
        raise failure or SourceError(f"dataset {name} has no source")
    if first.version != built.version:
        message = f"dataset {name}: evaluation version was {built.version}, is {first.version}"
        yield _difference(name, built.version, first.version, message)
    if first.sha256 != built.sha256:
        changed = next((pair for pair in zip(built.sha256, first.sha256, strict=False) if pair[0] != pair[1]), (None, None))
        said = f"sha256 was {changed[0][:12]}, is {changed[1][:12]}" if changed[0] and changed[1] else "has other files"
        yield _difference(name, ", ".join(built.sha256), ", ".join(first.sha256), f"dataset {name}: source {said}")


def _difference(name: str, expected: str | None, got: str | None, message: str) -> Difference:
    return Difference(kind="catalogue", where=name, expected=expected, got=got, message=message)


VERSION = "evaluation_version"
GONE = "gone"
"""What a text is now that no longer comes with the code."""

WORDS: Mapping[str, str] = {
    VERSION: "evaluation version",
    "long_items_version": "version of long items",
    "solvers_version": "version of the solvers",
    "ranking_version": "version of the ranking",
    "chunks_version": "version of the chunks",
    "too_long": "version of shortening",
    "prompts_sha256": "prompts",
    "rubric_sha256": "rubric",
}
"""Parts of a partition's settings that the code decides, and what they are called."""


def code_differences(footers: Mapping[str, Footer]) -> Iterator[Difference]:
    """Return a difference per layer and part of the code that is not what the run's partitions were made by.

    Args:
        footers: of the run's partitions, by path.
    """
    changed: Counter[tuple[str, str, str, str]] = Counter()
    for footer in footers.values():
        ref = footer.partition
        now = present_parts(ref, footer.settings)
        for name, value in now.items():
            stated = footer.settings[name]
            # Of the rule for too long items only the version is the code's; the rest is the plan's.
            was = str(stated["version"] if isinstance(stated, Mapping) else stated)
            if was != value:
                changed[ref.layer, name, was, value] += 1
    for (layer, name, was, value), count in changed.items():
        partitions = "1 partition" if count == 1 else f"{count} partitions"
        message = f"layer {layer}: {WORDS[name]} was {was[:12]}, is {value[:12]} ({partitions})"
        yield Difference(kind="code", where=f"{layer}.{name}", expected=was, got=value, message=message)


def present_parts(ref: PartitionRef, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return those parts of a partition's settings that the code decides, as they would be now."""
    parts = {VERSION: _version_of(ref, settings)}
    if ref.layer in {"responses", "retrievals", "chunks"}:
        parts |= {"ranking_version": RANKING_VERSION, "chunks_version": CHUNKS_VERSION, "too_long": TRUNCATION_VERSION}
        code = code_behind(dict(ref.place).get("setting", ""), settings)
        parts |= code.settings if code else {}
    parts |= {"long_items_version": LAZY_ITEMS_VERSION}
    if ref.layer == "judgements":
        parts["rubric_sha256"] = _rubric_sha256(ref.key("rubric"))
    return {name: value for name, value in parts.items() if name in settings}


def _version_of(ref: PartitionRef, settings: Mapping[str, Any]) -> str:
    code = code_behind(dict(ref.place).get("setting", ""), settings)
    asked = code.version if code else GONE
    versions = {
        **{layer: ITEMS_VERSION for layer, row in LAYER_ROWS.items() if row.written_by == "build"},
        "chunks": asked if "setting" in dict(ref.place) else CHUNKS_VERSION,
        "retrievals": asked,
        "responses": asked,
        "answers": ANSWERS_VERSION,
        "judgements": JUDGEMENTS_VERSION,
        "agreements": AGREEMENTS_VERSION,
        "dimension_scores": DIMENSIONS_VERSION,
        "simulation_faults": FAULTS_VERSION,
        "item_scores": REFERENCE_VERSION if settings.get("profile") == "reference" else METRICS_VERSION,
        "needle_scores": COMPARISONS_VERSION,
        "ablations": COMPARISONS_VERSION,
    }
    return versions.get(ref.layer, SCORING_VERSION)


def _rubric_sha256(name: str) -> str:
    try:
        return load_rubric(name).sha256
    except UsageError:
        return GONE
