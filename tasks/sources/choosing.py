"""Choose the source of a dataset: the entry's own files, or an alternative whose files are here when they are not."""

from collections.abc import Iterator

from schemas.dataset import DatasetSpec, PinnedFile
from tasks.sources.locating import Locator

MOST_LINES = 3
"""Files named one by one of a source that is not here; the rest is counted."""


def sources(spec: DatasetSpec) -> Iterator[DatasetSpec]:
    """Return the entry and its alternatives, in the order they are preferred."""
    source: DatasetSpec | None = spec
    while source is not None:
        yield source
        source = source.alternative


def choose_source(spec: DatasetSpec, locator: Locator) -> DatasetSpec:
    """Return the first source all of whose files are here; the entry itself if there is none, to be downloaded.

    Presence decides, not content: a file with the wrong content is an error of the source it belongs to, and no reason to take
    another source without a word. A Git LFS pointer is not the file.

    Raises:
        SourceError: a path leaves the mirror.
        UsageError: the mirror is not a folder.
    """
    return next((source for source in sources(spec) if all(locator.holds(file) for file in source.files)), spec)


def needs(spec: DatasetSpec, locator: Locator) -> tuple[str, ...]:
    """Return what keeps a dataset from being ready here without a download; nothing = ready.

    Returns: lines about the files of the entry, then about those of its alternatives, which begin with `or`. If a source is
        here with wrong content, about that source only.

    Raises:
        SourceError: a path leaves the mirror.
        UsageError: the mirror is not a folder.
    """
    chosen = choose_source(spec, locator)
    if all(locator.holds(file) for file in chosen.files):
        return _shortened(locator.needs(chosen.files))
    lines = list(_shortened(locator.needs(spec.files)))
    for alternative in list(sources(spec))[1:]:
        lines += [f"or {_origin(alternative)}: {line}" for line in _shortened(locator.needs(alternative.files))]
    return tuple(lines)


def _origin(spec: DatasetSpec) -> str:
    repositories = dict.fromkeys(file.repository for file in spec.files if isinstance(file, PinnedFile))
    return ", ".join(repositories) or "files of our own"


def _shortened(lines: tuple[str, ...]) -> tuple[str, ...]:
    if len(lines) <= MOST_LINES + 1:
        return lines
    return *lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more files"
