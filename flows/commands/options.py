"""Options of the command line and a configuration file to one typed plan."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
import yaml
from pydantic import ValidationError

from flows.commands.longemotion_options import complete_nested, read_settings
from flows.commands.model_options import complete_entries
from schemas.chat import EMBEDDED_MODEL
from schemas.errors import UsageError
from schemas.folders import Folder, parse_folder
from schemas.plan import Plan
from schemas.refusal import refused
from schemas.vocabulary import PROFILES, SETTINGS, Profile
from tasks.models.cost.pricing import check_budget

Benchmark = Annotated[
    str, typer.Argument(help="moodbench, longemotion, each with -mini, longemotion-released, or path of a blueprint file")
]
Models = Annotated[
    list[str] | None, typer.Option("--model", help=f"model name; {EMBEDDED_MODEL} comes with the install; repeatable")
]
BaseUrl = Annotated[str | None, typer.Option(help="OpenAI-compatible server, e.g. http://localhost:8000/v1")]
KeyEnv = Annotated[str | None, typer.Option(help="environment variable that holds the API key")]
Judge = Annotated[str | None, typer.Option(help="model that judges free-text answers")]
JudgeBaseUrl = Annotated[str | None, typer.Option(help="server of the judge")]
JudgeKeyEnv = Annotated[str | None, typer.Option(help="environment variable that holds the judge's API key")]
Datasets = Annotated[str | None, typer.Option(help="only these, separated by commas")]
Settings = Annotated[str | None, typer.Option(help=f"how items are asked, by commas: {', '.join(SETTINGS)} [default: base]")]
Sample = Annotated[int | None, typer.Option(help="items per dataset [default: 300]")]
Seed = Annotated[int | None, typer.Option(help="of sampling and intervals [default: 0]")]
Bootstrap = Annotated[int | None, typer.Option(help="resamples for 95 % intervals, 0 = none [default: 1000]")]
Permute = Annotated[int | None, typer.Option(help="ask each single choice under this many cyclic orders of its options")]
Repeat = Annotated[int | None, typer.Option(help="ask each item so many times; each is a call of its own [default: 1]")]
TooLong = Annotated[
    str | None,
    typer.Option(help="items longer than the model's context: missing, or asked with the text cut_middle or cut_start"),
]
ProfileName = Annotated[str | None, typer.Option("--profile", help="corrected, or reference: as the released code would score")]
Mirror = Annotated[Path | None, typer.Option(envvar="MOODFLOW_MIRROR", help="folder with source files, host/owner/repo/path")]
LakeFolder = Annotated[
    Folder | None,
    typer.Option("--lake", parser=parse_folder, metavar="FOLDER", help="of the layers, or s3://BUCKET/PREFIX [default: parquet]"),
]
Concurrency = Annotated[int | None, typer.Option(help="most calls in flight at once [default: 64]")]
TokenProbabilities = Annotated[
    bool, typer.Option("--token-probabilities", help="rank options by their letters' probabilities, where the server sends them")
]
Budget = Annotated[float | None, typer.Option(help="most money this run may cost, in the currency of the prices; then it ends")]
BudgetTokens = Annotated[int | None, typer.Option(help="most tokens this run may use, prompts and replies; then it ends")]
Prices = Annotated[Path | None, typer.Option(envvar="MOODFLOW_PRICES", help="YAML file with prices per million tokens")]
RunnerName = Annotated[
    str | None,
    typer.Option(
        "--runner", help="local, or dask or ray: build and score on a cluster; its workers need the lake, --lake s3://..."
    ),
]
RunnerAddress = Annotated[str | None, typer.Option(help="of a Dask scheduler, tcp://HOST:8786, or a Ray head node, HOST:6379")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="run, infer: print calls, tokens and money it would take; ask nothing")]
Config = Annotated[Path | None, typer.Option("--config", help="YAML file with the same settings; options win")]
RankIncomplete = Annotated[bool | None, typer.Option("--rank-incomplete", help="rank models below full coverage too")]
Redact = Annotated[
    bool | None, typer.Option("--redact", help="leave texts whose licence forbids passing them on out of the report")
]
Provider = Annotated[str | None, typer.Option("--provider", help="one of `moodflow models list`, instead of --base-url")]
Again = Annotated[bool, typer.Option("--again", help="probe anew, whatever is remembered")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="seconds to wait for one reply")]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON document on standard output")]


def require_asking(stage: str) -> None:
    """Refuse --dry-run for what calls no model.

    Raises:
        UsageError: the stage asks nothing.
    """
    if stage not in {"run", "infer"}:
        raise UsageError(
            f"moodflow {stage} calls no model, so there is nothing to estimate",
            where="--dry-run",
            expected="moodflow run or moodflow infer",
            next_step="leave --dry-run out",
        )


PLAIN = (
    *("benchmark", "sample", "seed", "bootstrap", "permute", "repeat", "judge_repeat", "too_long", "profile", "mirror", "lake"),
    *("budget", "budget_tokens", "prices", "rank_incomplete", "redact", "runner", "runner_address"),
)
"""Options that are fields of the plan as they are."""


def plan_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of the plan that options give, but those of models and of parts; None means not given.

    Args:
        given: every option by its parameter.
    """
    helpers = {name: None if given[name] is None else {"name": given[name]} for name in ("judge", "sage", "critic")}
    return {
        **{name: given[name] for name in PLAIN},
        **helpers,
        "models": [{"name": name} for name in given["model"] or ()] or None,
        "panel": [{"name": name} for name in given["panel"] or ()] or None,
        "datasets": split_names(given["datasets"]),
        "settings": read_settings(given["settings"]),
    }


