"""What probes found, kept in the lake, so that a model is probed once."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid4

from filelock import AsyncFileLock
from pydantic import TypeAdapter

from schemas.chat import ModelEntry
from schemas.errors import LakeError
from schemas.provider import ModelProbe
from tasks.inference.probing import PROBE_VERSION
from tasks.lineage.fingerprint import hash_settings

PROBES = Path("journal") / "models"
"""Folder below the lake that keeps what was found."""

_PROBE = TypeAdapter(ModelProbe)


def remember(lake: Path, entry: ModelEntry, found: ModelProbe) -> Path:
    """Keep what was found, in one file per endpoint and model, replaced as a whole; returns the file.

    Raises:
        LakeError: if the disk refuses the file.
    """
    path = probe_file(lake, entry)
    temporary = path.with_name(f".{uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(_PROBE.dump_json(found, indent=1) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise _not_writable(path, error) from error
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
        raise _not_writable(Path(lock.lock_file), error) from error
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
        document = json.loads(path.read_bytes())
        if document["version"] != PROBE_VERSION:
            return None
        return _PROBE.validate_python(document)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LakeError(
            "what was found about the model cannot be read",
            where=str(path),
            got=str(error).splitlines()[0],
            next_step="probe it again with moodflow models check NAME --again, or remove the file",
        ) from error


def probe_file(lake: Path, entry: ModelEntry) -> Path:
    """Where findings about a model are kept; the name says which endpoint and model, and no secret."""
    return lake / PROBES / f"{hash_settings({'identity': entry.identity, 'model': entry.name})}.json"


def list_probes(lake: Path) -> list[ModelProbe]:
    """Everything remembered, by model and server.

    Raises:
        LakeError: if a file cannot be read.
    """
    found = (read_probe(path) for path in (lake / PROBES).glob("*.json"))
    return sorted((one for one in found if one is not None), key=lambda one: (one.model, one.server))


def _not_writable(path: Path, error: OSError) -> LakeError:
    return LakeError(
        "what was found about the model cannot be written",
        where=str(path),
        got=str(error),
        next_step="free space or permit writing below --lake, then run the same command again",
    )
