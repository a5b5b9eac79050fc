"""Explain how each number of a past run came about, from its total down to a dataset; no model is asked."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from schemas.documents.explanation import (
    GatePart,
    PlaceAbove,
    ScoreExplanation,
    ScoreLikeness,
    SystemExplanation,
    TotalExplanation,
)
from schemas.documents.score_part import ScorePart
from schemas.paper import Comparability
from tasks.explain.selection import BlueprintPath, Selection
from tasks.runs.comparability import compare_run
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import System
from tasks.runs.score_tree import Scores, explain_ability, explain_dataset, explain_task, explain_total, scores_of
from tasks.runs.verdict import judge_run, total_of

ENDS_WITH = {"total": "ability", "ability": "task", "sub_ability": "task"}
"""What the tree ends with that is shown of a part; the commands of these lead further down. Of others everything is shown."""

OPTIONS = {"ability": "--ability", "sub_ability": "--ability", "task": "--task", "dataset": "--dataset"}


def _explain(scores: Scores, run: PastRun, place: BlueprintPath) -> ScorePart:
    blueprint = run.blueprint
    if place.dataset is not None:
        return explain_dataset(scores, place.dataset, blueprint.datasets[place.dataset])
    if place.task is not None:
        return explain_task(scores, place.task, blueprint)
    if place.ability is not None:
        tier = next(tier for tier, node in blueprint.nodes() if node is place.ability)
        return explain_ability(scores, place.ability, blueprint, tier)
    return explain_total(scores, blueprint)


def explain_score(run: PastRun, systems: Sequence[System], wanted: Selection, place: BlueprintPath) -> ScoreExplanation:
    """Explain the score of a place for each model and setting."""
    layers, records = {**run.layers, "totals": judge_run(run)}, compare_run(run)
    scores, datasets = [scores_of(layers, system) for system in systems], set(place.datasets(run.blueprint))
    parts = [_explain(own, run, place) for own in scores]
    missing = (gap for gap in run.manifest.missing if gap.dataset in datasets)
    next_command = _next(run, parts[0], wanted)
    if place.dataset is not None and len(systems) > 1:
        model, setting = systems[0]
        next_command = run.command("explain", "--dataset", place.dataset, "--model", model, "--setting", setting)
    return ScoreExplanation(
        run=run.name,
        benchmark=run.manifest.benchmark,
        title=run.blueprint.title,
        profile=run.manifest.plan.get("profile", "corrected"),
        redacted=run.manifest.redacted,
        level=wanted.tier,
        kind=parts[0].kind,
        id=parts[0].id,
        above=tuple(_places_above(run, place)),
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


def _places_above(run: PastRun, place: BlueprintPath) -> Iterator[PlaceAbove]:
    """Yield the way from the total down to the place, without the place itself."""
    target = place.dataset or (place.task.id if place.task else place.ability.id if place.ability else None)
    if target is None:
        return
    yield PlaceAbove(kind="total", id=run.blueprint.name, next=run.command("explain"))
    for _, ability in run.blueprint.nodes():
        nodes = [node for _, node in ability.walk()]
        if target in [
            *(node.id for node in nodes[1:]),
            *(task.id for node in nodes for task in node.tasks),
            *ability.dataset_ids,
        ]:
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
