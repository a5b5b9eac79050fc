"""The options of commands: from the command line and a configuration file to one typed plan."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast, get_type_hints

import typer
import yaml
from pydantic import ValidationError
from typer.core import TyperCommand

from flows.commands.model_entries import complete_entries
from flows.commands.plan_fields import assign, parse_setting, parse_value, plan_fields, roles
from schemas.addresses import hide_credentials
from schemas.chat import EMBEDDED_MODEL
from schemas.errors import UsageError
from schemas.folders import Folder, parse_folder
from schemas.plan import Plan
from schemas.refusal import refused
from schemas.vocabulary import PROFILES, SETTINGS, Profile
from tasks.models.cost.pricing import check_budget

MODEL, ROLES, EVALUATED, LIMITS, WHERE, OUTPUT = GROUPS = (
    "Model",
    "Judge and roles",
    "What is evaluated",
    "Limits",
    "Where",
    "Output",
)
"""Titles of the groups of options, in the order of the help."""

Benchmark = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="moodbench, longemotion, either with -mini, or a blueprint file")
]
Mirror = Annotated[Path | None, typer.Option(envvar="MOODFLOW_MIRROR", help="folder with source files, host/owner/repo/path")]
LakeFolder = Annotated[
    Folder | None,
    typer.Option(
        "--lake",
        parser=parse_folder,
        metavar="FOLDER",
        help="of the layers, or s3://BUCKET/PREFIX; default parquet",
        rich_help_panel=WHERE,
    ),
]
Provider = Annotated[
    str | None,
    typer.Option(help="one of `moodflow models list`, instead of --base-url", metavar="ID", rich_help_panel=MODEL),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(help="OpenAI-compatible server: http://localhost:8000/v1", metavar="URL", rich_help_panel=MODEL),
]
KeyEnv = Annotated[
    str | None, typer.Option(help="environment variable that holds the API key", metavar="NAME", rich_help_panel=MODEL)
]
ProfileName = Annotated[str | None, typer.Option("--profile", help="corrected, or reference: as the released code would score")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="print calls, tokens and money it would take; ask nothing", rich_help_panel=LIMITS)
]
Again = Annotated[bool, typer.Option("--again", help="probe anew, whatever is remembered")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="seconds to wait for one reply")]


AsJson = Annotated[bool, typer.Option("--json", help="one JSON document on standard output", rich_help_panel=OUTPUT)]


class At(NamedTuple):
    """Where a plan has what an option says."""

    path: str
    roles_too: bool = False
    """Whether the same field of every role that was named is set, too."""


def complete_path(incomplete: str) -> list[str]:
    """Return the paths of a plan that begin so, for the completion of a shell."""
    return [f"{path}=" for path in plan_fields() if path.startswith(incomplete)]


def _option(help_text: str, group: str, metavar: str | None = None) -> Any:
    return typer.Option(help=help_text, rich_help_panel=group, metavar=metavar)


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """The options that describe a plan, as they were given; each is declared here once, with its place in the plan."""

    model: Annotated[
        list[str] | None,
        At("models"),
        typer.Option(help=f"name; {EMBEDDED_MODEL} comes with the install; repeatable", metavar="NAME", rich_help_panel=MODEL),
    ] = None
    provider: Annotated[Provider, At("models.provider")] = None
    base_url: Annotated[BaseUrl, At("models.base_url")] = None
    api_key_env: Annotated[KeyEnv, At("models.api_key_env")] = None
    temperature: Annotated[
        float | None, At("models.sampling.temperature"), _option("0 = the likeliest token; default 0", MODEL)
    ] = None
    max_tokens: Annotated[
        int | None, At("models.sampling.max_tokens"), _option("longest reply, reasoning included; default 512", MODEL)
    ] = None
    judge: Annotated[str | None, At("judge"), _option("model that judges free-text answers", ROLES, "NAME")] = None
    role: Annotated[list[str] | None, _option(f"{', '.join(roles())}: MODEL@URL or '{{name: N, ...}}'", ROLES, "NAME=MODEL")] = (
        None
    )
    judge_base_url: Annotated[str | None, At("judge.base_url"), _option("server of the judge", ROLES, "URL")] = None
    datasets: Annotated[str | None, At("datasets"), _option("only these, by commas", EVALUATED, "NAMES")] = None
    settings: Annotated[str | None, At("settings"), _option(f"{', '.join(SETTINGS)}; default base", EVALUATED, "NAMES")] = None
    sample: Annotated[int | None, At("sample"), _option("items per dataset; default 300", EVALUATED)] = None
    seed: Annotated[int | None, At("seed"), _option("of sampling and intervals; default 0", EVALUATED)] = None
    repeat: Annotated[int | None, At("repeat"), _option("times each item is asked; default 1", EVALUATED)] = None
    set: Annotated[
        list[str] | None,
        typer.Option(
            help="any other field, listed by `moodflow options`; repeatable",
            metavar="PATH=VALUE",
            autocompletion=complete_path,
            rich_help_panel=EVALUATED,
        ),
    ] = None
    config: Annotated[Path | None, _option("YAML or JSON file with fields of the plan; options win", EVALUATED, "FILE")] = None
    concurrency: Annotated[
        int | None, At("models.concurrency", roles_too=True), _option("most calls in flight at once; default 64", LIMITS)
    ] = None
    budget_tokens: Annotated[int | None, At("budget_tokens"), _option("most tokens the run may use; then it ends", LIMITS)] = None
    mirror: Annotated[Path | None, At("mirror"), _option("folder with source files; or set MOODFLOW_MIRROR", WHERE, "FOLDER")] = (
        None
    )
    lake: Annotated[LakeFolder, At("lake")] = None

    @property
    def given(self) -> tuple[str, ...]:
        """Return what the command line names: options, and the paths of `--set` and `--role`."""
        names = [f"--{one.name.replace('_', '-')}" for one in fields(self) if one.name not in _LISTS and self._value(one.name)]
        return (*names, *(f"--set {path}" for path, _ in self._settings()))

    @property
    def bootstrap(self) -> int | None:
        """Return the resamples that `--set bootstrap=N` asks for, where no plan is made; null if it is not given.

        Raises:
            UsageError: it is no such number.
        """
        given = [value for path, value in self._settings() if path == "bootstrap"]
        try:
            return cast("int", plan_fields()["bootstrap"].check(given[-1])) if given else None
        except ValidationError as error:
            raise refused(error, "compare") from error

    def assignments(self) -> Iterator[tuple[str, Any, bool]]:
        """Yield path, value, and whether it is left out where no such model was named; in the order in which they count."""
        for variable, path in ENVIRONMENT.items():
            if os.environ.get(variable):
                yield path, os.environ[variable], False
        for name, place in _places().items():
            if name == "role":
                yield from ((path, value, False) for path, value in self._roles())
            elif place is not None and self._value(name):
                yield from self._assignments_at(place, getattr(self, name))
        yield from ((path, value, False) for path, value in self._settings())

    def _value(self, name: str) -> bool:
        return getattr(self, name) not in (None, [], ())

    def _assignments_at(self, place: At, value: Any) -> Iterator[tuple[str, Any, bool]]:
        field = plan_fields()[place.path]
        if place.path == "models":
            value = [{"name": name} for name in value]
        elif place.path == "judge":
            value = {"name": value}
        elif isinstance(value, str):
            value = parse_value(field, value)
        yield place.path, value, False
        if place.roles_too:
            yield from ((place.path.replace("models", role), value, True) for role in roles())

    def _roles(self) -> Iterator[tuple[str, Any]]:
        """Yield the model of each role; those of the panel together."""
        panel: list[Any] = []
        for text in self.role or ():
            name = text.partition("=")[0].strip()
            if name not in roles():
                nearest = get_close_matches(name, roles(), n=1, cutoff=0.4)
                raise UsageError(
                    f"there is no role {name}",
                    where="--role",
                    expected=f"NAME=MODEL with one of {', '.join(roles())}",
                    got=hide_credentials(text),
                    next_step=f"did you mean {nearest[0]}?" if nearest else "for example --role sage=NAME@URL",
                )
            path, value = parse_setting(text, "--role")
            panel += value if isinstance(value, list) else []
            yield path, panel if isinstance(value, list) else value

    def _settings(self) -> Iterator[tuple[str, Any]]:
        return (parse_setting(text, "--set") for text in self.set or ())


_LISTS = ("set",)
ENVIRONMENT = {"MOODFLOW_MIRROR": "mirror", "MOODFLOW_PRICES": "prices"}
"""Variables of the environment that stand for an option, and their fields of the plan."""

FORMER = {
    "timeout": "models.timeout_s",
    "length": "contexts.lengths",
    "depth": "contexts.depths",
    "no_length_demand": "contexts.length_demand",
    "extra_body": "models.dialect.extra",
}
"""Names a user may try that are no field's name, and the path of what they mean."""


