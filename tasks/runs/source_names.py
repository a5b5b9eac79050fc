"""Name the source files whose hashes a partition holds: from the catalogue, else from manifests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.dataset import BundledFile, LocalFile, PinnedFile, SourceFile
from schemas.errors import SourceError
from schemas.graph import SourceName
from schemas.lineage import DatasetNotice, RunManifest
from tasks.datasets.catalogue import CATALOGUE
from tasks.sources.locating import Locator, source_sha256, sources

OWN = "own file "
"""Begins what a manifest calls a user's own file."""


@dataclass(frozen=True)
class SourceNames:
    """Names by dataset and hashes. `notices`: what manifests say of their datasets."""

    notices: dict[str, DatasetNotice]

    @classmethod
    def of(cls, manifests: Iterable[RunManifest]) -> "SourceNames":
        """Return the names in the catalogue and in these manifests."""
        return cls({notice.id: notice for manifest in manifests for notice in manifest.datasets})

    def __call__(self, dataset: str, hashes: Sequence[str]) -> list[SourceName]:
        """Return a name for each hash; of a file the catalogue no longer pins, what a manifest says of its dataset."""
        for spec in (source for entry in CATALOGUE if entry.id == dataset for source in sources(entry)):
            if len(spec.files) == len(hashes) and all(map(_may_be, spec.files, hashes)):
                return [_name(file) for file in spec.files]
        return [self._noticed(dataset, len(hashes))] * len(hashes)

    def _noticed(self, dataset: str, files: int) -> SourceName:
        notice = self.notices.get(dataset)
        if notice is None:
            return SourceName(note="neither the catalogue nor a manifest names it")
        source = notice.sources[0] if len(notice.sources) == 1 else ""
        if source.startswith(OWN):
            return SourceName(path=source.removeprefix(OWN) if files == 1 else None, note="a file of the user's own")
        if " at " in source:
            repository, _, revision = source.partition(" at ")
            return SourceName(repository=repository, revision=revision, note="the catalogue names other content now")
        return SourceName(note=f"{' and '.join(notice.sources)}, of which the catalogue names other content now")


def _may_be(file: SourceFile, sha256: str) -> bool:
    """Return whether a file may have this hash; one that is not here to compare may not."""
    if isinstance(file, PinnedFile) and file.sha256 is None:
        return True  # nobody has pinned it
    try:
        return source_sha256([file], Locator()) == (sha256,)
    except SourceError:
        return False


def _name(file: SourceFile) -> SourceName:
    match file:
        case PinnedFile():
            return SourceName(repository=file.repository, revision=file.revision, path=file.path, member=file.member)
        case BundledFile():
            return SourceName(path=f"data/bundled/{file.name}")
        case LocalFile():
            return SourceName(path=file.path.name, note="a file of the user's own")
