"""Compare a run with the code, the blueprint and the catalogue of now, and make gold again from its source files."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.documents.lake import Difference, ScoreChange
from schemas.errors import BlueprintError, ChecksumError, MoodflowError, SourceError, UsageError
from schemas.lineage import SOURCES, Footer, PartitionRef, RunManifest
from schemas.tables.items import Items
from schemas.tables.layers import LAYERS
from schemas.tables.scores import AbilityScores, Totals
from schemas.vocabulary import CORRECTED
from tasks.datasets.building import annotate_items, list_samples
from tasks.datasets.catalogue import LAZY_ITEMS_VERSION, find_dataset
from tasks.datasets.own_items import in_folder, local_dataset
from tasks.judging.executor import JUDGEMENTS_VERSION
from tasks.judging.people import PEOPLE_VERSION
from tasks.judging.rubrics import load_rubric
from tasks.lake.manifest import notices
from tasks.lake.partitions import canonical_json
from tasks.metrics.item_scores import METRICS_VERSION
from tasks.metrics.metric import PROFILES
from tasks.retrieval.ranking import RANKING_VERSION
from tasks.runs.differences import ABSENT, fields_apart, tree_changes
from tasks.scoring.benchmark import score_benchmark
from tasks.scoring.blueprints import profiled_blueprint
from tasks.solvers.chunk_rows import CHUNKS_VERSION
from tasks.solvers.infer_job import RESPONSES_VERSION
from tasks.solvers.presentation import TRUNCATION_VERSION
from tasks.solvers.registry import code_behind
from tasks.sources.locating import Locator, source_sha256, sources
from tasks.sources.reading import read_dataset
from tasks.verify.recompute import StoredRun, item_scores, of_layer

LONGEST_VALUE = 60
"""Characters of a changed value that a message shows."""


def find_present(manifest: RunManifest) -> tuple[Blueprint | None, list[str]]:
    """Find the blueprint that a run of the same plan would use now; null, with a note why, if it cannot be had."""
    try:
        plan = manifest.plan
        return profiled_blueprint(plan["benchmark"], plan.get("profile", CORRECTED), plan.get("prompts")), []
    except (BlueprintError, UsageError) as error:
        reason = f"{error.what.rstrip('.')}, at {error.where}" if error.where else error.what
        return None, [f"whether the blueprint changed since could not be checked: {reason}"]


def blueprint_differences(stored: Blueprint, present: Blueprint) -> Iterator[Difference]:
    """Return one difference per place of the blueprint that changed since the run."""
    before, after = (side.model_dump(mode="json") for side in (stored, present))
    for change in tree_changes(before, after):
        was, now = (value if value is ABSENT else canonical_json(value) for value in (change.before, change.after))
        short = [value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}..." for value in (was, now)]
        message = f"blueprint {stored.name}: {change.path} was {short[0]}, is {short[1]}"
        yield Difference(kind="blueprint", where=change.path, expected=was, got=now, message=message)


def rescore(stored: StoredRun, blueprint: Blueprint) -> tuple[list[ScoreChange], list[str]]:
    """Score a run's stored replies by a blueprint and the code as it is now; notes tell what could not be scored anew.

    Scores of datasets that the blueprint no longer has are left out; those of datasets that are new to it are missing.
    MoodflowError: stored scores cannot be read, or no partition can be scored.
    """
    (totals,) = of_layer(stored.manifest.partitions, "totals")
    (abilities,) = of_layer(stored.manifest.partitions, "ability_scores")
    partitions = [ref for ref in of_layer(stored.parents(totals), "item_scores") if ref.key("dataset") in blueprint.datasets]
    frames, notes = [], []
    for ref in partitions:
        try:
            frames.append(item_scores(stored, ref, blueprint))
        except MoodflowError as error:
            path = "/".join(ref.key(name) for name in ("dataset", "model", "setting"))
            notes.append(f"{path} cannot be scored by it: {error.what}")
    if not frames:
        return [], [*notes, "none of the stored replies can be scored by it"]
    tables = score_benchmark(pl.concat(frames).lazy(), blueprint, stored.settings(totals))
    old = _scores(stored.lake.read(totals, Totals), stored.lake.read(abilities, AbilityScores))
    new = _scores(tables.totals, tables.ability)
    changes = [
        ScoreChange(model=key[0], setting=key[1], name=key[2], before=old.get(key), after=new.get(key))
        for key in fields_apart(old, new)
    ]
    return changes, notes


def _scores(totals: pl.DataFrame, abilities: pl.DataFrame) -> dict[tuple[str, str, str], float | None]:
    """Return scores by model, setting and name, totals before abilities."""
    system = pl.col("model"), pl.col("setting")
    scores = [totals.select(*system, name=pl.lit(name), score=name) for name in ("total", "total_before_veto")]
    scores.append(abilities.select(*system, name="ability", score="score_0_100"))
    return {(model, setting, name): score for model, setting, name, score in pl.concat(scores).iter_rows()}


VERSION = "evaluation_version"
GONE = "gone"
"""What a text is now that no longer comes with the code."""

WORDS: Mapping[str, str] = {
    VERSION: "evaluation version",
    "long_items_version": "version of long items",
    "responses_version": "version of the responses",
    "solvers_version": "version of the solvers",
    "ranking_version": "version of the ranking",
    "chunks_version": "version of the chunks",
    "too_long": "version of shortening",
    "prompts_sha256": "prompts",
    "rubric_sha256": "rubric",
}
"""Parts of a partition's settings that the code decides, and what they are called."""


