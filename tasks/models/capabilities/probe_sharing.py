"""What probes found, shared with the replies: without it the same options would make other calls."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from schemas.errors import LakeError
from schemas.provider import ModelProbe
from tasks.models.capabilities.probe_records import PROBES, not_writable, probe_path, read_probe, validate_probe, write_probe

METADATA_KEY = b"moodflow_probes"
"""Of the shared file, where it keeps the probes of its models as JSON."""


@dataclass(frozen=True)
class SharedProbe:
    """What was found about a model, by what makes its calls the same wherever they are sent: endpoint identity and name."""

    identity: str
    model: str
    probe: ModelProbe


@dataclass
class TakenProbes:
    """What became of the probes that came with replies: `read` are all of them.

    They were added, say the same as ours (`same`), or say something else than ours, which stay (`kept_ours`), or were refused.
    """

    added: int = 0
    same: int = 0
    kept_ours: int = 0
    refused: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    @property
    def read(self) -> int:
        """Probes there were."""
        return self.added + self.same + self.kept_ours + self.refused

    def refuse(self, rule: str) -> None:
        """Count one that breaks a rule."""
        self.refused += 1
        self.rules[rule] += 1


_SHARED = TypeAdapter(list[SharedProbe])
_DOCUMENTS = TypeAdapter(list[dict[str, Any]])


def folder_beside(journal: Path) -> Path:
    """Where probes are kept that belong to a journal."""
    return journal.parent / PROBES.name


def find_probes(folder: Path, models: Iterable[tuple[str, str]]) -> Iterator[SharedProbe]:
    """What is remembered about models, given by identity and name.

    Raises:
        LakeError: if a file cannot be read.
    """
    for identity, model in models:
        path = probe_path(folder, identity, model)
        if path.is_file() and (found := read_probe(path)) is not None:
            yield SharedProbe(identity, model, found)


def write_shared(probes: Iterable[SharedProbe]) -> bytes:
    """Probes as JSON: a list of objects with the fields of `SharedProbe`."""
    return _SHARED.dump_json(list(probes))


def take_shared(document: bytes | None, folder: Path) -> TakenProbes:
    """Remember the probes that came in a file, where we have none; null = the file has none.

    Raises:
        LakeError: if the disk refuses one of ours, or it cannot be read.
    """
    taken = TakenProbes()
    try:
        entries = _DOCUMENTS.validate_json(document or b"[]")
    except ValidationError:
        taken.refuse("probes_are_a_list")
        return taken
    for entry in entries:
        try:
            found = validate_probe(entry["probe"])
            identity, model = entry["identity"], entry["model"]
        except (ValueError, KeyError, TypeError):
            taken.refuse("probe_is_whole")
            continue
        if found is None:
            taken.refuse("probe_is_of_this_version")
        elif not isinstance(identity, str) or found.model != model:
            taken.refuse("probe_is_of_the_model")
        elif not _is_printable(found):
            taken.refuse("probe_is_printable")
        else:
            _take(SharedProbe(identity, found.model, found), folder, taken)
    return taken


def _is_printable(found: ModelProbe) -> bool:
    """Whether it can be shown: no probe writes what could control a terminal."""
    texts = [found.server, found.probed_at, found.echoed_model or "", *(finding.evidence for finding in found.findings.values())]
    return all(text.isprintable() for text in texts)


def merge_probes(folder: Path, models: Iterable[tuple[str, str]], into: Path) -> TakenProbes:
    """Remember what another lake remembers about models, where we remember nothing; files that cannot be read are counted.

    Raises:
        LakeError: if the disk refuses one of ours, or it cannot be read.
    """
    taken = TakenProbes()
    for model in models:
        try:
            found = list(find_probes(folder, [model]))
        except LakeError:
            taken.refuse("probe_is_whole")
            continue
        for shared in found:
            _take(shared, into, taken)
    return taken


def _take(shared: SharedProbe, folder: Path, taken: TakenProbes) -> None:
    """Remember one probe if none is remembered about its model."""
    path = probe_path(folder, shared.identity, shared.model)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A run that probes the model right now is waited for: what it finds is ours.
        held = FileLock(path.with_suffix(".lock")).acquire()
    except OSError as error:
        raise not_writable(path, error) from error
    with held:
        ours = read_probe(path) if path.is_file() else None
        if ours is None:
            write_probe(path, shared.probe)
            taken.added += 1
        elif _verdicts(ours) == _verdicts(shared.probe):
            taken.same += 1
        else:
            taken.kept_ours += 1


def _verdicts(found: ModelProbe) -> dict[Any, str]:
    return {name: finding.verdict for name, finding in found.findings.items()}
