"""Read the files that describe a plan, a user's own and the presets under data/presets, and complete its models' entries."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from flows.commands.plan_fields import EXAMPLE, Values
from schemas.addresses import KeyVariables, hide_credentials
from schemas.api_capabilities import Sampling
from schemas.chat import EMBEDDED_MODEL
from schemas.errors import MoodflowError, UsageError, summarize, try_each, unknown_name
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.model_description import ModelDescription
from schemas.plan import Plan, refused
from schemas.printing import tell
from schemas.roles import JUDGE, PANEL, gather_roles, map_role
from tasks.models.capabilities.providers import entry_for, find_provider, providers_of
from tasks.scoring.blueprints import load_blueprint, overlay
from tasks.solvers.registry import helper_roles

PRESETS = DATA_FOLDER / "presets"
"""Plans as papers ran them. What stands under `models` holds for each model under test."""


def read_configs(names: Sequence[str], benchmark: str | None, stated: Values | None = None) -> tuple[Values, Values]:
    """Read what `--config` and `--preset` name: files by path, presets by name; null = the files name the benchmark.

    `stated`: fields of a plan that a program gives, as one more file.

    Returned are the fields of the presets alone, and of everything but what presets say of models, as `gather_roles` returns
    them. Files win over presets, the later over the earlier.
    """
    presets: Values = {}
    values: Values = {}
    shipped = sorted(file.stem for file in PRESETS.glob("*.yaml"))
    for name in names:
        if name in shipped:
            continue
        if not Path(name).suffix and not Path(name).exists():
            raise unknown_name("preset", name, shipped, "--preset, --config", "name a preset, or the path of a file")
        values = _merge(values, gather_roles(_read_config(Path(name))))
    values = _merge(values, gather_roles(stated or {}))
    benchmark = str(benchmark or values.get("benchmark") or "")
    if not benchmark:
        raise UsageError(
            "no benchmark was named",
            where="BENCHMARK",
            expected="a benchmark on the command line, or in a file that --config names",
            next_step="moodflow run --help lists the benchmarks",
        )
    for name in (name for name in names if name in shipped):
        presets = _merge(presets, _for_benchmark(gather_roles(_read_config(PRESETS / f"{name}.yaml")), name, benchmark))
    fields = {name: value for name, value in presets.items() if name != "models"}
    return presets, _merge(fields, values) | {"benchmark": benchmark}


def complete_plan(values: Values, presets: Values) -> Values:
    """Return the fields of a plan with complete entries, on top of what presets say of each model under test.

    Where they name no settings, the blueprint may.
    """
    values = _complete_entries(values)
    if "settings" not in values:
        with suppress(MoodflowError):  # told by whoever needs the blueprint; where two runs are compared nobody does
            values |= {"settings": usual} if (usual := load_blueprint(values["benchmark"]).settings) else {}
    models = values["models"]
    if isinstance(models, list | tuple):
        models = [overlay(presets.get("models", {}), entry) for entry in models]
    tested = [(entry, "--model ") for entry in models] if isinstance(models, list) else []
    in_roles = [(entry, f"--role {name}=") for name, role in values["roles"].items() for entry in role["default"]]
    try_each(lambda each: _require_server(*each), [*tested, *in_roles])
    return {**values, "models": models}


def _require_server(entry: Any, option: str) -> None:
    """Raise UsageError, with the providers that have such a model, if an entry does not say where its model is served."""
    if not isinstance(entry, Mapping) or entry.get("base_url") or (entry.get("name") or EMBEDDED_MODEL) == EMBEDDED_MODEL:
        return
    name, of_role = str(entry["name"]), option.endswith("=")
    is_judge = option == f"--role {JUDGE}="
    address = "--judge-base-url URL" if is_judge else f"{option}{name}@URL" if of_role else "--base-url URL"
    by_provider = f"{option}{name}@" if of_role else "--provider "
    step = f"{address}, or {by_provider}ID of a provider that moodflow models list shows"
    if providers := [f"{by_provider}{each.id}" for each in providers_of(name)]:
        step = f"{' or '.join(providers)} has models of this name; for any other server {address}"
    raise UsageError(
        f"model {name} needs a provider or a base_url",
        where=f"--judge {name}" if is_judge else f"{option}{name}",
        expected=f"where it is served; only {EMBEDDED_MODEL} comes with the install",
        got=name,
        next_step=step,
    )


def _complete_entries(values: Values) -> Values:
    """Return the fields of a plan with complete entries; a judge of the panel without a server is served where the judge is.

    Entries are mappings, and may name their `provider` instead of a base URL.
    """
    models = values.get("models")
    roles = {
        name: map_role(role, partial(_complete, where=f"--role {name}, roles.{name}", otherwise=f"--role {name}={EXAMPLE}"))
        for name, role in values.get("roles", {}).items()
    }
    judge = next(iter(roles.get(JUDGE, {}).get("default", ())), None)
    if PANEL in roles and isinstance(judge, Mapping):
        server = {name: judge[name] for name in ("base_url", *KeyVariables.model_fields) if name in judge}

        def beside_judge(entry: Any) -> Any:
            is_served = not isinstance(entry, Mapping) or entry.get("base_url") or entry.get("name") == EMBEDDED_MODEL
            return entry if is_served else {**server, **entry}

        roles[PANEL] = map_role(roles[PANEL], beside_judge)
    completed = [_complete(entry) for entry in models] if isinstance(models, list | tuple) else models
    return {**values, "models": completed, "roles": roles}


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
            f"dialect.extra cannot be written as JSON: {error}",
            where="dialect.extra",
            expected="texts, numbers, true, false, null, lists and mappings",
            got=str(capabilities["extra"])[:200],
            next_step="put dates and times in quotes; .nan and .inf cannot be sent",
        ) from error


def _at_provider(entry: Values, where: str = "--provider", **told: str) -> Values:
    name = entry.pop("provider", None)
    if name is None:
        return entry
    if entry.get("base_url"):
        raise UsageError(
            f"model {entry.get('name')} has both a provider and a base URL",
            where=where,
            expected="a provider or a base URL",
            got=f"provider {name} and base URL {hide_credentials(str(entry['base_url']))}",
            next_step="remove one of them",
        )
    of_provider = entry_for(find_provider(str(name), where, **told), entry.get("name", ""))
    return of_provider | {field: value for field, value in entry.items() if value is not None}


def without_idle_roles(plan: Plan, written: Collection[str]) -> Plan:
    """Return the plan without the roles that a file or preset names, which may be of several settings, and none of the plan has.

    Each is said. One that is given as an option is meant, and refused when the plan is resolved.
    """
    idle = [role for role in written if role in plan.roles and role in helper_roles().keys() - helper_roles(plan.settings)]
    for role in idle:
        tell(f"role {role} is left out: no setting of this run has it ({', '.join(plan.settings)})")
    roles = {name: role for name, role in plan.roles.items() if name not in idle}
    return plan.model_copy(update={"roles": roles}) if idle else plan


def _merge(below: Values, above: Values) -> Values:
    """Return fields of a plan on top of others, what is nested in them likewise; roles are replaced as a whole."""
    roles = {"roles": {**below["roles"], **above["roles"]}} if "roles" in below and "roles" in above else {}
    return {**overlay(below, above), **roles}


def read_descriptions(path: Path, names: Collection[str]) -> dict[str, ModelDescription | None]:
    """Read descriptions of some of these models, by name; null takes one away. UsageError: another model, or a wrong field."""
    step = "describe models of the run, by their names in it; moodflow docs models has an example"
    expected = "descriptions by the names of models, such as NAME: {series: Qwen, parameters: 7B}"
    values = _read_config(path, "--about", expected)
    if others := [name for name in values if name not in names]:
        raise unknown_name("model", str(others[0]), names, f"--about {path}", step)
    try:
        return TypeAdapter(dict[str, ModelDescription | None]).validate_python(values)
    except ValidationError as error:
        fault = refused(error)
        expected = f"what is said of a model: {', '.join(ModelDescription.model_fields)}"
        raise UsageError(fault.what, where=f"{path}, {fault.where}", expected=expected, got=fault.got, next_step=step) from error


def _read_config(
    path: Path, option: str = "--config", expected: str = "fields of the plan, as moodflow options lists them"
) -> Values:
    try:
        values = read_yaml(read_text(path))
        if isinstance(values, dict):
            return values
        got = type(values).__name__
    except (OSError, ValueError) as error:
        got = summarize(error)
    raise UsageError(
        "the configuration file cannot be read",
        where=str(path),
        expected=f"a YAML or JSON file with {expected}",
        got=got,
        next_step=f"correct the file, or leave {option} out",
    )


def _for_benchmark(preset: Values, name: str, benchmark: str) -> Values:
    """Return a preset with the datasets of its roles that the benchmark has."""
    datasets, roles = load_blueprint(benchmark).datasets, dict(preset.get("roles", {}))
    for role, models in roles.items():
        here = {dataset: model for dataset, model in models["datasets"].items() if dataset in datasets}
        if models["datasets"] and not here:
            raise UsageError(
                f"preset {name} belongs to another benchmark",
                where="--preset",
                expected=f"a benchmark with datasets of its {role}, such as {next(iter(models['datasets']))}",
                got=benchmark,
                next_step="remove --preset, or read data/presets",
            )
        roles[role] = {**models, "datasets": here}
    return {**preset, "roles": roles}
