"""Options that describe a model, and from them and a configuration file the fields of its entry in the plan."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from schemas.addresses import hide_credentials
from schemas.errors import UsageError
from schemas.provider import UNSENT
from tasks.models.capabilities.providers import entry_for, find_provider

JudgeProvider = Annotated[str | None, typer.Option(help="provider of the judge, instead of --judge-base-url")]
ReasoningEffort = Annotated[str | None, typer.Option(help="how much to reason, in the provider's words, such as low")]
TokenLimit = Annotated[
    str | None, typer.Option(help="name of the reply's limit: max_tokens or max_completion_tokens [default: as probed]")
]
Unsent = Annotated[
    str | None, typer.Option(help=f"leave these out of calls, separated by commas: {', '.join(UNSENT)} [default: as probed]")
]
ExtraBody = Annotated[str | None, typer.Option(metavar="JSON", help="an object that is merged into the body of every call")]
MaxTokens = Annotated[int | None, typer.Option(help="longest reply, reasoning included, in tokens [default: 512]")]
Temperature = Annotated[float | None, typer.Option(help="sampling temperature [default: 0]")]
RequestsPerMinute = Annotated[int | None, typer.Option(help="most calls sent per minute")]
TokensPerMinute = Annotated[int | None, typer.Option(help="most tokens per minute, prompts and replies together")]
ReplyTimeout = Annotated[float | None, typer.Option("--timeout", help="seconds to wait for one reply [default: 120]")]
RequireSameModel = Annotated[
    bool, typer.Option("--require-same-model", help="an answer that names another model than the one asked is a failure")
]

MODEL_FIELDS: Mapping[str, tuple[str, ...]] = {
    "provider": ("provider",),
    "base_url": ("base_url",),
    "api_key_env": ("api_key_env",),
    "concurrency": ("concurrency",),
    "requests_per_minute": ("requests_per_minute",),
    "tokens_per_minute": ("tokens_per_minute",),
    "timeout": ("timeout_s",),
    "require_same_model": ("require_same_model",),
    "token_probabilities": ("token_probabilities",),
    "temperature": ("sampling", "temperature"),
    "max_tokens": ("sampling", "max_tokens"),
    "reasoning_effort": ("dialect", "reasoning_effort"),
    "token_limit": ("dialect", "token_limit"),
    "unsent": ("dialect", "unsent"),
    "extra_body": ("dialect", "extra"),
}
"""Options of the models under test, by parameter of the command, and where an entry has what they say."""

HELPERS = ("judge", "sage", "critic")
"""Models besides those under test that options can name, by their field of the plan."""


def helper_fields(helper: str) -> Mapping[str, tuple[str, ...]]:
    """The same for a judge, Sage or critic; what else it may need is said in a configuration file."""
    return {
        f"{helper}_provider": ("provider",),
        f"{helper}_base_url": ("base_url",),
        f"{helper}_api_key_env": ("api_key_env",),
        "concurrency": ("concurrency",),
        "timeout": ("timeout_s",),
    }


def complete_entries(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a plan whose models, judges and helpers have what the options say; options win. The panel is where the judge is.

    Args:
        values: fields of Plan; entries are mappings, and may name their `provider` instead of a base URL.
        given: every option by its parameter; None or False means not given.

    Raises:
        UsageError: if there is no such provider, an entry has a base URL besides, or options describe a helper nobody named.
    """
    completed, models, panel = dict(values), values.get("models"), values.get("panel")
    if isinstance(models, list | tuple):
        completed["models"] = [_complete(entry, given, MODEL_FIELDS) for entry in models]
    if isinstance(panel, list | tuple):
        completed["panel"] = [_complete(entry, given, helper_fields("judge")) for entry in panel]
    for helper in HELPERS:
        entry, fields = values.get(helper), helper_fields(helper)
        if entry is None and any(given.get(name) for name in fields if name.startswith(f"{helper}_")):
            raise UsageError(f"a {helper} is described and none is named", where=f"--{helper}", next_step=f"add --{helper} NAME")
        if entry is not None:
            completed[helper] = _complete(entry, given, fields)
    return completed


def _complete(entry: Any, given: Mapping[str, Any], fields: Mapping[str, tuple[str, ...]]) -> Any:
    if not isinstance(entry, Mapping):
        return entry  # the plan says what is wrong with it
    completed = {name: dict(value) if isinstance(value, Mapping) else value for name, value in entry.items()}
    for option, (*above, field) in fields.items():
        value = given.get(option)
        if value is None or value is False:
            continue
        if above and completed.get(above[0]) is None:
            completed[above[0]] = {}
        place = completed[above[0]] if above else completed
        if isinstance(place, dict):
            place[field] = tuple(name.strip() for name in value.split(",") if name.strip()) if option == "unsent" else value
    _write_extra_as_json(completed.get("dialect"))
    return _at_provider(completed)


def _write_extra_as_json(dialect: Any) -> None:
    if not isinstance(dialect, dict) or isinstance(dialect.get("extra"), str | None):
        return
    try:
        dialect["extra"] = json.dumps(dialect["extra"], ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"what is merged into the body of every call cannot be written as JSON: {error}",
            where="dialect.extra",
            expected="texts, numbers, true, false, null, lists and mappings",
            got=str(dialect["extra"])[:200],
            next_step="put dates and times in quotes; .nan and .inf cannot be sent",
        ) from error


def _at_provider(entry: dict[str, Any]) -> dict[str, Any]:
    name = entry.pop("provider", None)
    if name is None:
        return entry
    if entry.get("base_url"):
        raise UsageError(
            f"where model {entry.get('name')} is served is said twice",
            where="--provider",
            expected="a provider or a base URL",
            got=f"provider {name} and base URL {hide_credentials(str(entry['base_url']))}",
            next_step="leave one of them out",
        )
    known = entry_for(find_provider(str(name)), entry.get("name", ""))
    return known | {field: value for field, value in entry.items() if value is not None}