@cache
def _places() -> dict[str, At | None]:
    hints = get_type_hints(PlanOptions, include_extras=True)
    marks = {one.name: getattr(hints[one.name], "__metadata__", ()) for one in fields(PlanOptions)}
    return {name: next((mark for mark in found if isinstance(mark, At)), None) for name, found in marks.items()}


@cache
def _plan_params() -> list[Any]:
    declared = typer.Typer(add_completion=False)
    declared.command()(PlanOptions)
    return list(typer.main.get_command(declared).params)


class PlanCommand(TyperCommand):
    """A command with the options of a plan besides its own; its function finds them as `context.obj`."""

    def __init__(self, *args: Any, params: list[Any] | None = None, **more: Any) -> None:
        options = sorted([*_plan_params(), *(params or ())], key=lambda one: _rank(getattr(one, "rich_help_panel", None)))
        super().__init__(*args, params=options, **more)

    def get_help_option(self, ctx: Any) -> Any:
        """Return `--help`, in the group of what is printed."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel = OUTPUT
        return option

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; an option that does not exist gets the path that says the same."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            # Typer keeps the class of its error to itself.
            if type(error).__name__ != "NoSuchOption":
                raise
            known = [name for one in self.get_params(ctx) for name in one.opts]
            raise _no_such_option(str(getattr(error, "option_name", "")), known, ctx.command_path) from None

    def invoke(self, ctx: Any) -> Any:
        """Collect the options of the plan, then run the function."""
        ctx.obj = PlanOptions(**{one.name: ctx.params.pop(one.name) for one in fields(PlanOptions)})
        return super().invoke(ctx)


def _rank(group: str | None) -> int:
    return GROUPS.index(group) if group in GROUPS else -1


def _no_such_option(name: str, known: list[str], command: str) -> UsageError:
    nearest = get_close_matches(name, known, n=2, cutoff=0.7)
    return UsageError(
        f"there is no option {name}",
        where=command,
        expected="an option that --help lists, or --set PATH=VALUE with a path that moodflow options lists",
        got=name,
        next_step=_replacement(name.lstrip("-").replace("-", "_"))
        or (f"did you mean {' or '.join(nearest)}?" if nearest else "moodflow options lists every path"),
    )


def _replacement(name: str) -> str | None:
    """Return how a plan's field of this name is set; None if there is none."""
    role, _, inner = name.partition("_")
    of_role = f"{role}.{inner}"
    same = [path for path in plan_fields() if path.rpartition(".")[2] == name]
    path = FORMER.get(name) or next((one for one in (name, of_role, *same) if one in plan_fields()), None)
    if path is None:
        return None
    if path in roles():
        return f"use --role {path}=NAME"
    return f"use --set {path}={'true or false' if plan_fields()[path].kind == 'true or false' else 'VALUE'}"


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


