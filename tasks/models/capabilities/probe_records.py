"""Keep what probes found in the lake, so that a model is probed once; a file that cannot be used is a LakeError."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import AsyncFileLock
from pydantic import TypeAdapter

from schemas.api_capabilities import DEFAULT_CAPABILITIES
from schemas.chat import ModelEntry
from schemas.documents.models import CheckedCapability, CheckedModel, ModelCheck, ModelList, ProviderRow
from schemas.json_yaml import read_json
from schemas.provider import CAPABILITIES, CapabilityFinding, ModelProbe, Provider, Quirks
from tasks.lake.files import replace_file, unreadable_document, unwritable
from tasks.lake.partitions import hash_settings
from tasks.models.capabilities.probe import PROBE_VERSION
from tasks.models.capabilities.providers import choose_capabilities, load_providers, provider_at

PROBES = Path("journal") / "models"
"""Folder below the lake that keeps what was found."""

NOT_ASKED = CapabilityFinding("unknown", "not asked then")
"""Of a capability that a record does not speak of."""

DOCUMENTED = ("temperature", "top_p", "seed", "logprobs", "json_schema")
"""Capabilities that a provider's entry makes a statement about."""

NOT_WRITTEN = "what was found about the model cannot be written"
_PROBE = TypeAdapter(ModelProbe)


def remember(lake: Path, entry: ModelEntry, probe: ModelProbe) -> Path:
    """Keep what was found, in one file per endpoint and model, replaced as a whole; return the file."""
    path = probe_file(lake, entry)
    with unwritable(NOT_WRITTEN, path):
        replace_file(path, _PROBE.dump_json(probe, indent=1) + b"\n")
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
    probes = (_read(path) for path in (lake / PROBES).glob("*.json"))
    return sorted((probe for probe in probes if probe is not None), key=lambda probe: (probe.model, probe.server))


def list_models(lake: Path, environment: Mapping[str, str]) -> ModelList:
    """List providers, each with whether the variable of its key is set, and the models that were checked."""
    providers = tuple(_describe_provider(provider, environment) for provider in load_providers())
    checked = []
    for probe in list_probes(lake):
        provider = provider_at(probe.server)
        checked.append(_describe_model(probe, provider.quirks_of(probe.model) if provider else None))
    return ModelList(providers=providers, checked=tuple(checked))


def _describe_provider(provider: Provider, environment: Mapping[str, str]) -> ProviderRow:
    key_is_set = bool(environment.get(provider.api_key_env, "").strip()) if provider.api_key_env else None
    sources = tuple(source.url for source in provider.sources)
    return ProviderRow(**{**dict(provider), "sources": sources}, key_is_set=key_is_set, verified=provider.verified)


def describe_check(probe: ModelProbe, quirks: Quirks | None, *, remembered: bool, file: Path | None) -> ModelCheck:
    """Return what a check of a model found; `quirks`: what the documents of its provider say."""
    documented = {name: str(getattr(quirks, name)) for name in DOCUMENTED} if quirks else {}
    return ModelCheck(
        **dict(_describe_model(probe, quirks)),
        answers=probe.answers,
        remembered=remembered,
        file=str(file) if file else None,
        calls=probe.calls,
        echoed_model=probe.echoed_model,
        capabilities={
            name: CheckedCapability(verdict=finding.verdict, evidence=finding.evidence, documented=documented.get(name))
            for name, finding in probe.findings.items()
        },
        long_prompt=probe.long_prompt,
    )


def _describe_model(probe: ModelProbe, quirks: Quirks | None) -> CheckedModel:
    # How the model that comes with the install is called is known.
    is_embedded = not probe.server
    dialect = DEFAULT_CAPABILITIES if is_embedded else choose_capabilities(None, quirks, probe if probe.answers else None)
    found = {name: getattr(probe, name) for name in CheckedModel.model_fields if name != "dialect"}
    return CheckedModel(**found, dialect=dialect)


def _read(path: Path) -> ModelProbe | None:
    advice = "probe it again with moodflow models check NAME --again, or remove the file"
    with unreadable_document("what was found about the model", path, advice):
        document = read_json(path.read_bytes())
        if document["version"] != PROBE_VERSION:
            return None
        document["findings"] = dict.fromkeys(CAPABILITIES, NOT_ASKED) | document["findings"]
        probe = _PROBE.validate_python(document)
        if not probe.answers:
            raise ValueError("the model did not answer")
    return probe
