"""Compare the datasets of a run with the catalogue of now, and make gold again from their source files."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from schemas.blueprint import Blueprint
from schemas.context import ContextOptions
from schemas.dataset import DatasetSpec
from schemas.documents.lake import Difference
from schemas.errors import ChecksumError, MoodflowError, SourceError, UsageError
from schemas.lineage import SOURCES, Footer, PartitionRef, RunManifest
from schemas.tables.items import Items
from tasks.datasets.building import annotate_items, list_samples
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.own_items import local_dataset
from tasks.lake.manifest import notices
from tasks.sources.locating import Locator, source_sha256, sources
from tasks.sources.reading import read_dataset
from tasks.verify.recompute import StoredRun, of_layer

Built = tuple[str, tuple[str, ...]]
"""What items were built from: version of the dataset, and hashes of its files."""


def check_catalogue(
    manifest: RunManifest, blueprint: Blueprint, footers: Mapping[str, Footer]
) -> tuple[list[Difference], list[str]]:
    """Compare each dataset's evaluation version and source hashes with those in the footers of its items.

    Where an entry has several sources, one that is the same will do; which of them was used depends on the machine. The blueprint
    names files of the user's own.

    Returns:
        Differences, and notes on datasets that could not be compared.
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

    Raises:
        SourceError: the source files are not here, or are not those that the partition was built from.
    """
    name, footer, locator = ref.key("dataset"), stored.footers[ref.path], _locator_of(stored.manifest)
    (items,) = stored.intact([own for own in of_layer(stored.manifest.partitions, "items") if own.place == ref.place])
    for spec in _candidates(name, stored.blueprint, stored.manifest):
        if _present_state(spec, locator) == _built_from(footer):
            records = read_dataset(spec, [locator.locate(file) for file in spec.files])
            samples = list_samples(spec, records, ContextOptions(**footer.settings.get("contexts", {})), footer.settings["seed"])
            return annotate_items(spec, samples, stored.lake.read(items, Items)["item_id"])[ref.layer]
    raise SourceError(f"dataset {name} has no source that is as it was")


def _locator_of(manifest: RunManifest) -> Locator:
    """Return what finds source files in the mirror of the run and in the cache, without a download."""
    mirror = manifest.plan.get("mirror")
    return Locator(Path(mirror) if mirror and Path(mirror).is_dir() else None)


def _present_state(spec: DatasetSpec, locator: Locator) -> Built | None:
    """Return what items of an entry would be built from now; null if its files are not here."""
    try:
        return spec.evaluation_version, source_sha256(spec.files, locator)
    except SourceError:
        return None


def _built_from(footer: Footer) -> Built:
    return footer.settings["dataset_version"], tuple(footer.settings[SOURCES])


def _candidates(name: str, blueprint: Blueprint, manifest: RunManifest) -> list[DatasetSpec]:
    """Return the entry's sources, that which the run used first."""
    entry = blueprint.datasets.get(name)
    if entry and entry.source:
        return [local_dataset(name, entry.title, entry.source)]
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
