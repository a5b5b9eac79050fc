"""What the catalogue says of a run's datasets now, against what their items were built from."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from schemas.blueprint import Blueprint
from schemas.dataset import DatasetSpec
from schemas.errors import ChecksumError, MoodflowError, SourceError, UsageError
from schemas.lineage import DatasetNotice, Footer, RunManifest
from schemas.verification import Difference
from tasks.datasets.catalogue import find_dataset
from tasks.datasets.own_items import local_dataset
from tasks.lake.dataset_notices import notices
from tasks.sources.choosing import sources
from tasks.sources.locating import Locator, source_sha256


class CatalogueCheck(NamedTuple):
    """Differences, and datasets that could not be compared and why."""

    differences: list[Difference]
    notes: list[str]


class _Built(NamedTuple):
    """What items were built from."""

    version: str
    sha256: tuple[str, ...]


def check_catalogue(manifest: RunManifest, blueprint: Blueprint, footers: Mapping[str, Footer]) -> CatalogueCheck:
    """Compare each dataset's evaluation version and source hashes with those in the footers of its items.

    Where an entry has several sources, one that is the same will do; which of them was used depends on the machine.

    Args:
        manifest: of the run.
        blueprint: of the manifest; names files of the user's own.
        footers: of the run's partitions, by path.
    """
    found = CatalogueCheck([], [])
    used = {notice.id: notice for notice in manifest.datasets}
    mirror = manifest.plan.get("mirror")
    locator = Locator.for_mirror(Path(mirror) if mirror and Path(mirror).is_dir() else None)
    for footer in footers.values():
        if footer.partition.layer != "items":
            continue
        name, built = footer.partition.key("dataset"), _built(footer.settings)
        try:
            found.differences.extend(_compare(name, built, _candidates(name, blueprint, used.get(name)), locator))
        except ChecksumError as error:
            found.differences.append(_difference(name, error.expected, error.got, f"dataset {name}: {error.what}"))
        except SourceError as error:
            found.notes.append(f"dataset {name}: whether its source changed could not be checked: {error.what}")
        except UsageError as error:
            found.differences.append(_difference(name, built.version, None, f"dataset {name} is gone: {error.what}"))
    return found


def _built(settings: Mapping[str, Any]) -> _Built:
    return _Built(settings["dataset_version"], tuple(settings["source_sha256"]))


def _candidates(name: str, blueprint: Blueprint, used: DatasetNotice | None) -> list[DatasetSpec]:
    """The entry's sources, that which the run used first."""
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