def code_differences(footers: Mapping[str, Footer], blueprint: Mapping[str, Any]) -> Iterator[Difference]:
    """Return a difference per layer and part of the code that is not what the run's partitions, by path, were made by."""
    changed: Counter[tuple[str, str, str, str]] = Counter()
    for footer in footers.values():
        for name, value in present_parts(footer.partition, footer.settings, blueprint).items():
            stated = footer.settings[name]
            # Of the rule for too long items only the version is the code's; the rest is the plan's.
            was = str(stated["version"] if isinstance(stated, Mapping) else stated)
            if was != value:
                changed[footer.partition.layer, name, was, value] += 1
    for (layer, name, was, value), count in changed.items():
        message = f"layer {layer}: {WORDS[name]} was {was[:12]}, is {value[:12]} ({count} partition{'s' if count > 1 else ''})"
        yield Difference(kind="code", where=f"{layer}.{name}", expected=was, got=value, message=message)


def present_parts(ref: PartitionRef, settings: Mapping[str, Any], blueprint: Mapping[str, Any]) -> dict[str, str]:
    """Return those parts of a partition's settings that the code decides, as they would be now; `blueprint`: of the manifest."""
    version = LAYERS[ref.layer].version if ref.layer in LAYERS else GONE
    parts = {VERSION: version} if isinstance(version, str) else version(ref, settings, blueprint)
    return {name: value for name, value in {"long_items_version": LAZY_ITEMS_VERSION, **parts}.items() if name in settings}


