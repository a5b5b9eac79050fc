"""`moodflow models`: check what works with a model, and list the providers that are known by name."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from pydantic import ValidationError
from rich.box import SIMPLE
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column, Table

from flows.commands import options as opt
from flows.commands.console import CommandResult
from schemas.api_capabilities import DEFAULT_CAPABILITIES, ApiCapabilities
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE
from schemas.provider import ModelProbe, Provider, Quirks
from schemas.refusal import refused
from tasks.lake.local_state import state_folder
from tasks.models.capabilities.providers import (
    choose_capabilities,
    describe_capabilities,
    entry_for,
    find_provider,
    load_providers,
    provider_at,
)

DOCUMENTED = ("temperature", "top_p", "seed", "logprobs", "json_schema")
"""Capabilities a provider's entry makes a statement about."""


models_app = typer.Typer(no_args_is_help=True, help="Models and their providers.")


@models_app.command("check")
def check_command(
    name: str = typer.Argument(metavar="NAME"),
    provider: opt.Provider = None,
    base_url: opt.BaseUrl = None,
    api_key_env: opt.KeyEnv = None,
    again: opt.Again = False,
    timeout: opt.Timeout = 120.0,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Send a tiny call and say what works; what was found is remembered in the lake. Ends with 1 if no answer came."""
    request = ModelCheckRequest(name, provider, base_url, api_key_env, timeout)
    found = check_model(request, state_folder(lake or DEFAULT_LAKE), again=again)
    CommandResult(int(not found.probe.answers), check_document(found), check_view(found)).finish(as_json=as_json)


@models_app.command("list")
def list_command(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Providers known by name, and the models that were checked."""
    document = list_document(state_folder(lake or DEFAULT_LAKE))
    CommandResult(0, document, list_view(document)).finish(as_json=as_json)


@dataclass(frozen=True)
class ModelCheckRequest:
    """A model to be checked, as the options name it."""

    name: str
    provider: str | None
    base_url: str | None
    api_key_env: str | None
    timeout_s: float


@dataclass(frozen=True)
class ModelCheckResult:
    """What a check found, or an earlier one; `file` keeps it, null if nothing is kept."""

    probe: ModelProbe
    quirks: Quirks | None
    remembered: bool
    file: Path | None

    @property
    def capabilities(self) -> ApiCapabilities:
        """Return how a run would call the model, if its entry says nothing else."""
        if not self.probe.server:
            return DEFAULT_CAPABILITIES  # the model that comes with the install is known
        return choose_capabilities(None, self.quirks, self.probe if self.probe.answers else None)


def check_model(
    request: ModelCheckRequest, lake: Path, *, again: bool, environ: Mapping[str, str] | None = None
) -> ModelCheckResult:
    """Find out what works with a model. An answer is remembered; without one, the next check starts anew.

    Args:
        request: the model.
        lake: folder that remembers.
        again: send calls even if something is remembered.
        environ: where the key is looked up.

    Raises:
        UsageError: if it is not clear where the model is, or an option is refused.
        EndpointError: if its host or key cannot be right.
        LakeError: if the file that remembers it cannot be read or written.
    """
    from tasks.models.capabilities.probe_records import probe_file, recall, remember  # noqa: PLC0415

    provider = find_provider(request.provider) if request.provider else provider_at(request.base_url)
    entry = _entry(request, provider)
    quirks = provider.quirks_of(request.name) if provider else None
    file = probe_file(lake, entry)
    if not again and (known := recall(lake, entry)):
        return ModelCheckResult(known, quirks, remembered=True, file=file)
    found = asyncio.run(_probe(entry, quirks, os.environ if environ is None else environ))
    if not found.answers:
        return ModelCheckResult(found, quirks, remembered=False, file=None)
    return ModelCheckResult(found, quirks, remembered=False, file=remember(lake, entry, found))


def _entry(request: ModelCheckRequest, provider: Provider | None) -> ModelEntry:
    embedded = request.name == EMBEDDED_MODEL and not request.provider and not request.base_url
    if not embedded and bool(request.provider) == bool(request.base_url):
        raise UsageError(
            f"where model {request.name} is served is not clear",
            where="moodflow models check",
            expected="--provider ID or --base-url URL",
            got="both" if request.provider else "neither",
            next_step="moodflow models list shows the providers",
        )
    values = {"name": request.name, "base_url": request.base_url}
    if provider and request.provider:
        values = entry_for(provider, request.name)
    if request.api_key_env is not None:
        values["api_key_env"] = request.api_key_env
    try:
        return ModelEntry(**values, concurrency=1, timeout_s=request.timeout_s)
    except ValidationError as error:
        raise refused(error, "models check") from error


async def _probe(entry: ModelEntry, quirks: Quirks | None, environ: Mapping[str, str]) -> ModelProbe:
    from flows.planning.capabilities import probe_model  # noqa: PLC0415
    from flows.runtime.prefect_flows import log  # noqa: PLC0415
    from tasks.models.embedded.serving import serve_embedded  # noqa: PLC0415
    from tasks.models.http.endpoint_check import check_endpoint, resolve_api_key  # noqa: PLC0415

    resolve_api_key(entry, environ)
    await check_endpoint(entry)
    if entry.base_url is not None:
        return await probe_model(entry, environ, quirks)
    async with serve_embedded(log) as server:
        return await probe_model(entry, environ, quirks, base_url=server.base_url)


def check_document(checked: ModelCheckResult) -> dict[str, Any]:
    """Return one check as a JSON object."""
    found = checked.probe
    return {
        "model": found.model,
        "server": found.server,
        "answers": found.answers,
        "probed_at": found.probed_at,
        "remembered": checked.remembered,
        "file": str(checked.file) if checked.file else None,
        "calls": found.calls,
        "latency_s": found.latency_s,
        "echoed_model": found.echoed_model,
        "reasoning_in": found.reasoning_in,
        "token_limit": found.token_limit,
        "unsent": list(found.unsent),
        "dialect": checked.capabilities.model_dump(mode="json"),
        "capabilities": {
            name: {"verdict": finding.verdict, "evidence": finding.evidence, "documented": _documented(checked, name)}
            for name, finding in found.findings.items()
        },
    }


def _documented(checked: ModelCheckResult, name: str) -> str | None:
    """Return what the provider's entry says of a capability; null if it has no word for it."""
    return str(getattr(checked.quirks, name)) if checked.quirks and name in DOCUMENTED else None


def check_view(checked: ModelCheckResult) -> list[RenderableType]:
    """Return one check for a terminal."""
    found = checked.probe
    columns: list[Column | str] = [Column("Capability", no_wrap=True), "Works", *(["Documented"] if checked.quirks else [])]
    table = Table(*columns, Column("Evidence", overflow="fold"), box=SIMPLE)
    for name, finding in found.findings.items():
        documented = [_documented(checked, name) or ""] if checked.quirks else []
        table.add_row(name, finding.verdict, *documented, escape(finding.evidence))
    calls = "1 call" if found.calls == 1 else f"{found.calls} calls"
    lines = [f"{found.model} at {found.server or 'the embedded server'}: {calls}, {found.probed_at}"]
    if found.unsent:
        lines.append(f"Calls have to leave out: {', '.join(found.unsent)}")
    lines.append(f"A run would call it with: {describe_capabilities(checked.capabilities)}")
    if checked.remembered:
        lines.append(f"Remembered from {checked.file}; --again sends calls")
    elif checked.file:
        lines.append(f"Remembered in {checked.file}")
    return [table, *(escape(line) for line in lines)]


def list_document(lake: Path, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return providers and checked models as a JSON object; of a key it says only whether its variable is set."""
    from tasks.models.capabilities.probe_records import list_probes  # noqa: PLC0415

    return {
        "providers": [_provider_row(provider, os.environ if environ is None else environ) for provider in load_providers()],
        "checked": [
            {
                "model": found.model,
                "server": found.server,
                "probed_at": found.probed_at,
                "latency_s": found.latency_s,
                "token_limit": found.token_limit,
                "unsent": list(found.unsent),
                "reasoning_in": found.reasoning_in,
                "dialect": _known_capabilities(found).model_dump(mode="json"),
            }
            for found in list_probes(lake)
        ],
    }


def _known_capabilities(found: ModelProbe) -> ApiCapabilities:
    provider = provider_at(found.server)
    return ModelCheckResult(found, provider.quirks_of(found.model) if provider else None, remembered=True, file=None).capabilities


def _provider_row(provider: Provider, environ: Mapping[str, str]) -> dict[str, Any]:
    name = provider.api_key_env
    return {
        "id": provider.id,
        "title": provider.title,
        "base_url": provider.base_url,
        "api_key_env": name,
        "key_is_set": None if name is None else bool(environ.get(name, "").strip()),
        "verified": str(provider.verified),
        "not_verified": list(provider.not_verified),
        "sources": [source.url for source in provider.sources],
        "quirks": provider.quirks.model_dump(mode="json"),
        "models": [special.model_dump(mode="json", exclude_none=True) for special in provider.models],
        "notes": list(provider.notes),
    }


def list_view(document: dict[str, Any]) -> list[RenderableType]:
    """Return providers and checked models for a terminal."""
    providers = Table(
        Column("Provider", no_wrap=True), "Title", Column("Base URL", overflow="fold"), "Key", "Verified", box=SIMPLE
    )
    for row in document["providers"]:
        key = "none" if row["api_key_env"] is None else f"{row['api_key_env']}{'' if row['key_is_set'] else ' (not set)'}"
        providers.add_row(row["id"], row["title"], row["base_url"], key, row["verified"])
    checked = Table(Column("Checked model", no_wrap=True), "Server", "When", "A run calls it with", box=SIMPLE)
    for row in document["checked"]:
        cells = (
            row["model"],
            row["server"] or "embedded",
            row["probed_at"],
            describe_capabilities(ApiCapabilities.model_validate(row["dialect"])),
        )
        checked.add_row(*(escape(cell) for cell in cells))
    return [providers, checked] if document["checked"] else [providers]
