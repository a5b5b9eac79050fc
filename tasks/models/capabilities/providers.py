"""Finding and reading providers: where their servers are, how their keys are named, how they differ."""

from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from schemas.errors import UsageError
from schemas.folders import DATA_FOLDER
from schemas.provider import Provider

PROVIDERS = DATA_FOLDER / "providers.yaml"
"""The providers that ship with MoodFlow."""

_LIST = TypeAdapter(tuple[Provider, ...])


@cache
def load_providers(path: Path = PROVIDERS) -> tuple[Provider, ...]:
    """All providers, in the order of the file.

    Raises:
        UsageError: if the file cannot be read, an entry breaks a rule or two have the same id.
    """
    try:
        providers = _LIST.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _unreadable(path, f"{place}: {first['msg'].removeprefix('Value error, ')}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _unreadable(path, str(error).splitlines()[0]) from error
    ids = [provider.id for provider in providers]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise _unreadable(path, f"more than one entry named {', '.join(twice)}")
    return providers


def find_provider(name: str, path: Path = PROVIDERS) -> Provider:
    """The provider with this id.

    Raises:
        UsageError: if there is none; names the nearest.
    """
    providers = {provider.id: provider for provider in load_providers(path)}
    if name in providers:
        return providers[name]
    nearest = get_close_matches(name.lower(), providers, n=3, cutoff=0.4)
    raise UsageError(
        f"there is no provider {name!r}",
        where="--provider",
        expected=f"one of {', '.join(providers)}",
        got=name,
        next_step=f"did you mean {' or '.join(nearest)}?" if nearest else "name its server with --base-url",
    )


def provider_at(base_url: str | None, path: Path = PROVIDERS) -> Provider | None:
    """The provider whose server this is; None if it is no provider's, or the embedded one."""
    here = (base_url or "").rstrip("/")
    return next((provider for provider in load_providers(path) if provider.base_url == here), None)


def entry_for(provider: Provider, model: str) -> dict[str, Any]:
    """Fields of a `ModelEntry` for a model of this provider; what the user says otherwise goes over them.

    The base URL is the identity of the endpoint, so that naming the provider or its URL means the same calls.
    """
    return {"name": model, "base_url": provider.base_url, "api_key_env": provider.api_key_env}


def _unreadable(path: Path, got: str) -> UsageError:
    return UsageError(
        "the list of providers cannot be read",
        where=str(path),
        expected="a list of entries as schemas/provider.py describes them",
        got=got,
        next_step="correct the file, or name the server with --base-url",
    )
