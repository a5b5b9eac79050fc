"""Declare the options of a plan, and read them and a configuration file as one."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from typer.core import TyperCommand

from flows.commands import options as opt
from flows.commands.config_files import complete_plan, read_configs, read_descriptions, without_idle_roles
from flows.commands.plan_fields import Values, assign, find_field, parse_setting, parse_value, plan_fields, role_names
from schemas.addresses import hide_credentials
from schemas.chat import EMBEDDED_MODEL
from schemas.errors import UsageError, suggest, try_each
from schemas.plan import Plan, refused
from schemas.roles import JUDGE
from tasks.models.cost import check_budget
from tasks.solvers.registry import require_role


def complete_path(incomplete: str) -> list[str]:
    """Return the paths of a plan that begin so, for the completion of a shell."""
    return [f"{path}=" for path in plan_fields() if path.startswith(incomplete)]


PathValues = opt.option(
    "any other field that `moodflow options` lists; repeatable", opt.EVALUATED, "PATH=VALUE", autocompletion=complete_path
)
ConfigFiles = opt.option(
    "file with fields of the plan, or preset paper; options win", opt.EVALUATED, "FILE", "--config", "--preset"
)


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """The options that describe a plan, as they were given; all but role, set, config and about are named as its fields."""

    model: Annotated[
        list[str] | None, opt.option(f"model to evaluate; {EMBEDDED_MODEL} comes with the install; repeatable", opt.MODEL, "NAME")
    ] = None
    provider: opt.Provider = None
    base_url: opt.BaseUrl = None
    api_key_env: opt.KeyEnv = None
    temperature: Annotated[float | None, opt.option("0 = always the likeliest token; default 0", opt.MODEL)] = None
    max_tokens: Annotated[int | None, opt.option("length limit of a reply, reasoning included; default 512", opt.MODEL)] = None
    about: opt.About = None
    judge: Annotated[list[str] | None, opt.option("model that rates free-text answers", opt.JUDGE, "NAME")] = None
    role: Annotated[
        list[str] | None, opt.option("judge, panel or helper: MODEL@URL or '{name: N, ...}'", opt.JUDGE, "NAME=MODEL")
    ] = None
    judge_base_url: Annotated[str | None, opt.option("server of the judge", opt.JUDGE, "URL")] = None
    require_certificate: Annotated[
        bool | None, opt.option("refuse a judge without a certificate", opt.JUDGE, None, "--require-certificate")
    ] = None
    datasets: Annotated[str | None, opt.option("only these, NAME,NAME", opt.EVALUATED, "NAMES")] = None
    settings: Annotated[str | None, opt.option("how items are asked, NAME,NAME; default base", opt.EVALUATED, "NAMES")] = None
    sample: Annotated[int | None, opt.option("items per dataset; default 300, or what the blueprint says", opt.EVALUATED)] = None
    seed: Annotated[int | None, opt.option("seed of sampling and intervals; default 0", opt.EVALUATED)] = None
    repeat: Annotated[int | None, opt.option("how often each item is asked; default 1", opt.EVALUATED)] = None
    set: Annotated[list[str] | None, PathValues] = None
    config: Annotated[list[str] | None, ConfigFiles] = None
    concurrency: Annotated[int | None, opt.option("calls in flight at once; default 64", opt.LIMITS)] = None
    budget_tokens: Annotated[int | None, opt.option("tokens the run may use before it ends", opt.LIMITS)] = None
    batch: Annotated[
        bool | None, opt.option("have providers answer by batch, for less; ends with status 3", opt.LIMITS, None, "--batch")
    ] = None
    wait: Annotated[bool | None, opt.option("with --batch: wait for the batches", opt.LIMITS, None, "--wait")] = None
    batch_below: Annotated[int | None, opt.option("with --batch: fewer calls of a model go live; default 20", opt.LIMITS)] = None
    live_too: Annotated[
        bool | None, opt.option("also send what a batch has; may be paid twice", opt.LIMITS, None, "--live-too")
    ] = None
    requests_to: Annotated[
        Path | None, opt.option("write calls for another machine to answer; ends with status 3", opt.LIMITS, "FILE")
    ] = None
    canary: Annotated[int | None, opt.option("calls per model to repeat, twice, to notice a changed model", opt.LIMITS)] = None
    mirror: Annotated[Path | None, opt.option("folder with source files; or set MOODFLOW_MIRROR", opt.WHERE, "FOLDER")] = None
    lake: opt.LakeFolder = None

    @property
    def given(self) -> Values:
        """Return what the command line names, by name."""
        values = {option.name: getattr(self, option.name) for option in fields(self)}
        return {name: value for name, value in values.items() if value not in (None, [], ())}

    @property
    def named(self) -> tuple[str, ...]:
        """Return the options that are given as a user wrote them, `--set` with its path."""
        names = (f"--{name.replace('_', '-')}" for name in self.given if name != "set")
        return (*names, *(f"--set {text.partition('=')[0].strip()}" for text in self.set or ()))

    def assign_to(self, values: Values) -> None:
        """Set what the options say in the values of a plan, in the order in which they count."""
        for variable, path in ENVIRONMENT.items():
            if os.environ.get(variable):
                assign(values, path, os.environ[variable])
        for name, value in self.given.items():
            if name == "role":
                for path, models in self._roles():
                    assign(values, path, models)
            elif name not in ("set", "config", "about"):
                _assign_option(name, value, values)
        for path, value in try_each(lambda text: parse_setting(text, "--set"), self.set or ()):
            assign(values, path, value)

    def _roles(self) -> Iterator[tuple[str, Any]]:
        """Yield the model of each role; those of the panel together."""
        panel: list[Any] = []
        taken = {JUDGE} if self.judge else set[str]()
        try_each(lambda text: require_role(hide_credentials(text.partition("=")[0].strip()), "--role"), self.role or ())
        for text in self.role or ():
            path, value = parse_setting(text, "--role")
            if path in taken and not (panel and isinstance(value, list)):
                raise _named_twice(path, text)
            taken.add(path)
            panel += value if isinstance(value, list) else []
            yield path, panel if isinstance(value, list) else value


ENVIRONMENT = {"MOODFLOW_MIRROR": "mirror", "MOODFLOW_PRICES": "prices"}
"""Variables of the environment that stand for an option, and their fields of the plan."""


def path_of(name: str) -> str | None:
    """Return the path of the field that an option's name stands for: its own, that of a role's, or that below another."""
    paths = plan_fields()
    role, _, inner = name.partition("_")
    same = sorted((path for path in paths if path.endswith(f".{name}")), key=lambda path: not path.startswith("models."))
    return next((path for path in (name, f"{role}.{inner}", *same) if path in paths), None)


def _assign_option(name: str, value: Any, values: Values) -> None:
    path = "models" if name == "model" else str(path_of(name))
    if path == "models":
        value = [{"name": model} for model in value]
    elif path == JUDGE:
        if len(value) > 1:
            raise _named_twice(path, value[-1])
        value = {"name": value[0]}
    elif isinstance(value, str):
        value = parse_value(find_field(path, path), value)
    assign(values, path, value)
    for role in values.get("roles", {}) if name == "concurrency" else ():
        assign(values, f"{role}.concurrency", value)


def _named_twice(role: str, got: str) -> UsageError:
    return UsageError(
        f"role {role} is given twice",
        where="--judge, --role" if role == JUDGE else f"--role {role}",
        expected="each role once; the panel once per judge, or all in one mapping",
        got=hide_credentials(got),
        next_step="leave one of them out; further judges are named with --role panel=NAME",
    )


@cache
def _plan_params() -> list[Any]:
    declared = typer.Typer(add_completion=False)
    declared.command()(PlanOptions)
    return list(typer.main.get_command(declared).params)


class PlanCommand(TyperCommand):
    """A command with the options of a plan besides its own; its function finds them as `context.obj`."""

    def __init__(self, *args: Any, params: list[Any] | None = None, **more: Any) -> None:
        panels = (None, *opt.GROUPS)
        given = [*_plan_params(), *(params or ())]
        given.sort(key=lambda option: panels.index(getattr(option, "rich_help_panel", None)))
        super().__init__(*args, params=given, **more)

    def get_help_option(self, ctx: Any) -> Any:
        """Return `--help`, in the group of what is printed."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel = opt.OUTPUT
        return option

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; an option that does not exist gets the path that says the same."""
        try:
            _, _, order = self.make_parser(ctx).parse_args(args=[*args])
            _require_once([str(option.name) for option in order])
            return super().parse_args(ctx, args)
        except Exception as error:
            # Typer keeps the class of its error to itself.
            if type(error).__name__ != "NoSuchOption":
                raise
            names = [name for option in self.get_params(ctx) for name in option.opts]
            name, otherwise = str(getattr(error, "option_name", "")), "moodflow options lists every path"
            instead = _replacement(name.lstrip("-").replace("-", "_"))
            raise UsageError(
                f"there is no option {name}",
                where=ctx.command_path,
                expected="an option that --help lists, or --set PATH=VALUE with a path that moodflow options lists",
                got=name,
                next_step=instead or suggest(name, names, otherwise, most=2, cutoff=0.7),
            ) from None

    def invoke(self, ctx: Any) -> Any:
        """Collect the options of the plan, then run the function."""
        ctx.obj = PlanOptions(**{option.name: ctx.params.pop(option.name) for option in fields(PlanOptions)})
        return super().invoke(ctx)


ONCE = ("provider", "base_url", "api_key_env", "judge_base_url")
"""Options of which the last would count alone, though each was meant for another model."""


def _require_once(given: list[str]) -> None:
    name = next((name for name in ONCE if given.count(name) > 1), None)
    if name is None:
        return
    option = f"--{name.replace('_', '-')}"
    in_file = f"write models: [{{name: A, {name}: X}}, {{name: B, {name}: Y}}] into a file, and give --config FILE"
    raise UsageError(
        f"{option} is given {given.count(name)} times",
        where=option,
        expected=f"{option} once; it holds for every {'judge' if name == 'judge_base_url' else '--model'} of the command",
        next_step="name each judge as --role panel=NAME@URL" if name == "judge_base_url" else in_file,
    )


def _replacement(name: str) -> str | None:
    path = path_of(name)
    if path is None or path in role_names():
        return path and f"use --role {path}=NAME"
    return f"use --set {path}={'true or false' if plan_fields()[path].kind == 'true or false' else 'VALUE'}"


def read_plan(
    benchmark: str | None,
    options: PlanOptions,
    *,
    needs_model: bool = True,
    stated: Values | None = None,
    by_path: Values | None = None,
) -> Plan:
    """Return the plan that options, configuration files and presets describe; a plan without a model is refused if it needs one.

    Options win over files, `--set` over other options, a file over the one before it and over presets. A program states fields
    as values: `stated` is one more file, and `by_path`, values by the path of a field, are set last.
    """
    presets, values = read_configs(options.config or (), benchmark, stated)
    written = values.get("roles", {}).keys() - {text.partition("=")[0].strip() for text in options.role or ()}
    options.assign_to(values)
    for path, value in (by_path or {}).items():
        assign(values, path, value)
    values["models"] = values.get("models") or ()
    try:
        plan = without_idle_roles(Plan.model_validate(complete_plan(values, presets)), sorted(written))
    except ValidationError as error:
        raise refused(error) from error
    if needs_model:
        plan.require_models()
    if options.about:
        about = read_descriptions(options.about, [entry.name for entry in plan.models])
        plan = plan.map_entries(lambda entry: entry.model_copy(update={"about": about.get(entry.name, entry.about)}))
    check_budget(plan)
    return plan
