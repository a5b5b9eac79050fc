"""Select the numbers of a run to explain: models, settings and a path in the blueprint, by the names a user gives."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.blueprint import Ability, Blueprint, Task
from schemas.documents.explanation import Tier
from schemas.errors import UsageError, suggest
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System

MOST_LISTED = 12
"""More names of a blueprint are counted in a message and not listed."""


@dataclass(frozen=True)
class Selection:
    """What the options name; null = not given."""

    model: str | None = None
    setting: str | None = None
    ability: str | None = None
    task: str | None = None
    dataset: str | None = None
    item: str | None = None
    worst: int | None = None

    @property
    def tier(self) -> Tier:
        """The deepest thing that is named."""
        tiers: tuple[Tier, ...] = ("item", "dataset", "task", "ability")
        return next((tier for tier in tiers if getattr(self, tier) is not None), "total")


@dataclass(frozen=True)
class BlueprintPath:
    """Where in the blueprint; the deepest of the three that is given is meant."""

    ability: Ability | None = None
    task: Task | None = None
    dataset: str | None = None

    def datasets(self, blueprint: Blueprint) -> tuple[str, ...]:
        """Return datasets at or below it, in the blueprint's order."""
        if self.dataset is not None:
            return (self.dataset,)
        if self.task is not None:
            return tuple(entry.id for entry in self.task.datasets)
        return tuple(self.ability.dataset_ids) if self.ability is not None else tuple(blueprint.datasets)


def choose_systems(run: PastRun, wanted: Selection) -> list[System]:
    """Choose the models and settings that are meant, all if none is named; UsageError: the run has none such."""
    systems = run.systems
    _require("model", wanted.model, dict.fromkeys(model for model, _ in systems), f"run {run.name}")
    _require("setting", wanted.setting, dict.fromkeys(setting for _, setting in systems), f"run {run.name}")
    chosen = [system for system in systems if wanted.model in (None, system.model) and wanted.setting in (None, system.setting)]
    if not chosen:
        raise UsageError(
            f"model {wanted.model} was not asked in setting {wanted.setting}",
            where="--model, --setting",
            expected=" or ".join(f"{model} {setting}" for model, setting in systems),
            got=f"{wanted.model} {wanted.setting}",
        )
    return chosen


def require_one(run: PastRun, systems: Sequence[System], why: str) -> System:
    """Return the one model and setting that is left; UsageError if there are several: `why` says what only one of them has."""
    if len(systems) == 1:
        return systems[0]
    model, setting = systems[0]
    raise UsageError(
        f"{why} of one model and setting, and several are left",
        where="--model, --setting",
        expected="one of " + ", ".join(f"{model} {setting}" for model, setting in systems),
        got=f"{len(systems)} of them",
        next_step=f"for example --model {model} --setting {setting}; moodflow runs show {run.name} lists their scores",
    )


def find_place(blueprint: Blueprint, wanted: Selection) -> BlueprintPath:
    """Find the place in the blueprint; UsageError: there is none such, or one does not lie below the other."""
    abilities = {node.id: node for _, node in blueprint.nodes()}
    tasks = {task.id: task for _, task in blueprint.tasks()}
    kinds: dict[str, Mapping[str, Any]] = {"ability": abilities, "task": tasks, "dataset": blueprint.datasets}
    for kind, known in kinds.items():
        _require(kind, getattr(wanted, kind), known, blueprint.name, kinds)
    ability = abilities[wanted.ability] if wanted.ability else None
    task = tasks[wanted.task] if wanted.task else None
    if ability and not any(node.tasks for _, node in ability.walk()):
        raise UsageError(
            f"ability {ability.id} has no task in {blueprint.name}",
            where="--ability",
            expected="an ability that is evaluated",
            got=ability.id,
        )
    if ability and task:
        _require_below("task", task.id, [each.id for _, node in ability.walk() for each in node.tasks], f"ability {ability.id}")
    for above, name in ((task, "task"), (ability, "ability")):
        if wanted.dataset and above is not None:
            below = [entry.id for entry in above.datasets] if isinstance(above, Task) else above.dataset_ids
            _require_below("dataset", wanted.dataset, below, f"{name} {above.id}")
    return BlueprintPath(ability, task, wanted.dataset)


def _require(kind: str, name: str | None, known: Iterable[str], where: str, kinds: Mapping[str, Any] | None = None) -> None:
    """Raise UsageError unless the name is null or known; `kinds`: names of all kinds, where another one may be meant."""
    names = list(known)
    if name is None or name in names:
        return
    other = next((other for other, found in (kinds or {}).items() if name in found), None)
    raise UsageError(
        f"{where} has no {kind} {name}",
        where=f"--{kind}",
        expected=f"one of its {len(names)}" if kinds and len(names) > MOST_LISTED else f"one of {', '.join(names)}",
        got=name,
        next_step=f"it is a {other}: --{other} {name}" if other else suggest(name, names, most=3),
    )


def _require_below(kind: str, name: str, below: Sequence[str], above: str) -> None:
    if name not in below:
        raise UsageError(
            f"{kind} {name} does not belong to {above}",
            where=f"--{kind}",
            expected=f"one of {', '.join(below)}",
            got=name,
            next_step=f"leave one of the two options out, or {suggest(name, below, 'name another one', most=3)}",
        )
