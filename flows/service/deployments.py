"""Read and check the deployments of a `prefect.yaml`."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from flows.evaluate import Evaluation
from flows.runtime.prefect_flows import log, resolve_parameters
from schemas.base import Frozen
from schemas.documents.serve import DeploymentEntry, ScheduleEntry
from schemas.errors import MoodflowError, UsageError
from schemas.folders import DATA_FOLDER, Folder
from schemas.json_yaml import read_text, read_yaml
from schemas.plan import Plan, refused

CONFIG_NAME = "prefect.yaml"
SHIPPED = (Path(__file__).parents[2] / CONFIG_NAME, DATA_FOLDER / CONFIG_NAME)
"""Where the file that comes with MoodFlow lies: in a checkout, in an installed package."""


class PlanParameters(Frozen):
    """The parameters of refresh."""

    plan: Plan


class FormParameters(Frozen):
    """The parameters of evaluate."""

    evaluation: Evaluation


class Deployment(NamedTuple):
    """A deployment whose plan is valid: its entry, and what the one parameter of its flow, of this name, is by default."""

    entry: DeploymentEntry[Any]
    parameter: str
    stated: Plan | Evaluation

    @property
    def plan(self) -> Plan:
        """Return what its runs evaluate by default."""
        return self.stated.plan if isinstance(self.stated, Evaluation) else self.stated


def find_config(config: Path | None, folder: Path) -> Path:
    """Return the file that was named, else `prefect.yaml` of the folder, else the one that comes with MoodFlow."""
    candidates = (config,) if config else (folder / CONFIG_NAME, *SHIPPED)
    return next((path for path in candidates if path.is_file()), candidates[0])


def read_deployments(path: Path) -> tuple[Deployment, ...]:
    """Read every deployment of the file; UsageError: the first thing in it that is wrong."""
    deployments = tuple(_read_deployment(raw, path) for raw in _read_entries(path))
    names = [deployment.entry.name for deployment in deployments]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"two deployments have the name {repeated[0]}",
            where=str(path),
            expected="unique names",
            next_step="rename one of them",
        )
    return deployments


def _read_entries(path: Path) -> list[Any]:
    try:
        document = read_yaml(read_text(path))
    except (OSError, ValueError) as error:
        raise UsageError(
            "the file of deployments cannot be read",
            where=str(path),
            expected="a YAML file as `prefect deploy` reads it",
            got=" ".join(str(error).split())[:200],
            next_step="correct it, or name another with --config",
        ) from error
    entries = document.get("deployments") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise UsageError(
            "the file has no deployments",
            where=str(path),
            expected="a list under `deployments`",
            got=type(entries).__name__ if entries else "nothing",
            next_step="see the prefect.yaml that comes with moodflow, or name another file with --config",
        )
    if "{{" in yaml.safe_dump(entries):
        raise UsageError(
            "moodflow serve does not support templates",
            where=str(path),
            expected="literal values",
            got="{{",
            next_step="write the value, or use prefect deploy and a worker, which fill them in",
        )
    return entries


def _read_deployment(raw: Any, path: Path) -> Deployment:
    is_short = isinstance(raw, dict) and str(raw.get("entrypoint")).endswith("evaluate")
    try:
        entry = (DeploymentEntry[FormParameters] if is_short else DeploymentEntry[PlanParameters]).model_validate(raw)
    except ValidationError as error:
        name = raw.get("name", "?") if isinstance(raw, dict) else "?"
        fault = refused(error, "serve")
        fault.where = ".".join(filter(None, (f"{path}, {name}", fault.where)))
        raise fault from error
    ((parameter, stated),) = entry.parameters
    return Deployment(entry, parameter, stated)


def reschedule(deployments: Iterable[Deployment], wanted: Mapping[str, str]) -> tuple[Deployment, ...]:
    """Return the deployments with other schedules.

    `wanted` has, by name of a deployment, a cron expression in place of those of the file, in the time zone of its first one, or
    `off`.
    """
    listed = tuple(deployments)
    names = [deployment.entry.name for deployment in listed]
    if unknown := sorted(set(wanted) - set(names)):
        raise UsageError(
            f"there is no deployment {unknown[0]}",
            where="--schedule",
            expected=f"one of {', '.join(names)}",
            got=unknown[0],
            next_step=f'for example --schedule "{names[0]}=0 3 * * *"',
        )
    return tuple(_rescheduled(each, wanted[each.entry.name]) if each.entry.name in wanted else each for each in listed)


def _rescheduled(deployment: Deployment, cron: str) -> Deployment:
    entry = deployment.entry
    if cron == "off":
        schedules = tuple(schedule.model_copy(update={"active": False}) for schedule in entry.schedules)
    else:
        first = entry.schedules[0] if entry.schedules else ScheduleEntry(cron=cron, slug="given")
        schedules = (first.model_copy(update={"cron": cron, "active": True}),)
    return deployment._replace(entry=entry.model_copy(update={"schedules": schedules}))


def set_lakes(deployments: Sequence[Deployment], lake: Folder | None) -> tuple[Deployment, ...]:
    """Return the deployments with the lake of the command line, if one was given; a folder is named from the root."""
    return tuple(_in_lake(deployment, lake or deployment.stated.lake) for deployment in deployments)


def _in_lake(deployment: Deployment, lake: Folder) -> Deployment:
    folder = lake.expanduser().absolute() if isinstance(lake, Path) else lake
    return deployment._replace(stated=deployment.stated.model_copy(update={"lake": folder}))


def key_addresses(deployments: Iterable[Deployment]) -> str:
    """Return which key goes to which address, as the deployments name them together and KEY_ADDRESSES holds it."""
    entries = (entry for deployment in deployments for entry in deployment.plan.entries if entry.base_url)
    return " ".join(f"{variable}={entry.base_url}" for entry in entries for variable in entry.key_variables)


def check_deployment(deployment: Deployment) -> None:
    """Look up what the deployment names, and raise what a run of it would raise at once; warn of a key that is not there."""
    try:
        for entry in deployment.plan.entries:
            entry.require_own_identity()
        resolve_parameters(deployment.plan).lake.require_writable()
    except MoodflowError as error:
        error.where = ", ".join(filter(None, (f"deployment {deployment.entry.name}", error.where)))
        raise
    variables = {variable for entry in deployment.plan.entries for variable in entry.key_variables}
    for name in sorted(variables - set(os.environ)):
        log(f"{deployment.entry.name} needs the environment variable {name}, which is not set: its runs will fail")
