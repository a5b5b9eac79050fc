"""Verify a run: hash its files, compute its layers again from the stored replies, compare code, catalogue and blueprint.

Asks no model and writes nothing.
"""

from dataclasses import dataclass, field
from typing import get_args

import polars as pl
from pydantic import ValidationError

from schemas.blueprint import Blueprint
from schemas.documents.lake import CheckedFiles, CheckedLayer, Difference, DifferenceKind, ScoreChange, Verification
from schemas.errors import LakeError, MoodflowError, SourceError
from schemas.folders import Folder
from schemas.lineage import Footer, PartitionRef, RunManifest
from schemas.tables.columns import measured_columns
from schemas.tables.layers import LAYERS, in_order
from tasks.lake.lake import Lake, as_written
from tasks.lake.manifest import MANIFEST, read_code_version, read_listed, resolve_run, run_folder
from tasks.lake.partitions import content_sha256, fingerprint_of, hash_settings
from tasks.lake.seal import SEAL, check_seal
from tasks.runs.differences import first_difference
from tasks.scoring.blueprints import WORDING
from tasks.verify.drift import LONGEST_VALUE, blueprint_differences, check_catalogue, code_differences, find_present, rescore
from tasks.verify.recompute import DamagedInputError, StoredRun


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

    def differ(self, kind: DifferenceKind, where: str, expected: str | None, got: str | None, message: str) -> None:
        """Note a difference."""
        self.differences.append(Difference(kind=kind, where=where, expected=expected, got=got, message=message))

    @property
    def damaged(self) -> set[str]:
        """Paths of files that are not the run's."""
        return {difference.where for difference in self.differences if difference.kind == "file"}


def _open_run(findings: Findings, folder: Folder, run: str) -> RunManifest | None:
    """Return the manifest of a run, once its seal is checked; null if the seal says that the manifest is not the run's."""
    seal, path = check_seal(run_folder(folder, run)), f"runs/{run}"
    findings.hashed += seal.checked if seal else 0
    for name, expected, got in seal.broken if seal else ():
        file = f"{path}/{name}"
        findings.differ("file", file, expected, got, f"{file} is gone" if got is None else f"{file} was changed after the run")
    if f"{path}/{MANIFEST}" in findings.damaged:
        findings.notes.append("nothing else was checked: the manifest says what the other files of the run are")
        return None
    manifest = read_listed(folder, run)
    if seal is None:
        file, hashes = f"{path}/{SEAL}", "the hashes of manifest and report"
        findings.differ("file", file, hashes, None, f"{file} is gone, so manifest and report were not checked")
    return manifest


def check_files(findings: Findings, manifest: RunManifest, lake: Lake) -> dict[str, Footer]:
    """Hash every partition's file, and return the footers of those that are intact, by path."""
    footers = {}
    for ref in manifest.partitions:
        expected = manifest.files.get(ref.path)
        if not lake.path(ref).exists():
            findings.differ("file", ref.path, expected, None, f"{ref.path} is gone")
            continue
        findings.hashed += 1
        if (got := lake.file_sha256(ref)) != expected:
            findings.differ("file", ref.path, expected, got, f"{ref.path} was changed after the run")
        elif footer := _read_footer(findings, ref, lake):
            footers[ref.path] = footer
    return footers


def _read_footer(findings: Findings, ref: PartitionRef, lake: Lake) -> Footer | None:
    try:
        footer = lake.read_footer(ref)
    except LakeError as error:
        findings.differ("file", ref.path, error.expected, error.got, f"{ref.path} has no footer that can be read")
        return None
    fingerprint = fingerprint_of(ref.layer, dict(ref.place), footer.settings, ref.parents)
    if footer.partition == ref and fingerprint == ref.fingerprint:
        return footer
    message = f"the footer of {ref.path} is not that of the partition in the manifest"
    findings.differ("file", ref.path, ref.fingerprint, fingerprint, message)
    return None


def verify_run(folder: Folder, run: str) -> Verification:
    """Check everything a run of the lake consists of against what it should be.

    UsageError: there is no such run. LakeError: the run was never sealed and its manifest cannot be read.
    """
    findings = Findings()
    if not (run_folder(folder, run) / SEAL).exists():  # else it is a name, whose manifest may be gone
        run = resolve_run(folder, run)
    manifest = _open_run(findings, folder, run)
    if manifest is None:
        return _verification(findings, run, ())
    lake = Lake(folder, read_code_version())
    footers = check_files(findings, manifest, lake)
    findings.differences += code_differences(footers, manifest.blueprint)
    if blueprint := _read_blueprint(findings, manifest):
        _check_meaning(findings, StoredRun(manifest, blueprint, lake, footers))
    if manifest.earlier_sha256:
        hashes = ", ".join(manifest.earlier_sha256)
        findings.notes.append(f"what is said of its models was changed after the run; SHA-256 of its manifest before: {hashes}")
    # That another version wrote the run is by itself no difference.
    versions = (manifest.package_version, lake.code.package), (manifest.git_commit, lake.code.git_commit)
    for name, (was, now) in zip(("package version", "git commit"), versions, strict=True):
        if was != now:
            findings.notes.append(f"{name}: the run was made by {was or 'none'}, this is {now or 'none'}")
    return _verification(findings, run, manifest.partitions)


