"""Reference pages of the plan: every field that --set, --config and prefect parameters reach, and those of a model's entry."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from docs.generate.markdown import joined, write_page
from docs.generate.reference_schema import BOUNDS
from docs.generate.reference_text import code, codes, facts, sentence
from flows.commands.plan_fields import PlanField, plan_fields, role_names
from flows.commands.plan_options import ENVIRONMENT, PlanOptions, path_of
from schemas.chat import ModelEntry
from schemas.errors import UsageError
from schemas.plan import Kind, Plan
from schemas.roles import JUDGE, PANEL
from tasks.solvers.registry import SOLVERS
from tasks.solvers.state import SolverOptions

SHARED = "models"
"""The model under test, whose entry has the fields that the model of a role has, too."""

CHANGES: Mapping[Kind, str] = {
    "place": "where files are found or written, and what pages show; of a file that is read its content counts, not its place",
    "limit": "what the run costs, its checks, intervals and ranks; no answer and no score of an item",
    "system": "who is asked, and in which settings",
    "evaluation": "which items are asked, and how they are asked and scored",
}
"""What a field of a plan changes, by what it is about (schemas.plan.Kind)."""

HEAD = """# Plan

A plan says what a run does. Its fields are set by options, by `--set PATH=VALUE`, by a YAML file (`--config FILE`), by arguments
of [`moodflow.evaluate`](python.md#moodflowevaluate) and by the parameters of a deployment. `--set` wins over options, options
over variables, variables over files, and a later file over an earlier one. `moodflow options` lists the same fields."""


def options_by_path() -> dict[str, str]:
    """Return the option of each field that has one of its own."""
    names = [option.name for option in fields(PlanOptions) if option.name not in ("role", "set", "config")]
    paths = {name: SHARED if name == "model" else path_of(name) for name in names}
    return {path: f"--{name.replace('_', '-')}" for name, path in paths.items() if path}


def page_fields() -> dict[str, PlanField]:
    """Return the fields of the page of the plan: those of models and roles are on a page of their own."""
    return {
        path: field for path, field in plan_fields().items() if path.partition(".")[0] not in entry_names() or "." not in path
    }


def entry_names() -> tuple[str, ...]:
    """Return the fields that are models: those under test, then each role."""
    return (SHARED, *role_names())


def entry_fields() -> dict[str, PlanField]:
    """Return the fields of a model's entry, by their paths below `models`."""
    return {path: field for path, field in plan_fields().items() if path.startswith(f"{SHARED}.")}


def limits(field: PlanField) -> str:
    """Return the bounds of a number or of the length of a list, in words."""
    metadata: list[Any] = [each for each in field.info.metadata if not isinstance(each, str)]
    bounds = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
    said = [
        BOUNDS[name].format(getattr(each, bound)) for bound, name in bounds.items() for each in metadata if hasattr(each, bound)
    ]
    return " ".join(said)


def shown_type(field: PlanField) -> str:
    """Return the type of a field: its words as code, else what the list of `moodflow options` says."""
    kind = field.kind.replace("its fields below", "mapping" if is_mapping(field) else "part with fields of its own")
    kind = f"one of {codes(field.words)}" if field.words else kind
    kind = f"list of {kind.removeprefix('one of ')}" if field.words and field.is_list else kind
    return ", ".join(filter(None, (kind, limits(field))))


def is_mapping(field: PlanField) -> bool:
    """Return whether the names in a field are the user's own."""
    return get_origin(field.annotation) is dict


def changes(path: str) -> str:
    """Return what a field of the plan changes, as the field that it is a part of."""
    if path == "benchmark":
        return "what is asked, and how it is scored"
    first = path.partition(".")[0]
    info = Plan.model_fields.get("roles" if first in role_names() else first)
    kinds = [each for each in info.metadata if each in get_args(Kind)] if info else []
    return CHANGES[kinds[0]] if kinds else ""


def field_section(path: str, field: PlanField, changed: str) -> str:
    """Return what is to be known of a field."""
    option = options_by_path().get(path)
    variable = next((code(name) for name, of in ENVIRONMENT.items() if of == path), "")
    how = f"--role {path}=NAME@URL" if path in role_names() else f"--set {path}={example(field)}"
    shown = "the argument of `moodflow run`" if path == "benchmark" else code(how)
    is_part = field.kind == "its fields below" and not is_mapping(field)
    return joined(
        f"### {code(path)}",
        sentence(field.info.description or ""),
        facts(
            ("Type", shown_type(field)),
            ("Default", code(field.default) or ("required" if field.info.is_required() else "none")),
            ("Changes", changed),
            ("Set by", ", ".join(filter(None, (code(option or ""), "" if is_part else shown, variable)))),
        ),
    )


def example(field: PlanField) -> str:
    """Return a value that stands for others: a word of its own, its default, or what its type asks for."""
    if field.words:
        return next((word for word in field.words if word != field.default), field.words[0])
    if field.kind == "true or false":
        return "false" if field.default == "true" else "true"
    return {"whole number": "N", "number": "X"}.get(field.kind, "VALUE")


def plan_page() -> str:
    """Return the page of the plan."""
    own = [(path, field) for path, field in page_fields().items() if path not in role_names() and not path.startswith("solvers.")]
    roles = [(path, field) for path, field in page_fields().items() if path in role_names()]
    solvers = [(path, field) for path, field in page_fields().items() if path.startswith("solvers.")]
    return joined(
        HEAD,
        "## Fields",
        *(field_section(path, field, changes(path)) for path, field in own),
        "## Roles",
        f"Models besides those under test, under `roles` of a plan, or `--role NAME=MODEL@URL`. Each has the {entry_link()}; "
        f"{code(PANEL)} takes several. A role may differ by dataset: "
        f"`--role '{JUDGE}={{default: {{name: N}}, datasets: {{ID: {{name: M}}}}}}'`.",
        *(field_section(path, field, changes(path)) for path, field in roles),
        "## Options of settings",
        *(field_section(path, field, CHANGES["evaluation"]) for path, field in solvers),
    )


def entry_link() -> str:
    """Return a link to the page of a model's entry."""
    return "[fields of a model](model.md)"


def entry_page() -> str:
    """Return the page of a model's entry."""
    sections = (field_section(path, field, entry_changes(path)) for path, field in entry_fields().items())
    roles = codes(role_names())
    return joined(
        "# Fields of a model",
        "Every model under test has these fields, in a list under `models` of a plan. `--set models.FIELD=VALUE` sets one "
        f"for all of them. The models of roles ({roles}) have the same: `--set judge.FIELD=VALUE`.",
        "## Fields",
        *sections,
    )


BASE = ModelEntry.model_validate({"name": "m", "base_url": "http://localhost:1/v1", "dialect": {"reasoning_effort": "low"}})
"""An entry, of which one field after the other is changed, to see what a change does."""


def entry_changes(path: str) -> str:
    """Return what a field of a model's entry changes, found by changing it."""
    parts = path.split(".")[1:]
    if parts == ["provider"]:
        return "as base_url"
    if entry_fields()[path].model is not None:
        return ""
    changed = list(filter(None, (with_value(parts, value) for value in tried(entry_fields()[path]))))
    if any(calls_of(entry) != calls_of(BASE) for entry in changed):
        return "the calls, and so the replies that are asked for"
    return "no reply: how calls are sent, or what is shown"


def tried(field: PlanField) -> Iterator[object]:
    """Yield values that a field may take, most of which are not its default."""
    yield from ([[word] if field.is_list else word for word in field.words] or ())
    yield from (True, 7, 0.5, "http://localhost:2/v1", "a.b", "text", '{"a": 1}', ["a=B"], "2025-04")


def with_value(parts: list[str], value: object) -> ModelEntry | None:
    """Return the entry with another value of a field; null = the field does not take it."""
    values = BASE.model_dump(exclude_unset=True)
    inner = values
    for part in parts[:-1]:
        inner = inner.setdefault(part, {})
    inner[parts[-1]] = value
    try:
        return ModelEntry.model_validate(values)
    except (ValidationError, UsageError):
        return None


def calls_of(entry: ModelEntry) -> tuple[object, ...]:
    """Return what the calls of a model rest on: its name, what its partitions are named after, and how base asks it."""
    return entry.name, entry.meaning, SOLVERS["base"].plan(SolverOptions("base"), None, entry)


def write(folder: Path) -> None:
    """Write both pages."""
    write_page(folder / "plan.md", plan_page())
    write_page(folder / "model.md", entry_page())
