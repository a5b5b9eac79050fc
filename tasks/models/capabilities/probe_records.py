"""Keep what probes found in the lake, so that a model is probed once; a file that cannot be used is a LakeError."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import AsyncFileLock
from pydantic import TypeAdapter

from schemas.chat import ModelEntry
from schemas.json_yaml import read_json
from schemas.provider import CAPABILITIES, CapabilityFinding, ModelProbe
from tasks.lake.errors import unreadable_document, unwritable
from tasks.lake.files import replace_file
from tasks.lake.fingerprint import hash_settings
from tasks.models.capabilities.probe import PROBE_VERSION

PROBES = Path("journal") / "models"
"""Folder below the lake that keeps what was found."""

NOT_ASKED = CapabilityFinding("unknown", "not asked then")
"""Of a capability that a record does not speak of."""

NOT_WRITTEN = "what was found about the model cannot be written"
_PROBE = TypeAdapter(ModelProbe)


def remember(lake: Path, entry: ModelEntry, found: ModelProbe) -> Path:
    """Keep what was found, in one file per endpoint and model, replaced as a whole; return the file."""
    path = probe_file(lake, entry)
    with unwritable(NOT_WRITTEN, path):
        replace_file(path, _PROBE.dump_json(found, indent=1) + b"\n")
    return path


def recall(lake: Path, entry: ModelEntry) -> ModelProbe | None:
    """Return what was found about a model, or None: never probed, or in another way than now."""
    path = probe_file(lake, entry)
    return _read(path) if path.is_file() else None


@asynccontextmanager
async def alone(lake: Path, entry: ModelEntry) -> AsyncIterator[None]:
    """Let one process at a time probe a model; the operating system frees the lock of one that was killed."""
    path = probe_file(lake, entry).with_suffix(".lock")
    lock = AsyncFileLock(path)
    with unwritable(NOT_WRITTEN, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        await lock.acquire()
    try:
        yield
    finally:
        await lock.release()


def probe_file(lake: Path, entry: ModelEntry) -> Path:
    """Return where findings about a model are kept; the name says which endpoint and model, and no secret."""
    return lake / PROBES / f"{hash_settings({'identity': entry.identity, 'model': entry.name})}.json"


def list_probes(lake: Path) -> list[ModelProbe]:
    """Return everything remembered, by model and server."""
    found = (_read(path) for path in (lake / PROBES).glob("*.json"))
    return sorted((one for one in found if one is not None), key=lambda one: (one.model, one.server))


def _read(path: Path) -> ModelProbe | None:
    advice = "probe it again with moodflow models check NAME --again, or remove the file"
    with unreadable_document("what was found about the model", path, advice):
        document = read_json(path.read_bytes())
        if document["version"] != PROBE_VERSION:
            return None
        document["findings"] = dict.fromkeys(CAPABILITIES, NOT_ASKED) | document["findings"]
        found = _PROBE.validate_python(document)
        if not found.answers:
            raise ValueError("the model did not answer")
    return found
