"""Find the fields of a plan by path, such as `retrieval.top_k`, and set them from text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from flows.commands import options as opt
from flows.commands.console import CommandResult, terminal_table
from schemas.addresses import hide_credentials
from schemas.chat import ModelEntry
from schemas.documents.plan import PlanOption, PlanOptionList
from schemas.errors import UsageError, suggest
from schemas.folders import Folder
from schemas.json_yaml import read_yaml
from schemas.plan import Plan
from schemas.roles import JUDGES, PANEL, by_dataset, differs_by_dataset, map_role
from schemas.table import Column, Table
from tasks.solvers.registry import SOLVERS, helper_roles, is_optional

TYPE_NAMES: Mapping[Any, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    Path: "file or folder",
    Folder: "folder or s3://BUCKET/PREFIX",
    ModelEntry: "model",
}

AT_URL = re.compile(r"(?P<name>.+?)@(?P<base_url>https?://.*)", re.DOTALL)
AT_PROVIDER = re.compile(r"(?P<name>.+)@(?P<provider>[^@]*)", re.DOTALL)
EXAMPLE = "NAME@http://localhost:8000/v1"

PROVIDER = FieldInfo(annotation=str | None, default=None, description="one of `moodflow models list`, instead of base_url")
"""Names the server of a model's entry; replaced by its base URL before the plan is made."""


