"""What probes found, kept in the lake, so that a model is probed once."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from filelock import AsyncFileLock
from pydantic import TypeAdapter

from schemas.chat import ModelEntry
from schemas.errors import LakeError
from schemas.provider import CAPABILITIES, ModelProbe
from tasks.lake.files import replace_file
from tasks.lake.fingerprint import hash_settings
from tasks.models.capabilities.probe import PROBE_VERSION

PROBES = Path("journal") / "models"
"""Folder below the lake that keeps what was found."""

_PROBE = TypeAdapter(ModelProbe)


def remember(lake: Path, entry: ModelEntry, found: ModelProbe) -> Path:
    """Keep what was found, in one file per endpoint and model, replaced as a whole; returns the file.

    Raises:
        LakeError: if the disk refuses the file.
    """
    return write_probe(probe_file(lake, entry), found)


def write_probe(path: Path, found: ModelProbe) -> Path:
    """Write one file, replaced as a whole.

    Raises:
        LakeError: if the disk refuses it.
    """
    try:
        replace_file(path, _PROBE.dump_json(found, indent=1) + b"\n")
    except OSError as error:
        raise not_writable(path, error) from error
    return path


def recall(lake: Path, entry: ModelEntry) -> ModelProbe | None:
    """What was found about a model, or None: never probed, or by an older version.

    Raises:
        LakeError: if the file is there and cannot be read.
    """
    path = probe_file(lake, entry)
    return read_probe(path) if path.is_file() else None


@asynccontextmanager
async def alone(lake: Path, entry: ModelEntry) -> AsyncIterator[None]:
    """One process at a time probes a model; the operating system frees the place of one that was killed.

    Raises:
        LakeError: if the disk refuses the file that says so.
    """
    lock = AsyncFileLock(probe_file(lake, entry).with_suffix(".lock"))
    try:
        Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
        await lock.acquire()
    except OSError as error:
        raise not_writable(Path(lock.lock_file), error) from error
    try:
        yield
    finally:
        await lock.release()


def read_probe(path: Path) -> ModelProbe | None:
    """What one file of the lake says about a model; None if an older version wrote it.

    Raises:
        LakeError: if it cannot be read.
    """
    try:
        return validate_probe(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LakeError(
            "what was found about the model cannot be read",
            where=str(path),
            got=str(error).splitlines()[0],
            next_step="probe it again with moodflow models check NAME --again, or remove the file",
        ) from error


def validate_probe(document: Any) -> ModelProbe | None:
    """What a JSON document says about a model that answered; None if an older version wrote it.

    Raises:
        ValueError, KeyError, TypeError: if it is no such document.
    """
    if document["version"] != PROBE_VERSION:
        return None
    found = _PROBE.validate_python(document)
    if missing := [name for name in CAPABILITIES if name not in found.findings]:
        raise ValueError(f"findings without {', '.join(missing)}")
    if not found.answers:
        raise ValueError("the model did not answer")
    return found


def probe_file(lake: Path, entry: ModelEntry) -> Path:
    """Where findings about a model are kept; the name says which endpoint and model, and no secret."""
    return probe_path(lake / PROBES, entry.identity, entry.name)


def probe_path(folder: Path, identity: str, model: str) -> Path:
    """The same below the folder of all of them, for whoever knows the endpoint by its identity only."""
    return folder / f"{hash_settings({'identity': identity, 'model': model})}.json"


def list_probes(lake: Path) -> list[ModelProbe]:
    """Everything remembered, by model and server.

    Raises:
        LakeError: if a file cannot be read.
    """
    found = (read_probe(path) for path in (lake / PROBES).glob("*.json"))
    return sorted((one for one in found if one is not None), key=lambda one: (one.model, one.server))


def not_writable(path: Path, error: OSError) -> LakeError:
    """The error about a file that the disk refuses."""
    return LakeError(
        "what was found about the model cannot be written",
        where=str(path),
        got=str(error),
        next_step="free space or permit writing below --lake, then run the same command again",
    )