def asked_parts(ref: PartitionRef, settings: Mapping[str, Any], blueprint: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of what was asked, and of what was retrieved for it; chunks of no setting are split alike for all."""
    keys = dict(ref.place)
    code = code_behind(keys.get("setting", ""), settings)
    version = CHUNKS_VERSION if "setting" not in keys else code.version if code else GONE
    others = {
        "responses_version": RESPONSES_VERSION,
        "ranking_version": RANKING_VERSION,
        "chunks_version": CHUNKS_VERSION,
        "too_long": TRUNCATION_VERSION,
    }
    try:
        prompts = code.settings(blueprint.get("own_prompts", {})) if code else {}
    except UsageError:  # of the run's own, which the present code cannot read
        prompts = {name: GONE for name in settings if name.endswith("prompts_sha256")}
    return {VERSION: version, **others, **prompts}


def judged_parts(ref: PartitionRef, _settings: Mapping[str, Any], blueprint: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts of ratings."""
    version, rubric = PEOPLE_VERSION if ref.by_people else JUDGEMENTS_VERSION, GONE
    with suppress(UsageError):
        rubric = load_rubric(ref.key("rubric"), blueprint.get("own_rubrics", {})).sha256
    return {VERSION: version, "rubric_sha256": rubric}


def scored_parts(_ref: PartitionRef, settings: Mapping[str, Any], _blueprint: Mapping[str, Any]) -> dict[str, str]:
    """Return the version by which replies are scored, in the profile of the partition."""
    profile = str(settings.get("profile"))
    return {VERSION: PROFILES[profile].version if profile in PROFILES else METRICS_VERSION}


Built = tuple[str, tuple[str, ...]]
"""What items were built from: version of the dataset, and hashes of its files."""


def check_catalogue(
    manifest: RunManifest, blueprint: Blueprint, footers: Mapping[str, Footer]
) -> tuple[list[Difference], list[str]]:
    """Compare each dataset's evaluation version and source hashes with those in the footers of its items.

    Where an entry has several sources, one that is the same will do; which of them was used depends on the machine. The blueprint
    names files of the user's own. Return differences, and notes on datasets that could not be compared.
    """
    differences: list[Difference] = []
    notes: list[str] = []
    locator = _locator_of(manifest)
    for footer in footers.values():
        if footer.partition.layer != "items":
            continue
        name, built = footer.partition.key("dataset"), _built_from(footer)
        try:
            differences.extend(_compare(name, built, _candidates(name, blueprint, manifest), locator))
        except ChecksumError as error:
            differences.append(_difference(name, error.expected, error.got, f"dataset {name}: {error.what}"))
        except SourceError as error:
            notes.append(f"dataset {name}: whether its source changed could not be checked: {error.what}")
        except UsageError as error:
            differences.append(_difference(name, built[0], None, f"dataset {name} is gone: {error.what}"))
    return differences, notes


def gold_rows(stored: StoredRun, ref: PartitionRef) -> pl.DataFrame:
    """Make the rows of a layer of gold again, about the stored items.

    SourceError: the source files are not here, or are not those that the partition was built from.
    """
    name, footer, locator = ref.key("dataset"), stored.footers[ref.path], _locator_of(stored.manifest)
    (items,) = stored.intact([own for own in of_layer(stored.manifest.partitions, "items") if own.place == ref.place])
    for spec in _candidates(name, stored.blueprint, stored.manifest):
        present: Built | None = None
        with suppress(SourceError):  # its files are not here
            present = spec.evaluation_version, source_sha256(spec.files, locator)
        if present == _built_from(footer):
            records = read_dataset(spec, [locator.locate(file) for file in spec.files])
            samples = list_samples(spec, records, ContextOptions(**footer.settings.get("contexts", {})), footer.settings["seed"])
            return annotate_items(spec, samples, stored.lake.read(items, Items)["item_id"])[ref.layer]
    raise SourceError(f"the source files of dataset {name} have changed")


def _locator_of(manifest: RunManifest) -> Locator:
    """Return what finds source files in the mirror of the run and in the cache, without a download."""
    mirror = manifest.plan.get("mirror")
    return Locator(Path(mirror) if mirror and Path(mirror).is_dir() else None)


def _built_from(footer: Footer) -> Built:
    return footer.settings["dataset_version"], tuple(footer.settings[SOURCES])


def _candidates(name: str, blueprint: Blueprint, manifest: RunManifest) -> list[DatasetSpec]:
    """Return the entry's sources, that which the run used first."""
    entry = blueprint.datasets.get(name)
    if entry and entry.source:
        return [local_dataset(name, entry.title, entry.source)]
    if folder := manifest.plan.get("folders", {}).get(name):
        return [in_folder(find_dataset(name), Path(folder))]
    used = next((notice.sources for notice in manifest.datasets if notice.id == name), None)
    return sorted(sources(find_dataset(name)), key=lambda spec: used is None or notices([spec])[0].sources != used)


def _compare(name: str, built: Built, candidates: list[DatasetSpec], locator: Locator) -> Iterator[Difference]:
    present, failures = list[Built](), list[MoodflowError]()
    for spec in candidates:
        try:
            present.append((spec.evaluation_version, source_sha256(spec.files, locator)))
        except MoodflowError as error:
            failures.append(error)
        if built in present:
            return
    if not present or (failures and len(candidates) > 1):
        raise failures[0] if failures else SourceError(f"dataset {name} has no source")
    (version, hashes), (was, old_hashes) = present[0], built
    if version != was:
        yield _difference(name, was, version, f"dataset {name}: evaluation version was {was}, is {version}")
    if hashes != old_hashes:
        old, new = next((pair for pair in zip(old_hashes, hashes, strict=False) if pair[0] != pair[1]), (None, None))
        words = f"sha256 was {old[:12]}, is {new[:12]}" if old and new else "has other files"
        yield _difference(name, ", ".join(old_hashes), ", ".join(hashes), f"dataset {name}: source {words}")


def _difference(name: str, expected: str | None, got: str | None, message: str) -> Difference:
    return Difference(kind="catalogue", where=name, expected=expected, got=got, message=message)
