"""The files of a run: are they there, and are they byte for byte what they were when the run was made?"""

from dataclasses import dataclass, field

from schemas.errors import LakeError
from schemas.folders import Folder
from schemas.lineage import Footer, PartitionRef, RunManifest
from schemas.verification import Difference, ScoreChange
from tasks.analysis.recompute import SCHEMAS
from tasks.lake.fingerprint import content_sha256, fingerprint_of
from tasks.lake.lake import Lake, measured_columns
from tasks.lake.manifest import MANIFEST, read_manifest, run_folder
from tasks.lake.seal import SEAL, check_seal

UNHASHED = "the run was made before files were hashed:"


@dataclass
class Findings:
    """What is found on the way."""

    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    would_differ: list[ScoreChange] = field(default_factory=list)
    hashed: int = 0
    recomputed: set[str] = field(default_factory=set)
    """Paths of partitions that were computed again."""

    differing: set[str] = field(default_factory=set)
    """Paths of those that came out differently."""

    refused: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Paths of those that the present code cannot compute, by layer and reason."""

    def file(self, path: str, expected: str | None, got: str | None, message: str) -> None:
        """Note that a file is not the run's."""
        self.differences.append(Difference(kind="file", where=path, expected=expected, got=got, message=message))

    @property
    def damaged(self) -> set[str]:
        """Paths of files that are not the run's."""
        return {difference.where for difference in self.differences if difference.kind == "file"}


def open_run(findings: Findings, folder: Folder, run: str) -> RunManifest | None:
    """The manifest of a run, once its seal is checked; null if the seal says that the manifest is not the run's.

    Raises:
        UsageError: if there is no such run.
        LakeError: if the manifest cannot be read and no seal says whether it should.
    """
    seal, path = check_seal(run_folder(folder, run)), f"runs/{run}"
    findings.hashed += seal.checked if seal else 0
    for name, expected, got in seal.broken if seal else ():
        said = "is gone" if got is None else "was changed after the run"
        findings.file(f"{path}/{name}", expected, got, f"{path}/{name} {said}")
    if f"{path}/{MANIFEST}" in findings.damaged:
        findings.notes.append("nothing else was checked: the manifest says what the other files of the run are")
        return None
    manifest = read_manifest(folder, run)
    if seal is None:
        _note_unsealed(findings, manifest)
    return manifest


def _note_unsealed(findings: Findings, manifest: RunManifest) -> None:
    if manifest.files:
        path = f"runs/{manifest.run}/{SEAL}"
        findings.file(path, "the hashes of manifest and report", None, f"{path} is gone, so manifest and report were not checked")
    else:
        findings.notes.append(f"{UNHASHED} manifest and report were not checked")


def check_files(findings: Findings, manifest: RunManifest, lake: Lake) -> dict[str, Footer]:
    """Hash every partition's file; of an older run, whose manifest has no hashes, its rows.

    Returns:
        Footers of the files that are intact, by path.
    """
    if not manifest.files:
        findings.notes.append(f"{UNHASHED} of each partition its rows and what its footer says were checked, not its bytes")
    footers = {}
    for ref in manifest.partitions:
        if not lake.path(ref).exists():
            findings.file(ref.path, manifest.files.get(ref.path), None, f"{ref.path} is gone")
        elif _is_intact(findings, ref, manifest.files.get(ref.path), lake) and (footer := _read_footer(findings, ref, lake)):
            footers[ref.path] = footer
    return footers


def _is_intact(findings: Findings, ref: PartitionRef, expected: str | None, lake: Lake) -> bool:
    if expected is None:
        return _has_its_rows(findings, ref, lake)
    findings.hashed += 1
    got = lake.file_sha256(ref)
    if got != expected:
        findings.file(ref.path, expected, got, f"{ref.path} was changed after the run")
    return got == expected


def _has_its_rows(findings: Findings, ref: PartitionRef, lake: Lake) -> bool:
    """Whether the rows have the hash that the manifest names; the schema, which may have got columns since, is not asked."""
    try:
        frame = lake.read_rows(ref)
    except LakeError as error:
        findings.file(ref.path, error.expected, error.got, f"{ref.path} cannot be read: {error.got}")
        return False
    measured = [name for name in measured_columns(SCHEMAS[ref.layer]) if name in frame.columns]
    got = content_sha256(frame, measured)
    if got != ref.content_sha256:
        findings.file(ref.path, ref.content_sha256, got, f"the rows of {ref.path} are not those of the run")
    return got == ref.content_sha256


def _read_footer(findings: Findings, ref: PartitionRef, lake: Lake) -> Footer | None:
    try:
        footer = lake.read_footer(ref)
    except LakeError as error:
        findings.file(ref.path, error.expected, error.got, f"{ref.path} has no footer that can be read")
        return None
    named = fingerprint_of(ref.layer, dict(ref.place), footer.settings, ref.parents)
    if footer.partition != ref or named != ref.fingerprint:
        message = f"the footer of {ref.path} is not that of the partition in the manifest"
        findings.file(ref.path, ref.fingerprint, named, message)
        return None
    return footer