Values = dict[str, Any]
"""Fields of a plan as files and options have them, before the plan is made and checks them."""

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class PlanField:
    """One field of a plan that `--set` reaches."""

    path: str
    annotation: Any
    info: FieldInfo

    @property
    def kind(self) -> str:
        """Return its type in words."""
        names = []
        for part, member in zip(_alternatives(self.annotation), _members(self.annotation), strict=True):
            name = " | ".join(_words(member)) or TYPE_NAMES.get(member) or "its fields below"
            names.append(f"list of {name}" if get_origin(part) is tuple else name)
        return " or ".join(names)

    @property
    def default(self) -> str:
        """Return its default as `--set` takes it; empty for a part that has fields of its own, or a field that has to be set."""
        value = self.info.default
        if self.info.is_required() or self.info.default_factory or isinstance(value, BaseModel):
            return ""
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    @property
    def model(self) -> type[BaseModel] | None:
        """Return the type that its own fields belong to; None if it has none."""
        return next((part for part in _members(self.annotation) if isinstance(part, type) and issubclass(part, BaseModel)), None)

    @property
    def is_list(self) -> bool:
        """Return whether it takes several values."""
        return any(get_origin(part) is tuple for part in _alternatives(self.annotation))

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that it may be; none where it may be anything else."""
        return tuple(word for part in _members(self.annotation) for word in _words(part))


@cache
def plan_fields() -> Mapping[str, PlanField]:
    """Return every field of a plan by its path, parts before their own fields; `judge.name` is that of all models of a role."""
    own = {name: info for name, info in Plan.model_fields.items() if name not in ("roles", "solvers")}
    others = {role: "nobody" if is_optional(role) else "the model under test" for role in helper_roles()}
    helpers = {role: f"model that {does}; null = {others[role]}" for role, does in helper_roles().items()}
    parts: list[tuple[Mapping[str, FieldInfo], str]] = [(_roles(JUDGES), ""), (own, ""), (_roles(helpers), "")]
    parts += [(solver.options.model_fields, f"solvers.{solver.setting}.") for solver in SOLVERS.values()]
    return {field.path: field for fields, prefix in parts for field in _walk(fields, prefix)}


@cache
def role_names() -> tuple[str, ...]:
    """Return the roles that models may be named for."""
    return tuple(path for path, field in plan_fields().items() if field.model is ModelEntry and path != "models")


def _roles(described: Mapping[str, str]) -> dict[str, FieldInfo]:
    roles = {name: FieldInfo(annotation=ModelEntry | None, default=None, description=text) for name, text in described.items()}
    if PANEL in roles:
        roles[PANEL] = FieldInfo(annotation=tuple[ModelEntry, ...], default=(), description=described[PANEL])
    return roles


def _walk(fields: Mapping[str, FieldInfo], prefix: str) -> Iterator[PlanField]:
    for name, info in fields.items():
        field = PlanField(f"{prefix}{name}", info.annotation, info)
        yield field
        if field.model is not None:
            more = {"provider": PROVIDER} if field.model is ModelEntry else {}
            yield from _walk({**field.model.model_fields, **more}, f"{field.path}.")


def find_field(path: str, option: str) -> PlanField:
    """Return the field at a path that an option was given; raise UsageError, with the nearest paths, if there is none."""
    path = path.removeprefix("roles.")
    fields = plan_fields()
    if path in fields:
        return fields[path]
    part, _, name = path.partition(".")
    if name and part in fields and get_origin(fields[part].annotation) is dict:
        return PlanField(path, get_args(fields[part].annotation)[1], fields[part].info)
    last = path.rpartition(".")[2]
    same = [candidate for candidate in fields if candidate.rpartition(".")[2] == last]
    raise UsageError(
        f"unknown field {path}",
        where=option,
        expected="PATH=VALUE with a path that moodflow options lists",
        got=path,
        next_step=suggest(path, same or fields, "moodflow options lists every path", most=3, cutoff=0.0 if same else 0.5),
    )


def parse_setting(text: str, option: str) -> tuple[str, Any]:
    """Read `PATH=VALUE`, as given to an option: the path, and the value as the field there takes it."""
    path, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            "--set needs a value",
            where=option,
            expected="NAME=MODEL@BASE_URL" if option == "--role" else "PATH=VALUE",
            got=hide_credentials(text),
            next_step=f"for example {option} {f'{path}={EXAMPLE}' if option == '--role' else 'retrieval.top_k=8'}",
        )
    field = find_field(path.strip(), option)
    return field.path, parse_value(field, value)


def parse_value(field: PlanField, text: str) -> Any:
    """Read the text of a field's value; the plan itself checks numbers, words and limits.

    Lists are split at commas, lists in brackets and mappings in braces are read as YAML.
    """
    if text.strip() in ("null", "~"):
        return None
    if text.lstrip()[:1] in ("[", "{") and (field.is_list or field.model is not None):
        try:
            value = read_yaml(text)
        except ValueError as error:
            raise UsageError(
                f"the value of {field.path} cannot be read",
                where=field.path,
                expected="YAML, such as [1, 2] or {name: NAME}",
                got=" ".join(hide_credentials(str(error)).split())[:200],
                next_step="put the value in single quotes, so that the shell leaves it as it is",
            ) from error
        return [value] if field.is_list and isinstance(value, dict) and not differs_by_dataset(value) else value
    if field.model is ModelEntry:
        match = AT_URL.fullmatch(text) or AT_PROVIDER.fullmatch(text)
        entry = match.groupdict() if match else {"name": text}
        return [entry] if field.is_list else entry
    if field.is_list:
        return tuple(_spell(part.strip(), field.words) for part in text.split(",") if part.strip())
    return _spell(text, field.words)


def _spell(text: str, words: Sequence[str]) -> str:
    """Return the text with underscores for hyphens where that makes it one of the words."""
    spelt = text.replace("-", "_")
    return spelt if spelt in words else text


def assign(values: Values, path: str, value: Any) -> None:
    """Set a field in the values of a plan; below `models` and a role it is set for each of their models.

    The values, as `gather_roles` returns them, are changed in place; what was nested in them is copied.
    """
    first, *rest = path.split(".")
    if first not in Plan.model_fields:
        values["roles"] = {**values.get("roles", {}), first: _role_with(values.get("roles", {}).get(first), path, value)}
    elif not rest:
        values[first] = value
    elif isinstance(values.get(first), list | tuple):
        values[first] = [_with(entry, rest, value) for entry in values[first]]
    elif first != "models" or values.get(first) is not None:
        values[first] = _with(values.get(first), rest, value)


def _role_with(role: Values | None, path: str, value: Any) -> Values:
    name, *rest = path.split(".")
    if not rest:
        return by_dataset(value)
    if role is None:
        raise UsageError(
            f"fields of role {name} are set, but no model has this role",
            where=f"--set {path}",
            next_step=f"add --role {name}=NAME",
        )
    return map_role(role, lambda entry: _with(entry, rest, value))


def _with(entry: Any, path: list[str], value: Any) -> Any:
    """Return a copy of a mapping with the field set; anything but a mapping as it is, for the plan to refuse."""
    if not path:
        return value
    if entry is not None and not isinstance(entry, Mapping):
        return entry
    inner = dict(entry or {})
    return {**inner, path[0]: _with(inner.get(path[0]), path[1:], value)}


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the types of a union, or the type itself, without None."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    yield from (part for part in parts if part is not type(None))


def _members(annotation: Any) -> Iterator[Any]:
    """Yield the types of a field's values, those of the members of a list included."""
    for part in _alternatives(annotation):
        member = get_args(part)[0] if get_origin(part) is tuple else part
        yield get_args(member)[0] if get_origin(member) is Annotated else member


def _words(annotation: Any) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()


@app.command()
def list_options(as_json: opt.AsJson = False) -> None:
    """List every field of a plan that --set PATH=VALUE and --config FILE can set, with its type and default."""
    options = tuple(
        PlanOption(path=field.path, type=field.kind, default=field.default, description=field.info.description or "")
        for field in plan_fields().values()
    )
    roles = role_names()
    # The fields of roles are the same as those of models.
    listed = [each for each in options if each.path.partition(".")[0] not in roles or each.path in roles]
    rows = [(each.path, each.type, each.default, each.description) for each in listed]
    table = Table((Column("Path", "name"), Column("Type"), Column("Default"), Column("Description")), rows)
    shared = f"{', '.join(roles)} have the same fields as models: judge.base_url, panel.sampling.max_tokens ..."
    varied = "A role may differ by dataset: --role 'judge={default: {name: N}, datasets: {ID: {name: M}}}'"
    how = "moodflow run BENCHMARK --set PATH=VALUE; several values: --set PATH=V1,V2"
    CommandResult(0, PlanOptionList(options=options), [terminal_table(table), shared, varied, how]).finish(as_json=as_json)