def _read_blueprint(findings: Findings, manifest: RunManifest) -> Blueprint | None:
    """Read the blueprint in the manifest; null, with a difference, if this version cannot read it."""
    got = hash_settings({name: value for name, value in manifest.blueprint.items() if name != WORDING})
    if got != manifest.blueprint_sha256:
        message = "the blueprint in the manifest is not the one whose hash the manifest names"
        findings.differ("blueprint", "manifest", manifest.blueprint_sha256, got, message)
    try:
        return Blueprint.model_validate(manifest.blueprint)
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))} is {str(first['input'])[:LONGEST_VALUE]}"
        message = f"this version cannot read the blueprint in the manifest: {reason}"
        findings.differ("code", "blueprint", None, reason, message)
        return None


def _check_meaning(findings: Findings, stored: StoredRun) -> None:
    """Compare catalogue and blueprint with the present ones, and every layer with what it is computed to now."""
    differences, notes = check_catalogue(stored.manifest, stored.blueprint, stored.footers)
    present, unknown = find_present(stored.manifest)
    changed = list(blueprint_differences(stored.blueprint, present)) if present else []
    findings.differences += differences + changed
    findings.notes += notes + unknown
    for ref in stored.manifest.partitions:
        if ref.path in stored.footers and ref.layer in LAYERS:
            _check_rows(findings, stored, ref)
    for (layer, reason), paths in findings.refused.items():
        first = "" if len(paths) == 1 else f" and {len(paths) - 1} more of layer {layer}"
        message = f"{paths[0]}{first} cannot be computed again by this code: {reason}"
        findings.differ("code", paths[0], None, reason, message)
    if (changed or findings.differing) and not findings.damaged:
        try:
            changes, notes = rescore(stored, present or stored.blueprint)
        except MoodflowError as error:
            changes, notes = [], [f"what would differ cannot be told: {_reason(error)}"]
        findings.would_differ += changes
        findings.notes += notes


def _check_rows(findings: Findings, stored: StoredRun, ref: PartitionRef) -> None:
    """Compute a partition again, if its layer can be, and compare; one that rests on what is damaged is left alone."""
    layer = LAYERS[ref.layer]
    if layer.step is None:
        return
    try:
        rows = as_written(layer.step(stored, ref), layer.schema)
    except DamagedInputError:
        return
    except SourceError as error:
        findings.notes.append(f"{ref.path} was not made again: {error.what}")
        return
    except Exception as error:  # noqa: BLE001  whatever changed code makes of old rows becomes a difference
        findings.refused.setdefault((ref.layer, _reason(error)), []).append(ref.path)
        return
    findings.recomputed.add(ref.path)
    _compare(findings, stored.lake, ref, rows)


def _reason(error: Exception) -> str:
    """Return why rows cannot be computed, without the place, so that the same reason is told once for many."""
    match error:
        case LakeError(expected=str()):
            parts = [f"expected {error.expected}", error.got]
        case MoodflowError():
            parts = [error.what, error.got]
        case _:
            parts = [type(error).__name__, str(error)]
    return ", ".join(part.splitlines()[0].rstrip(".") for part in parts if part)


def _compare(findings: Findings, lake: Lake, ref: PartitionRef, rows: pl.DataFrame) -> None:
    schema = LAYERS[ref.layer].schema
    got = content_sha256(rows, measured_columns(schema))
    if got == ref.content_sha256:
        return
    findings.differing.add(ref.path)
    try:
        cell = first_difference(lake.read(ref, schema), rows, schema)
    except LakeError as error:
        message = f"{ref.path} comes out differently, and its stored rows no longer fit the layer: {error.got}"
        findings.differ("content", ref.path, None, got, message)
        return
    if cell is None:
        message, was, now = f"{ref.path} comes out with the same rows in other words", ref.content_sha256, got
    else:
        row, column, was, now = cell
        message = f"{ref.path}: {row}, column {column}: stored {was}, recomputed {now}"
    findings.differ("content", ref.path, was, now, message)


def _verification(findings: Findings, run: str, partitions: tuple[PartitionRef, ...]) -> Verification:
    layers = dict.fromkeys([*in_order(), *(ref.layer for ref in partitions)])
    checked = (_checked(findings, layer, [ref for ref in partitions if ref.layer == layer]) for layer in layers)
    return Verification(
        run=run,
        verified=not findings.differences,
        files=CheckedFiles(checked=findings.hashed, differ=tuple(sorted(findings.damaged))),
        layers=tuple(layer for layer in checked if layer),
        differences=tuple(sorted(findings.differences, key=lambda difference: get_args(DifferenceKind).index(difference.kind))),
        would_differ=tuple(findings.would_differ),
        notes=tuple(findings.notes),
    )


def _checked(findings: Findings, layer: str, refs: list[PartitionRef]) -> CheckedLayer | None:
    """Return what became of a layer; null if the run has none of it."""
    paths = {ref.path for ref in refs}
    differs = len(paths & (findings.differing | findings.damaged))
    rows, recomputed = sum(ref.rows for ref in refs), paths <= findings.recomputed
    return CheckedLayer(layer=layer, partitions=len(refs), rows=rows, recomputed=recomputed, differs=differs) if refs else None
