"""Explain how each number of a past run came about, from its total down to a dataset; no model is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tasks.explain.selection import BlueprintPath, Selection
from tasks.runs.comparability import compare_run
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import Row, System
from tasks.runs.score_tree import ScorePart, Scores, explain_ability, explain_dataset, explain_task, explain_total, scores_of
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


def place_document(run: PastRun, systems: Sequence[System], wanted: Selection, place: BlueprintPath) -> Row:
    """Explain a place of each model and setting, as the JSON document of everything above the rows."""
    layers, records = {**run.layers, "totals": judge_run(run)}, compare_run(run)
    scores, datasets = [scores_of(layers, system) for system in systems], set(place.datasets(run.blueprint))
    parts = [_explain(own, run, place) for own in scores]
    missing = (gap for gap in run.manifest.missing if gap.dataset in datasets)
    return {
        "run": run.name,
        "benchmark": run.manifest.benchmark,
        "title": run.blueprint.title,
        "profile": run.manifest.plan.get("profile", "corrected"),
        "redacted": run.manifest.redacted,
        "level": wanted.tier,
        "kind": parts[0].kind,
        "id": parts[0].id,
        "above": list(_places_above(run, place)),
        "models": [
            _system_document(run, own, part)
            | {"instruments": [each.words for each in run.instruments if each.system == system and datasets & {*each.datasets}]}
            | {"comparability": record.about(part.kind, part.id) if (record := records.get(system)) else None}
            for system, own, part in zip(systems, scores, parts, strict=True)
        ],
        "missing": [gap.model_dump() for gap in missing if gap.model is None or (gap.model, gap.setting) in systems],
        "not_evaluated": [ability.id for ability in run.blueprint.abilities if not ability.evaluated],
        "adds_up": all(below.adds_up for part in parts for below in part.walk()),
        "next": _next(run, parts[0], wanted),
    }


def _next(run: PastRun, whole: ScorePart, wanted: Selection) -> str | None:
    """Return the command into the part that takes most from the score above it; null if nothing has a command of its own."""
    below = [part for part in whole.walk() if part is not whole and part.kind in OPTIONS]
    nearest = (part for part in below if part.kind == below[0].kind)
    part = max(nearest, key=lambda part: (part.share or 0.0) * (100 - (part.score or 0.0)), default=None)
    if part is None:
        return None
    options = [f"--{name}={value}" for name, value in (("model", wanted.model), ("setting", wanted.setting)) if value]
    return run.command("explain", OPTIONS[part.kind], part.id, *options)


def _places_above(run: PastRun, place: BlueprintPath) -> Iterator[Row]:
    """Return the way from the total down to the place, without the place itself."""
    target = place.dataset or (place.task.id if place.task else place.ability.id if place.ability else None)
    if target is None:
        return
    yield {"kind": "total", "id": run.blueprint.name, "next": run.command("explain")}
    for _, ability in run.blueprint.nodes():
        nodes = [node for _, node in ability.walk()]
        if target in [
            *(node.id for node in nodes[1:]),
            *(task.id for node in nodes for task in node.tasks),
            *ability.dataset_ids,
        ]:
            yield {"kind": "ability", "id": ability.id, "next": run.command("explain", "--ability", ability.id)}
    for _, task in run.blueprint.tasks():
        if target in [entry.id for entry in task.datasets]:
            yield {"kind": "task", "id": task.id, "next": run.command("explain", "--task", task.id)}


def _system_document(run: PastRun, scores: Scores, part: ScorePart) -> Row:
    options, gate = run.options(scores.system), run.blueprint.gate
    document: Row = scores.system._asdict()
    if part.kind == "total":
        document["total"] = total_of(scores.total).model_dump()
        document["gate"] = None
        if gate is not None:
            ability = next(ability for ability in run.blueprint.abilities if ability.id == gate.ability)
            below = explain_ability(scores, ability, run.blueprint)
            document["gate"] = {"threshold": gate.threshold, **_part_document(run, below, options, "ability")}
    return document | {"part": _part_document(run, part, options, ENDS_WITH.get(part.kind))}


def _part_document(run: PastRun, part: ScorePart, options: Sequence[str], last: str | None) -> Row:
    """Return a part with what it is made of, down to parts of the kind `last`; `next` is the command that goes into it."""
    fields = ("kind", "id", "title", "score", "weight", "share", "contributes", "computed")
    counts = ("datasets_scored", "datasets_total", "n_scored", "n_total")
    document: Row = {name: getattr(part, name) for name in (*fields, *counts)}
    document["adds_up"] = part.adds_up
    if part.note:
        document["note"] = part.note
    if part.measured:
        document["measured"] = asdict(part.measured)
    if part.kind in OPTIONS:
        document["next"] = run.command("explain", OPTIONS[part.kind], part.id, *options)
    if part.kind not in (last, "metric"):
        document["parts"] = [_part_document(run, each, options, last) for each in part.parts]
    return document