def read_plan(benchmark: str, options: PlanOptions, *, needs_model: bool = True) -> Plan:
    """Return the plan that options and configuration file describe; options win over the file, `--set` over other options.

    Args:
        benchmark: name, or path of a blueprint.
        options: as given.
        needs_model: refuse a plan without one.

    Raises:
        UsageError: a file cannot be read, a value is refused, or money is limited and a model has no price.
    """
    values = {**(_read_config(options.config) if options.config else {}), "benchmark": benchmark}
    for path, value, only_named in options.assignments():
        assign(values, path, value, only_named=only_named)
    values["models"] = values.get("models") or ()
    try:
        plan = Plan.model_validate(complete_entries(values, roles()))
    except ValidationError as error:
        raise refused(error) from error
    if needs_model:
        plan.require_models()
    check_budget(plan)
    return plan


def _read_config(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:  # ValueError: a date that does not exist
        raise UsageError(
            "the configuration file cannot be read",
            where=str(path),
            expected="a YAML or JSON file with fields of the plan, as moodflow options lists them",
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


def read_profile(name: str | None) -> Profile:
    """Return the profile of this name; the default without one.

    Raises:
        UsageError: there is none.
    """
    for profile in PROFILES:
        if name in (None, profile):
            return profile
    raise UsageError("there is no such profile", where="--profile", expected=f"one of {', '.join(PROFILES)}", got=str(name))
