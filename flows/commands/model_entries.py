"""Complete the entries of models: where each is served, from a provider or an address, and what is sent besides."""

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from schemas.addresses import hide_credentials
from schemas.api_capabilities import Sampling
from schemas.chat import EMBEDDED_MODEL
from schemas.errors import UsageError
from schemas.key_variables import KeyVariables
from schemas.roles import JUDGE, PANEL, map_role
from tasks.models.capabilities.providers import entry_for, find_provider

AT_URL = re.compile(r"(?P<name>.+?)@(?P<base_url>https?://.*)", re.DOTALL)
AT_PROVIDER = re.compile(r"(?P<name>.+)@(?P<provider>[^@]*)", re.DOTALL)
EXAMPLE = "NAME@http://localhost:8000/v1"


def parse_entry(text: str) -> dict[str, Any]:
    """Read `NAME`, `NAME@URL` or `NAME@PROVIDER` as an entry."""
    found = AT_URL.fullmatch(text) or AT_PROVIDER.fullmatch(text)
    return dict(found.groupdict()) if found else {"name": text}


def complete_entries(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a plan with complete entries; a judge of the panel without a server is served where the judge is.

    Args:
        values: fields of a plan, as `gather_roles` returns them; entries are mappings, and may name their `provider` instead of
            a base URL.

    Raises:
        UsageError: there is no such provider, or an entry has a base URL besides.
    """
    models = values.get("models")
    roles = {
        name: map_role(role, partial(_complete, where=f"--role {name}, roles.{name}", otherwise=f"--role {name}={EXAMPLE}"))
        for name, role in values.get("roles", {}).items()
    }
    judge = next(iter(roles.get(JUDGE, {}).get("default", ())), None)
    if PANEL in roles and isinstance(judge, Mapping):
        server = {name: judge[name] for name in ("base_url", *KeyVariables.model_fields) if name in judge}
        roles[PANEL] = map_role(roles[PANEL], lambda entry: {**server, **entry} if _has_no_server(entry) else entry)
    completed = [_complete(one) for one in models] if isinstance(models, list | tuple) else models
    return {**values, "models": completed, "roles": roles}


def _has_no_server(entry: Any) -> bool:
    return isinstance(entry, Mapping) and not entry.get("base_url") and entry.get("name") != EMBEDDED_MODEL


def _complete(entry: Any, **told: str) -> Any:
    if not isinstance(entry, Mapping):
        return entry  # the plan says what is wrong with it
    completed = {name: dict(value) if isinstance(value, Mapping) else value for name, value in entry.items()}
    if beside := {name: completed.pop(name) for name in Sampling.model_fields if name in completed}:
        completed["sampling"] = {**beside, **(completed.get("sampling") or {})}  # may stand beside the name, for short
    _write_extra_as_json(completed.get("dialect"))
    return _at_provider(completed, **told)


def _write_extra_as_json(capabilities: Any) -> None:
    if not isinstance(capabilities, dict) or isinstance(capabilities.get("extra"), str | None):
        return
    try:
        capabilities["extra"] = json.dumps(capabilities["extra"], ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"what is merged into the body of every call cannot be written as JSON: {error}",
            where="dialect.extra",
            expected="texts, numbers, true, false, null, lists and mappings",
            got=str(capabilities["extra"])[:200],
            next_step="put dates and times in quotes; .nan and .inf cannot be sent",
        ) from error


def _at_provider(entry: dict[str, Any], where: str = "--provider", **told: str) -> dict[str, Any]:
    name = entry.pop("provider", None)
    if name is None:
        return entry
    if entry.get("base_url"):
        raise UsageError(
            f"where model {entry.get('name')} is served is said twice",
            where=where,
            expected="a provider or a base URL",
            got=f"provider {name} and base URL {hide_credentials(str(entry['base_url']))}",
            next_step="leave one of them out",
        )
    known = entry_for(find_provider(str(name), where, **told), entry.get("name", ""))
    return known | {field: value for field, value in entry.items() if value is not None}
