"""Find inputs and outputs of a step in the job it is given and in what it returns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

from schemas.chat import ModelEntry
from schemas.dataset import DatasetSpec, PinnedFile, SourceFile
from schemas.lineage import SOURCES, Missing, PartitionKey, PartitionRef, RunManifest

RUN_FILE = re.compile(r"(?:.*[/\\])?runs[/\\][^/\\\n]+[/\\][^/\\\n]+\.json")
"""Address of a file of a run's folder; names of models have slashes, too."""


class JobSource(NamedTuple):
    """A source file, and the hash of what it holds where that is known."""

    file: SourceFile
    sha256: str | None


@dataclass(frozen=True)
class JobInputs:
    """Inputs and outputs that a job names: partitions and source files that are read, partitions to be written."""

    inputs: tuple[PartitionRef, ...] = ()
    sources: tuple[JobSource, ...] = ()
    outputs: tuple[PartitionKey, ...] = ()
    key_variables: tuple[str, ...] = ()
    """Environment variables that hold keys of models that are asked."""
    subject: str | None = None
    """Benchmark the job is about, where it says so."""


@dataclass(frozen=True)
class JobOutputs:
    """Outputs that a step returned: partitions and addresses of other files; or why a dataset cannot be had."""

    refs: tuple[PartitionRef, ...] = ()
    files: tuple[str, ...] = ()
    missing: Missing | None = None


def inputs_of(job: object) -> JobInputs:
    """Find what a job names: in its fields, what these hold included; the properties `key` and `keys` count as fields."""
    found = list(_walk(job))
    outputs = [one for one in found if isinstance(one, PartitionKey)]
    specs = [one for one in found if isinstance(one, DatasetSpec)]
    variables = [variable for one in found if isinstance(one, ModelEntry) for variable in one.key_variables]
    return JobInputs(
        inputs=tuple(dict.fromkeys(one for one in found if isinstance(one, PartitionRef))),
        sources=tuple(source for spec in specs for source in _sources(spec, outputs)),
        outputs=tuple({(one.layer, one.fingerprint): one for one in outputs}.values()),
        key_variables=tuple(dict.fromkeys(variables)),
        subject=_subject(job),
    )


def outputs_of(result: object) -> JobOutputs:
    """Find what a step returned: a reference, several, an address, or an object that has addresses in its fields."""
    if isinstance(result, Missing):
        return JobOutputs(missing=result)
    found = list(_walk(result))
    files = tuple(one for one in found if isinstance(one, str) and RUN_FILE.fullmatch(one))
    return JobOutputs(refs=tuple(one for one in found if isinstance(one, PartitionRef)), files=files)


def _walk(value: object) -> Iterator[object]:
    if isinstance(value, DatasetSpec | PartitionKey | PartitionRef | ModelEntry | str):
        yield value
    elif isinstance(value, RunManifest):
        yield from value.partitions
    elif isinstance(value, list | tuple | Mapping):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _walk(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _walk(getattr(value, one.name))
    for name in ("key", "keys"):
        if isinstance(getattr(type(value), name, None), property | cached_property):
            yield from _walk(getattr(value, name))


def _sources(spec: DatasetSpec, outputs: Sequence[PartitionKey]) -> Iterator[JobSource]:
    """Yield the source files of a dataset. The key has their hashes, in order; of an archive's member not the file's own."""
    hashes: list[Any] = next((key.settings[SOURCES] for key in outputs if SOURCES in key.settings), [])
    known = hashes if len(hashes) == len(spec.files) else [None] * len(spec.files)
    for file, digest in zip(spec.files, known, strict=True):
        pinned = file.sha256 if isinstance(file, PinnedFile) else None
        yield JobSource(file, pinned or digest)


def _subject(job: object) -> str | None:
    owners = (getattr(job, name, None) for name in ("blueprint", "manifest"))
    names = (getattr(owner, name, None) for owner in owners for name in ("name", "benchmark"))
    return next((name for name in names if isinstance(name, str)), None)
