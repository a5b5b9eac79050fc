"""Manifests of runs: written once but for what is said of models, read to reopen a run; what changed since the run before.

What the disk refuses is a LakeError, and so is a file that cannot be read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from subprocess import DEVNULL, CalledProcessError, check_output
from typing import Any

from pydantic import ValidationError

from schemas.changes import RunChanges
from schemas.dataset import BundledFile, DatasetSpec, LocalFile, OwnCopy, PinnedFile, SourceFile
from schemas.errors import LakeError, UsageError, suggest
from schemas.folders import Folder
from schemas.json_yaml import read_json
from schemas.lineage import OWN_AS_PINNED, OWN_UNPINNED, CodeVersion, DatasetNotice, RunManifest
from schemas.model_description import ModelDescription
from schemas.printing import tell
from tasks.lake.files import replace_file, unreadable_document, unwritable
from tasks.lake.run_index import RunIndex, Stamp
from tasks.lake.seal import SEAL, check_seal, file_sha256, seal_run

MANIFEST, CHANGES = "manifest.json", "changes.json"
RUN_LAYERS = frozenset({"ability_scores", "totals"})
"""Layers without which nothing can be shown of a run."""

NUMBERED = re.compile(r"[0-9]{8}T[0-9]{12}Z\.([0-9]{1,15})-")
"""How the name of a run begins: with its start time and its number."""

NO_RUNS, FIRST_RUN = "there are no runs in this lake yet", "moodflow run makes one"

BACK = re.compile(r"latest(?:~([0-9]{1,9}))?")
SHORT_NUMBER = re.compile(r"#?([1-9][0-9]{0,6})")
"""Handles of runs; 8 digits or more are the beginning of a name or of a fingerprint."""


def run_order(name: str) -> tuple[int, str]:
    """Return what runs are ordered by: the number in their name. A folder that was renamed stands before, by its name.

    The time says when the clock of some machine stood where, which may have been set back since.
    """
    match = NUMBERED.match(name)
    return int(match[1]) if match else 0, name


def run_number(name: str) -> int | None:
    """Return the short number of a run, which its name holds; null for a folder that was renamed.

    A run takes it when its scores are there, so that one that began earlier and ends later has the larger number. When a run is
    deleted, the others keep theirs; the number of the newest is given again. Two runs that end at the same moment may share one.
    """
    return run_order(name)[0] or None


def newest_first(runs: Iterable[str]) -> list[str]:
    """Return the names of runs, each once, the newest first."""
    return sorted(set(runs), key=run_order, reverse=True)


def next_number(lake: Folder) -> int:
    """Return the number of the next run: one more than the largest in the lake."""
    return 1 + max((run_order(run)[0] for run in list_runs(lake)), default=0)


@cache
def read_code_version() -> CodeVersion:
    """Return the version of the installed package and, in a git checkout, its commit when this was first asked."""
    try:
        package = version("moodflow")
    except PackageNotFoundError:
        package = "unknown"
    root, commit = Path(__file__).resolve().parents[2], None
    if (root / ".git").exists():
        with suppress(OSError, CalledProcessError):
            commit = check_output(["git", "-C", str(root), "rev-parse", "HEAD"], stderr=DEVNULL, text=True).strip()  # noqa: S603, S607
    return CodeVersion(package, commit)


def run_folder(lake: Folder, run: str) -> Folder:
    """Return the folder of one run inside the lake."""
    return lake / "runs" / run


def write_manifest(lake: Folder, manifest: RunManifest) -> Folder:
    """Write `runs/<run>/manifest.json` atomically, seal the run's folder and return the manifest's path."""
    path = run_folder(lake, manifest.run) / MANIFEST
    with unwritable("the manifest of the run cannot be written", path):
        replace_file(path, _encode(manifest))
    seal_run(path.parent)
    return path


def describe_models(lake: Folder, run: str, about: Mapping[str, ModelDescription | None]) -> None:
    """Write the manifest of a run again with these descriptions of its models, by name, and seal the run again.

    Others keep theirs; null takes one away. The manifest then names the hash of the one that it replaces. LakeError: the run's
    folder is not as it was sealed, which a new seal would hide.
    """
    manifest = read_manifest(lake, run)
    folder = run_folder(lake, manifest.run)
    check = check_seal(folder)
    half_done = [(MANIFEST, sha256) for sha256 in manifest.earlier_sha256[-1:]]  # a process that was stopped before the new seal
    broken = [file.name for file in check.broken if (file.name, file.expected) not in half_done] if check else [SEAL]
    if broken:
        raise LakeError(
            "the run's files do not match their seal, so the descriptions of its models stay",
            where=str(folder),
            expected="files with the hashes of the seal",
            got=f"changed or gone: {', '.join(broken)}",
            next_step=f"moodflow verify {manifest.run} says more",
        )
    said = {name: description and description.model_dump(mode="json") for name, description in about.items()}
    entries = manifest.plan.get("models", ())
    models = [entry | ({"about": said[entry["name"]]} if entry["name"] in said else {}) for entry in entries]
    earlier = (*manifest.earlier_sha256, file_sha256(folder / MANIFEST))
    write_manifest(lake, manifest.model_copy(update={"plan": manifest.plan | {"models": models}, "earlier_sha256": earlier}))


def resolve_run(lake: Folder, handle: str) -> str:
    """Return the name of the run that a handle names; UsageError, with candidates, if it names none, or several.

    A handle is the name of a run; `latest`, or `latest~1` for the one before; its number, with or without `#`; or the beginning
    of its name, or of what follows its number there, if no other run begins so.
    """
    runs = list_runs(lake)
    matching = [handle] if handle in runs else _match(handle, runs)
    if len(matching) == 1:
        return matching[0]
    if not runs:
        step = f"{FIRST_RUN}; --lake names another lake"
        raise UsageError(NO_RUNS, where=str(lake / "runs"), expected="a run", got=handle, next_step=step)
    candidates = ", ".join((matching or runs)[:3])
    raise UsageError(
        f"{handle} names {len(matching)} runs" if matching else f"there is no run {handle}",
        where=str(lake / "runs"),
        expected=f"a number, latest, latest~1, or the beginning of one name, such as: {candidates}",
        got=handle,
        next_step="name it by its number in moodflow runs list, or by its whole name"
        if matching
        else suggest(handle, runs, "moodflow runs list shows them all; --lake names another lake"),
    )


def _match(handle: str, runs: Sequence[str]) -> Sequence[str]:
    if match := BACK.fullmatch(handle):
        return runs[int(match[1] or 0) :][:1]
    if match := SHORT_NUMBER.fullmatch(handle):
        return [run for run in runs if run_number(run) == int(match[1])]
    return [run for run in runs if handle and (run.startswith(handle) or NUMBERED.sub("", run).startswith(handle))]


def read_manifest(lake: Folder, run: str) -> RunManifest:
    """Return the manifest of the run that a handle names, as `resolve_run` does."""
    return read_listed(lake, resolve_run(lake, run))


def read_listed(lake: Folder, run: str) -> RunManifest:
    """Return the manifest of a run that `list_runs` names."""
    path = run_folder(lake, run) / MANIFEST
    with unreadable_document("the manifest of a run", path):
        manifest = _decode(path.read_bytes())
        if manifest.run != run:
            raise ValueError(f"it is that of run {manifest.run}")
        if lacking := RUN_LAYERS - {ref.layer for ref in manifest.partitions}:
            raise ValueError(f"it lists no partition of {', '.join(sorted(lacking))}")
    return manifest


def _decode(content: bytes) -> RunManifest:
    with suppress(ValidationError):  # what is wrong is told below
        manifest = RunManifest.model_validate_json(content)
        if _encode(manifest) == content:  # nothing is in it twice, or left out: the other way takes three times as long
            return manifest
    return RunManifest.model_validate(read_json(content))


def _encode(manifest: RunManifest) -> bytes:
    return f"{manifest.model_dump_json(indent=1)}\n".encode()


def list_runs(lake: Folder) -> list[str]:
    """Return the names of all runs, newest first."""
    return newest_first(path.parent.name for path in (lake / "runs").glob(f"*/{MANIFEST}"))


def read_manifests(lake: Folder, *, need_all: bool = False) -> Iterator[RunManifest]:
    """Yield the manifests of all runs, newest first.

    One that cannot be read is an error with `need_all`, else it is named on standard error and passed over.
    """
    stamps, index = run_stamps(lake), RunIndex(lake)
    for run in newest_first(stamps):
        if (manifest := index.find(run, stamps[run])) is None:
            try:
                manifest = read_listed(lake, run)
            except LakeError as error:
                if need_all:
                    raise
                _say(f"run {run} is passed over", error)
                continue
            index.keep(run, stamps[run], manifest)
        yield manifest
    index.save()


def run_stamps(lake: Folder) -> dict[str, Stamp]:
    """Return what tells the manifest of each run from any other that was in its place."""
    if not isinstance(lake, Path):
        store: Any = lake / "runs"
        objects = store.fs.glob(f"{store.path}/*/{MANIFEST}", detail=True)  # one request for a thousand
        return {path.split("/")[-2]: (0, about["size"], about["ETag"]) for path, about in objects.items()}
    stamps = dict[str, Stamp]()
    for run in list_runs(lake):
        with suppress(FileNotFoundError):  # removed just now
            status = (run_folder(lake, run) / MANIFEST).stat()
            stamps[run] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    return stamps


def _say(what: str, error: LakeError) -> None:
    tell(f"{what}: {error.what} ({error.where}: {error.got})")


def write_changes(lake: Folder, changes: RunChanges) -> None:
    """Write what changed atomically."""
    path = run_folder(lake, changes.run) / CHANGES
    with unwritable("what changed since the run before cannot be written", path):
        replace_file(path, f"{changes.model_dump_json(indent=1)}\n".encode())


def read_changes(lake: Folder, run: str) -> RunChanges | None:
    """Return what changed since the run before; null if that was not looked at when the run was made."""
    path = run_folder(lake, run) / CHANGES
    if not path.exists():
        return None
    with unreadable_document("what changed since the run before", path, "move the file away; it is not needed to show the run"):
        return RunChanges.model_validate(read_json(path.read_bytes()))


def read_all_changes(lake: Folder, runs: Iterable[str]) -> tuple[dict[str, RunChanges], frozenset[str]]:
    """Return what changed, by run, where that was looked at; and the runs of which it cannot be read, named on standard error."""
    changes_by_run, damaged = {}, set()
    for run in runs:
        try:
            if changes := read_changes(lake, run):
                changes_by_run[run] = changes
        except LakeError as error:
            _say(f"run {run} is damaged", error)
            damaged.add(run)
    return changes_by_run, frozenset(damaged)


def notices(specs: Iterable[DatasetSpec]) -> tuple[DatasetNotice, ...]:
    """Return what a manifest says of datasets, in the given order: licence, sources, canary, differences."""
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
        case OwnCopy(as_pinned=False):
            pinned = f"sha256 {file.of.sha256}" if file.of.sha256 else f"md5 {file.of.md5}"
            return f"own files, hash differs from the pinned one: {file.of.path}, sha256 {file.sha256} in place of {pinned}"
        case OwnCopy(as_pinned=True):
            return f"{OWN_AS_PINNED}: {file.of.repository} at {file.of.revision}"
        case OwnCopy():
            kind = f"own files, {file.rows}" if file.rows else OWN_UNPINNED
            return f"{kind}: {file.of.member or file.of.path}, sha256 {file.sha256}"
        case LocalFile():
            # Its name only: a manifest is passed on, the folders of a machine are not.
            return f"own file {file.path.name}{f', sha256 {file.sha256}' if file.sha256 else ''}"
