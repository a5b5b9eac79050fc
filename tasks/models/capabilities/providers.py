"""Read the list of providers, and choose a model's API capabilities from its entry, its provider and a probe."""

from fnmatch import fnmatchcase
from functools import cache

from pydantic import TypeAdapter

from schemas.api_capabilities import DEFAULT_CAPABILITIES, ApiCapabilities
from schemas.errors import unknown_name
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.provider import UNSENT, ModelProbe, Provider, Quirks, Unsent


@cache
def load_providers() -> tuple[Provider, ...]:
    """Read all providers, in the order of the file."""
    return TypeAdapter(tuple[Provider, ...]).validate_python(read_yaml(read_text(DATA_FOLDER / "providers.yaml")))


def find_provider(name: str, where: str = "--provider", otherwise: str = "give its server with --base-url") -> Provider:
    """Find the provider with this id; raise UsageError, with the nearest ids or what else to do, if there is none."""
    providers = {provider.id: provider for provider in load_providers()}
    if name in providers:
        return providers[name]
    raise unknown_name("provider", name, providers, where, otherwise)


def providers_of(model: str) -> list[Provider]:
    """Return the providers whose models are called so, whatever the case of letters; none for a name that any server may have."""
    name = model.lower()
    return [provider for provider in load_providers() if any(fnmatchcase(name, pattern) for pattern in provider.names)]


def provider_at(base_url: str | None) -> Provider | None:
    """Find the provider whose server this is; None if it is no provider's, or the embedded one."""
    here = (base_url or "").rstrip("/")
    return next((provider for provider in load_providers() if provider.base_url == here), None)


def entry_for(provider: Provider, model: str) -> dict[str, str | None]:
    """Return the fields of a `ModelEntry` for a model of this provider; what the user says otherwise goes over them.

    The base URL is the identity of the endpoint, so that naming the provider or its URL means the same calls.
    """
    return {"name": model, "base_url": provider.base_url, "api_key_env": provider.api_key_env}


def choose_capabilities(stated: ApiCapabilities | None, quirks: Quirks | None, probe: ModelProbe | None) -> ApiCapabilities:
    """Choose the API capabilities of a model's calls, by field of the first that knows.

    These are what the user's entry states, what a probe found, the provider's quirks, and the usual. Fields that the entry sets
    win, and only those: to ask for much reasoning says nothing about the name of a limit.
    """
    set_by_user = {name: getattr(stated, name) for name in stated.model_fields_set} if stated else {}
    chosen = {
        "token_limit": (probe and probe.token_limit) or (quirks.token_limit if quirks else DEFAULT_CAPABILITIES.token_limit),
        "unsent": tuple(name for name in UNSENT if _is_refused(name, quirks, probe)),
        "reasoning_effort": None,
        "effort_path": (quirks and quirks.reasoning_effort) or DEFAULT_CAPABILITIES.effort_path,
        "extra": None,
        "stream": probe is not None and probe.findings["whole_reply"].verdict == "no",
        "fold_system": probe is not None and probe.findings["system_role"].verdict == "no",
    }
    return ApiCapabilities.model_validate(chosen | set_by_user)


def needs_probe(stated: ApiCapabilities | None) -> bool:
    """Say whether a probe could find anything that the user's entry does not."""
    return stated is None or not {"token_limit", "unsent"} <= stated.model_fields_set


def describe_capabilities(capabilities: ApiCapabilities) -> str:
    """Describe API capabilities in words, for a terminal."""
    parts = [f"limit {capabilities.token_limit}"]
    if capabilities.unsent:
        parts.append(f"without {', '.join(capabilities.unsent)}")
    if capabilities.reasoning_effort is not None:
        parts.append(f"{capabilities.effort_path} {capabilities.reasoning_effort}")
    if capabilities.extra is not None:
        parts.append(f"with {capabilities.extra}")
    if capabilities.stream:
        parts.append("as an event stream")
    if capabilities.fold_system:
        parts.append("the system message in front of the user's")
    return ", ".join(parts)


def _is_refused(name: Unsent, quirks: Quirks | None, probe: ModelProbe | None) -> bool:
    verdict = probe.findings[name].verdict if probe else "unknown"
    if verdict == "unknown" and quirks:
        return bool(getattr(quirks, name) == "no")
    return verdict == "no"
