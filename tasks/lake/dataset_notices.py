"""Notices about the datasets of a run, for its manifest: licence, sources, canary, differences."""

from collections.abc import Iterable

from schemas.dataset import BundledFile, DatasetSpec, LocalFile, PinnedFile, SourceFile
from schemas.lineage import DatasetNotice


def notices(specs: Iterable[DatasetSpec]) -> tuple[DatasetNotice, ...]:
    """Return one notice per dataset, in the given order."""
    copied = DatasetNotice.model_fields.keys() - {"sources"}
    return tuple(
        DatasetNotice(sources=tuple(dict.fromkeys(map(_source, spec.files))), **{name: getattr(spec, name) for name in copied})
        for spec in specs
    )


def _source(file: SourceFile) -> str:
    match file:
        case PinnedFile():
            return f"{file.repository} at {file.revision}"
        case BundledFile():
            return "bundled"
        case LocalFile():
            # Its name only: a manifest is passed on, the folders of a machine are not.
            return f"own file {file.path.name}"
