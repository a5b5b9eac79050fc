"""Select a score of a past run, and explain how it came about, from the total down to a dataset; no model is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from schemas.blueprint import Ability, Blueprint, Task
from schemas.documents.explanation import (
    GatePart,
    PlaceAbove,
    ScoreExplanation,
    ScoreLikeness,
    SystemExplanation,
    Tier,
    TotalExplanation,
)
from schemas.documents.score_part import ScorePart
from schemas.errors import UsageError, suggest
from schemas.paper import Comparability
from tasks.runs.comparability import compare_run
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.runs.score_tree import Scores, explain_ability, explain_dataset, explain_task, explain_total, scores_of
from tasks.runs.verdict import judge_run, total_of

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


def require_one(run: PastRun, systems: Sequence[System], what: str) -> System:
    """Return the one model and setting that is left; UsageError if there are several: `what` needs one."""
    if len(systems) == 1:
        return systems[0]
    model, setting = systems[0]
    raise UsageError(
        f"{what} needs one model and setting, but several match",
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
    named = {kind: _by_title(getattr(wanted, kind), names) for kind, names in kinds.items()}
    for kind, name in named.items():
        _require(kind, name, kinds[kind], blueprint.name, kinds)
    ability, task = abilities.get(named["ability"] or ""), tasks.get(named["task"] or "")
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
        if named["dataset"] and above is not None:
            below = [entry.id for entry in above.datasets] if isinstance(above, Task) else above.dataset_ids
            _require_below("dataset", named["dataset"], below, f"{name} {above.id}")
    return BlueprintPath(ability, task, named["dataset"])


def _by_title(name: str | None, entries: Mapping[str, Any]) -> str | None:
    """Return the id of the one entry that has this title, which is what tables show; the name itself if none or several have."""
    holders = [own for own, entry in entries.items() if name and entry.title.casefold() == name.casefold()]
    return holders[0] if len(holders) == 1 and name not in entries else name


def _require(kind: str, name: str | None, allowed: Iterable[str], where: str, kinds: Mapping[str, Any] | None = None) -> None:
    """Raise UsageError unless the name is null or known; `kinds`: names of all kinds, where another one may be meant."""
    names = list(allowed)
    if name is None or name in names:
        return
    others = {other: _by_title(name, entries) for other, entries in (kinds or {}).items()}
    other = next((other for other, own in others.items() if own in (kinds or {})[other]), None)
    raise UsageError(
        f"{where} has no {kind} {name}",
        where=f"--{kind}",
        expected=f"one of its {len(names)}" if kinds and len(names) > MOST_LISTED else f"one of {', '.join(names)}",
        got=name,
        next_step=f"it is a {other}: --{other} {others[other]}" if other else suggest(name, names, most=3),
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


ENDS_WITH = {"total": "ability", "ability": "task", "sub_ability": "task"}
"""What the tree ends with that is shown of a part; the commands of these lead further down. Of others everything is shown."""

OPTIONS = {"ability": "--ability", "sub_ability": "--ability", "task": "--task", "dataset": "--dataset"}


def _explain(scores: Scores, run: PastRun, path: BlueprintPath) -> ScorePart:
    blueprint = run.blueprint
    if path.dataset is not None:
        return explain_dataset(scores, path.dataset, blueprint.datasets[path.dataset])
    if path.task is not None:
        return explain_task(scores, path.task, blueprint)
    if path.ability is not None:
        tier = next(tier for tier, node in blueprint.nodes() if node is path.ability)
        return explain_ability(scores, path.ability, blueprint, tier)
    return explain_total(scores, blueprint)


def explain_score(run: PastRun, systems: Sequence[System], wanted: Selection, path: BlueprintPath) -> ScoreExplanation:
    """Explain the score of a place for each model and setting."""
    layers, records = {**run.layers, "totals": judge_run(run)}, compare_run(run)
    scores, datasets = [scores_of(layers, system, run.baselines) for system in systems], set(path.datasets(run.blueprint))
    parts = [_explain(own, run, path) for own in scores]
    missing = (gap for gap in run.manifest.missing if gap.dataset in datasets)
    next_command = _next(run, parts[0], wanted)
    if path.dataset is not None and len(systems) > 1:
        next_command = run.command("explain", "--dataset", path.dataset, *run.options(systems[0]))
    return ScoreExplanation(
        run=run.name,
        benchmark=run.manifest.benchmark,
        title=run.blueprint.title,
        profile=run.manifest.plan.get("profile", "corrected"),
        redacted=run.manifest.redacted,
        level=wanted.tier,
        kind=parts[0].kind,
        id=parts[0].id,
        above=tuple(places_above(run, path)),
        models=tuple(
            _explain_system(run, own, part, datasets, records.get(own.system)) for own, part in zip(scores, parts, strict=True)
        ),
        missing=tuple(gap for gap in missing if gap.model is None or (gap.model, gap.setting) in systems),
        not_evaluated=tuple(ability.id for ability in run.blueprint.abilities if not ability.evaluated),
        adds_up=all(below.adds_up for part in parts for below in part.walk()),
        next=next_command,
    )


def _next(run: PastRun, whole: ScorePart, wanted: Selection) -> str | None:
    """Return the command into the part that takes most from the score above it; null if nothing has a command of its own."""
    below = [part for part in whole.walk() if part is not whole and part.kind in OPTIONS]
    nearest = (part for part in below if part.kind == below[0].kind)
    part = max(nearest, key=lambda part: (part.share or 0.0) * (100 - (part.score or 0.0)), default=None)
    if part is None:
        return None
    options = [f"--{name}={value}" for name, value in (("model", wanted.model), ("setting", wanted.setting)) if value]
    return run.command("explain", OPTIONS[part.kind], part.id, *options)


def places_above(run: PastRun, path: BlueprintPath) -> Iterator[PlaceAbove]:
    """Yield the way from the total down to the place, without the place itself."""
    target = path.dataset or (path.task.id if path.task else path.ability.id if path.ability else None)
    if target is None:
        return
    yield PlaceAbove(kind="total", id=run.blueprint.name, next=run.command("explain"))
    for _, ability in run.blueprint.nodes():
        nodes = [node for _, node in ability.walk()]
        below: list[Ability | Task] = [*nodes[1:], *(task for node in nodes for task in node.tasks)]
        if target in [*(each.id for each in below), *ability.dataset_ids]:
            yield PlaceAbove(kind="ability", id=ability.id, next=run.command("explain", "--ability", ability.id))
    for _, task in run.blueprint.tasks():
        if target in [entry.id for entry in task.datasets]:
            yield PlaceAbove(kind="task", id=task.id, next=run.command("explain", "--task", task.id))


def _explain_system(
    run: PastRun, scores: Scores, part: ScorePart, datasets: Set[str], record: Comparability | None
) -> SystemExplanation:
    system, options, gate = scores.system, run.options(scores.system), run.blueprint.gate
    failed = (count for count in run.instruments if (count.model, count.setting) == system and datasets & {*count.datasets})
    explained = SystemExplanation(
        **system._asdict(),
        part=_shown(run, part, options, ENDS_WITH.get(part.kind)),
        instruments=tuple(count.words for count in failed),
        comparability=record and _likeness(record, part),
    )
    if part.kind != "total":
        return explained
    gate_part = None
    if gate is not None:
        ability = next(ability for ability in run.blueprint.abilities if ability.id == gate.ability)
        below = _shown(run, explain_ability(scores, ability, run.blueprint), options, "ability")
        gate_part = GatePart(**vars(below), threshold=gate.threshold)
    return TotalExplanation(**dict(explained), total=total_of(scores.total), gate=gate_part)


def _shown(run: PastRun, part: ScorePart, options: Sequence[str], last: str | None) -> ScorePart:
    """Return a part with what it is made of, down to parts of the kind `last`, and the command that goes into it."""
    command = run.command("explain", OPTIONS[part.kind], part.id, *options) if part.kind in OPTIONS else None
    parts = () if part.kind == last else tuple(_shown(run, each, options, last) for each in part.parts)
    return replace(part, parts=parts, next=command)


def _likeness(record: Comparability, part: ScorePart) -> ScoreLikeness | None:
    """Return what is said next to a total, a main ability or a dataset; null for other kinds of score."""
    reasons, position = record.reasons, None
    verdict = record.abilities.get(part.id)
    if part.kind == "total":
        verdict, position = record.verdict, record.position and record.position.words
    elif part.kind == "dataset":
        verdict, reasons = next((entry.verdict, entry.differences) for entry in record.datasets if entry.dataset == part.id)
    if verdict is None:
        return None
    texts = tuple(reason.text for reason in reasons)
    return ScoreLikeness(paper=record.paper, verdict=verdict, reasons=texts, position=position)
