"""`moodflow models`: check what works with a model, and list the providers that are known by name."""

import asyncio
import os
from pathlib import Path

import typer
from pydantic import ValidationError
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, terminal_table
from flows.commands.plan_fields import assign, parse_setting
from schemas.addresses import VERSION_PATH
from schemas.chat import EMBEDDED_MODEL, ModelEntry
from schemas.documents.models import AcceptedFindings, ModelCheck, ModelList, ProviderRow
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE
from schemas.plan import refused
from schemas.printing import tell
from schemas.provider import ModelProbe, Quirks
from schemas.table import Column, Table
from tasks.lake.local_state import state_folder
from tasks.models.canary import accept_findings
from tasks.models.capabilities.probe_records import describe_check, list_models, probe_file, recall, remember
from tasks.models.capabilities.providers import describe_capabilities, entry_for, find_provider, provider_at
from tasks.models.embedded.serving import serve_embedded
from tasks.models.long_prompts import ask_long_prompt
from tasks.text.number_format import counted, percent

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
    """Send a short and a long call, show what works and remember it. Ends with status 1 if no answer came."""
    if (name != EMBEDDED_MODEL or provider or base_url) and bool(provider) == bool(base_url):
        raise UsageError(
            f"it is unclear where model {name} is served",
            where="moodflow models check",
            expected="--provider ID or --base-url URL",
            got="both" if provider else "neither",
            next_step="moodflow models list shows the providers",
        )
    of_provider = find_provider(provider) if provider else provider_at(base_url)
    values = entry_for(of_provider, name) if of_provider and provider else {"name": name, "base_url": base_url}
    if api_key_env is not None:
        values["api_key_env"] = api_key_env
    plan = {"models": [{**values, "concurrency": 1, "timeout_s": timeout}]}
    for text in fields or ():
        assign(plan, *parse_setting(f"models.{text.removeprefix('models.')}", "--set"))
    try:
        entry = ModelEntry.model_validate(plan["models"][0])
    except ValidationError as error:
        raise refused(error, "models check") from error
    quirks, folder = of_provider.quirks_of(name) if of_provider else None, state_folder(lake or DEFAULT_LAKE)
    document = _check(entry, quirks, folder, again=again)
    status = int(not document.answers)
    if status and base_url and not base_url.rstrip("/").endswith(VERSION_PATH):
        document = _check_below(entry, folder, document)
    CommandResult(status, document, _check_view(document)).finish(as_json=as_json)


@app.command("list")
def list_command(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """List the known providers, and the models that were checked."""
    document = list_models(state_folder(lake or DEFAULT_LAKE), os.environ)
    CommandResult(0, document, _list_view(document)).finish(as_json=as_json)


@app.command("accept")
def accept_command(name: str = typer.Argument(metavar="NAME"), lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """Accept the replies of a changed model as usual from now on; its scores still rest on earlier ones."""
    accepted = accept_findings(state_folder(lake or DEFAULT_LAKE), name)
    view = [f"{each.model} at {each.identity}: up to {percent(each.usual)} of its replies may differ" for each in accepted]
    CommandResult(0, AcceptedFindings(accepted=tuple(accepted)), view).finish(as_json=as_json)


def _check(entry: ModelEntry, quirks: Quirks | None, lake: Path, *, again: bool) -> ModelCheck:
    """Find out what works with a model. An answer is remembered; without one, the next check starts anew."""
    earlier = None if again else recall(lake, entry)
    if earlier and (earlier.long_prompt or entry.base_url is None):
        return describe_check(earlier, quirks, remembered=True, file=probe_file(lake, entry))
    probe = asyncio.run(_probe(entry, quirks, earlier))
    return describe_check(probe, quirks, remembered=False, file=remember(lake, entry, probe) if probe.answers else None)


def _check_below(entry: ModelEntry, lake: Path, above: ModelCheck) -> ModelCheck:
    """Return what works at the usual path below an address that did not answer; if nothing does, what was found above."""
    address = f"{str(entry.base_url).rstrip('/')}{VERSION_PATH}"
    below = _check(entry.model_copy(update={"base_url": address, "identity": address}), None, lake, again=False)
    if not below.answers:
        tell(f"neither {entry.base_url} nor {address} answers; the base URL of most servers ends in {VERSION_PATH}")
        return above
    evidence = above.capabilities["answers"].evidence
    tell(f"{entry.base_url} does not answer ({evidence}), {address} does: use --base-url {address}")
    return below


async def _probe(entry: ModelEntry, quirks: Quirks | None, remembered: ModelProbe | None) -> ModelProbe:
    # With the client, which takes its time.
    from flows.runtime.probing import chat_for_probe, probe_model  # noqa: PLC0415
    from tasks.models.http.endpoint_check import check_endpoint, resolve_keys  # noqa: PLC0415

    resolve_keys(entry, os.environ)
    await check_endpoint(entry)
    if entry.base_url is not None:
        probe = remembered or await probe_model(entry, quirks, entry.base_url)
        async with chat_for_probe(entry, entry.base_url) as chat:
            return await ask_long_prompt(entry, probe, chat) if probe.answers else probe
    async with serve_embedded(tell) as server:
        return await probe_model(entry, quirks, server.base_url)


def _check_view(check: ModelCheck) -> list[RenderableType]:
    is_documented = any(finding.documented for finding in check.capabilities.values())
    rows = [
        (name, finding.verdict, *([finding.documented or ""] if is_documented else []), finding.evidence)
        for name, finding in check.capabilities.items()
    ]
    if long := check.long_prompt:
        rows.append(("long_prompt", long.verdict, *([""] if is_documented else []), long.evidence))
    columns = (Column("Capability", "name"), Column("Works"), *([Column("Documented")] if is_documented else []))
    lines = [f"{check.model} at {check.server or 'the embedded server'}: {counted(check.calls, 'call')}, {check.probed_at}"]
    if check.unsent:
        lines.append(f"Calls have to leave out: {', '.join(check.unsent)}")
    lines.append(f"A run would call it with: {describe_capabilities(check.dialect)}")
    if check.remembered:
        lines.append(f"Remembered from {check.file}; --again sends calls")
    elif check.file:
        lines.append(f"Remembered in {check.file}")
    return [terminal_table(Table((*columns, Column("Evidence")), rows)), *lines]


def _list_view(document: ModelList) -> list[RenderableType]:
    columns = (Column("Provider", "name"), Column("Title"), Column("Base URL"), Column("Key"), Column("Verified"))
    rows = [(row.id, row.title, row.base_url, _key_words(row), row.verified) for row in document.providers]
    view: list[RenderableType] = [terminal_table(Table(columns, rows))]
    if document.checked:
        heads = (Column("Checked model", "name"), Column("Server"), Column("When"), Column("A run calls it with"))
        checked = [
            (row.model, row.server or "embedded", row.probed_at, describe_capabilities(row.dialect)) for row in document.checked
        ]
        view.append(terminal_table(Table(heads, checked)))
    return view


def _key_words(provider: ProviderRow) -> str:
    if provider.api_key_env is None:
        return "none"
    return provider.api_key_env if provider.key_is_set else f"{provider.api_key_env} (not set)"