def read_plan(given: Mapping[str, Any]) -> Plan:
    """The plan that the options of a stage describe; `given` has every one by its parameter.

    Raises:
        UsageError: as make_plan does.
    """
    return make_plan(plan_values(given), given["config"], given)


def make_plan(options: Mapping[str, Any], config: Path | None, given: Mapping[str, Any] = MappingProxyType({})) -> Plan:
    """The plan from a configuration file, overridden by the options that were given.

    Args:
        options: fields of Plan; None means not given.
        config: YAML file with fields of Plan; its models may name their `provider` instead of a base URL.
        given: options that describe the models, by parameter of the command.

    Raises:
        UsageError: if a file cannot be read, a value is refused, or money is limited and a model has no price.
    """
    values = {**(_read_config(config) if config else {}), **{name: value for name, value in options.items() if value is not None}}
    if not values.get("models"):
        raise UsageError(
            "no model was named", where="--model", next_step=f"add --model {EMBEDDED_MODEL}, or --model NAME --base-url URL"
        )
    values = complete_entries(complete_nested(values, given), given)
    try:
        plan = Plan.model_validate(values)
    except ValidationError as error:
        raise refused(error) from error
    check_budget(plan)
    return plan


def _read_config(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:  # ValueError: a date that does not exist
        raise UsageError(
            "the configuration file cannot be read",
            where=str(path),
            expected="a YAML file with the same settings as the options",
            got=" ".join(str(error).split())[:200],
            next_step="correct the file, or leave --config out",
        ) from error
    if not isinstance(values, dict):
        raise UsageError(
            "the configuration file is not a mapping",
            where=str(path),
            expected="key: value",
            got=type(values).__name__,
            next_step="correct the file, or leave --config out",
        )
    return values


def split_names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas; None stays None."""
    return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def read_profile(name: str | None) -> Profile:
    """The profile of this name; the default without one.

    Raises:
        UsageError: there is none.
    """
    for profile in PROFILES:
        if name in (None, profile):
            return profile
    raise UsageError("there is no such profile", where="--profile", expected=f"one of {', '.join(PROFILES)}", got=str(name))
