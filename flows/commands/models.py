"""`moodflow models`: check what works with a model, and list the providers that are known by name."""

import asyncio
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer
from pydantic import ValidationError
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, folded, text_table, unbroken
from flows.commands.plan_fields import assign, parse_setting
from schemas.addresses import VERSION_PATH
from schemas.api_capabilities import DEFAULT_CAPABILITIES, ApiCapabilities
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE
from schemas.printing import tell
from schemas.provider import ModelProbe, Provider, Quirks
from schemas.refusal import refused
from tasks.lake.local_state import state_folder
from tasks.models.canary import accept_findings
from tasks.models.capabilities.long_prompt import ask_long_prompt
from tasks.models.capabilities.probe_records import list_probes, probe_file, recall, remember
from tasks.models.capabilities.providers import (
    choose_capabilities,
    describe_capabilities,
    entry_for,
    find_provider,
    load_providers,
    provider_at,
)
from tasks.models.embedded.serving import serve_embedded
from tasks.models.http.endpoint_check import check_endpoint, resolve_keys
from tasks.text.number_format import counted, percent

DOCUMENTED = ("temperature", "top_p", "seed", "logprobs", "json_schema")
"""Capabilities a provider's entry makes a statement about."""

FOUND = ("model", "server", "probed_at", "latency_s", "token_limit", "unsent", "reasoning_in")
"""Findings about a model that its row has as they are."""

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command("check")
def check_command(
    name: str = typer.Argument(metavar="NAME"),
    provider: opt.Provider = None,
    base_url: opt.BaseUrl = None,
    api_key_env: opt.KeyEnv = None,
    fields: opt.Fields = None,
    again: opt.Again = False,
    timeout: opt.Timeout = 120.0,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Send a tiny and a long call, say what works and remember it in the lake. Ends with 1 if no answer came from there."""
    if (name != EMBEDDED_MODEL or provider or base_url) and bool(provider) == bool(base_url):
        raise UsageError(
            f"where model {name} is served is not clear",
            where="moodflow models check",
            expected="--provider ID or --base-url URL",
            got="both" if provider else "neither",
            next_step="moodflow models list shows the providers",
        )
    known = find_provider(provider) if provider else provider_at(base_url)
    values = entry_for(known, name) if known and provider else {"name": name, "base_url": base_url}
    if api_key_env is not None:
        values["api_key_env"] = api_key_env
    plan = {"models": [{**values, "concurrency": 1, "timeout_s": timeout}]}
    for text in fields or ():
        assign(plan, *parse_setting(f"models.{text.removeprefix('models.')}", "--set"))
    try:
        entry = ModelEntry.model_validate(plan["models"][0])
    except ValidationError as error:
        raise refused(error, "models check") from error
    quirks, folder = known.quirks_of(name) if known else None, state_folder(lake or DEFAULT_LAKE)
    found = _check(entry, quirks, folder, again=again)
    status = int(not found.probe.answers)
    if status and base_url and not base_url.rstrip("/").endswith(VERSION_PATH):
        found = _check_below(entry, folder, found)
    CommandResult(status, _check_document(found), _check_view(found)).finish(as_json=as_json)


@app.command("list")
def list_command(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Providers known by name, and the models that were checked."""
    probes = list_probes(state_folder(lake or DEFAULT_LAKE))
    known = ((probe, provider_at(probe.server)) for probe in probes)
    checked = [_found(probe, provider.quirks_of(probe.model) if provider else None) for probe, provider in known]
    document = {"providers": [_provider_row(one) for one in load_providers()], "checked": checked}
    CommandResult(0, document, _list_view(document)).finish(as_json=as_json)


@app.command("accept")
def accept_command(name: str = typer.Argument(metavar="NAME"), lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Take the replies of a drifting model for usual from now on; its scores still rest on earlier ones."""
    accepted = accept_findings(state_folder(lake or DEFAULT_LAKE), name)
    said = [f"{one.model} at {one.identity}: up to {percent(one.usual)} of its replies may differ" for one in accepted]
    CommandResult(0, {"accepted": [one.model_dump() for one in accepted]}, said).finish(as_json=as_json)


@dataclass(frozen=True)
class ModelCheckResult:
    """What a check found, or an earlier one; `file` keeps it, null if nothing is kept."""

    probe: ModelProbe
    quirks: Quirks | None
    remembered: bool
    file: Path | None


def _capabilities(probe: ModelProbe, quirks: Quirks | None) -> ApiCapabilities:
    """Return how a run would call the model, if its entry says nothing else."""
    if not probe.server:
        return DEFAULT_CAPABILITIES  # the model that comes with the install is known
    return choose_capabilities(None, quirks, probe if probe.answers else None)


def _check(entry: ModelEntry, quirks: Quirks | None, lake: Path, *, again: bool) -> ModelCheckResult:
    """Find out what works with a model. An answer is remembered; without one, the next check starts anew."""
    known = None if again else recall(lake, entry)
    if known and (known.long_prompt or entry.base_url is None):
        return ModelCheckResult(known, quirks, remembered=True, file=probe_file(lake, entry))
    found = asyncio.run(_probe(entry, quirks, known))
    return ModelCheckResult(found, quirks, remembered=False, file=remember(lake, entry, found) if found.answers else None)


def _check_below(entry: ModelEntry, lake: Path, found: ModelCheckResult) -> ModelCheckResult:
    """Return what works at the usual path below an address that did not answer; if nothing does, what was found before."""
    address = f"{str(entry.base_url).rstrip('/')}{VERSION_PATH}"
    below = _check(entry.model_copy(update={"base_url": address, "identity": address}), None, lake, again=False)
    if not below.probe.answers:
        tell(f"neither {entry.base_url} nor {address} answers; the base URL of most servers ends in {VERSION_PATH}")
        return found
    tell(
        f"{entry.base_url} does not answer ({found.probe.findings['answers'].evidence}), {address} does: use --base-url {address}"
    )
    return below


async def _probe(entry: ModelEntry, quirks: Quirks | None, known: ModelProbe | None) -> ModelProbe:
    from flows.planning.capabilities import chat_for_probe, probe_model  # noqa: PLC0415

    resolve_keys(entry, os.environ)
    await check_endpoint(entry)
    if entry.base_url is not None:
        found = known or await probe_model(entry, quirks, entry.base_url)
        async with chat_for_probe(entry, entry.base_url) as chat:
            return await ask_long_prompt(entry, found, chat) if found.answers else found
    async with serve_embedded(tell) as server:
        return await probe_model(entry, quirks, server.base_url)


def _check_document(checked: ModelCheckResult) -> dict[str, Any]:
    found = checked.probe
    return {
        **_found(found, checked.quirks),
        "answers": found.answers,
        "remembered": checked.remembered,
        "file": str(checked.file) if checked.file else None,
        "calls": found.calls,
        "echoed_model": found.echoed_model,
        "capabilities": {
            name: {"verdict": finding.verdict, "evidence": finding.evidence, "documented": _documented(checked, name)}
            for name, finding in found.findings.items()
        },
        "long_prompt": asdict(found.long_prompt) if found.long_prompt else None,
    }


def _found(probe: ModelProbe, quirks: Quirks | None) -> dict[str, Any]:
    """Return what is known of a model that was checked; `dialect`: how a run would call it."""
    return {name: getattr(probe, name) for name in FOUND} | {"dialect": _capabilities(probe, quirks).model_dump(mode="json")}


def _documented(checked: ModelCheckResult, name: str) -> str | None:
    """Return what the provider's entry says of a capability; null if it has no word for it."""
    return str(getattr(checked.quirks, name)) if checked.quirks and name in DOCUMENTED else None


def _check_view(checked: ModelCheckResult) -> list[RenderableType]:
    found = checked.probe
    table = text_table(unbroken("Capability"), "Works", *(["Documented"] if checked.quirks else []), folded("Evidence"))
    for name, finding in found.findings.items():
        documented = [_documented(checked, name) or ""] if checked.quirks else []
        table.add_row(name, finding.verdict, *documented, finding.evidence)
    if long := found.long_prompt:
        table.add_row("long_prompt", long.verdict, *([""] if checked.quirks else []), long.evidence)
    lines = [f"{found.model} at {found.server or 'the embedded server'}: {counted(found.calls, 'call')}, {found.probed_at}"]
    if found.unsent:
        lines.append(f"Calls have to leave out: {', '.join(found.unsent)}")
    lines.append(f"A run would call it with: {describe_capabilities(_capabilities(found, checked.quirks))}")
    if checked.remembered:
        lines.append(f"Remembered from {checked.file}; --again sends calls")
    elif checked.file:
        lines.append(f"Remembered in {checked.file}")
    return [table, *lines]


def _provider_row(provider: Provider) -> dict[str, Any]:
    """Return a provider as JSON; of its key it says only whether its variable is set."""
    name = provider.api_key_env
    return provider.model_dump(mode="json") | {
        "key_is_set": None if name is None else bool(os.environ.get(name, "").strip()),
        "verified": provider.verified,
        "sources": [source.url for source in provider.sources],
        "models": [special.model_dump(mode="json", exclude_none=True) for special in provider.models],
    }


def _list_view(document: dict[str, Any]) -> list[RenderableType]:
    providers = text_table(unbroken("Provider"), "Title", folded("Base URL"), "Key", "Verified")
    for row in document["providers"]:
        key = "none" if row["api_key_env"] is None else f"{row['api_key_env']}{'' if row['key_is_set'] else ' (not set)'}"
        providers.add_row(row["id"], row["title"], row["base_url"], key, row["verified"])
    checked = text_table(unbroken("Checked model"), "Server", "When", "A run calls it with")
    for row in document["checked"]:
        how = describe_capabilities(ApiCapabilities.model_validate(row["dialect"]))
        cells = (row["model"], row["server"] or "embedded", row["probed_at"], how)
        checked.add_row(*cells)
    return [providers, checked] if document["checked"] else [providers]
