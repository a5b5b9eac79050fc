"""What `moodflow explain` answers: the tier that is asked for, as a JSON document and for a terminal."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rich.console import RenderableType
from rich.markup import escape

from flows.commands.explain_view import explained_shown
from flows.commands.rows_view import item_shown, rows_shown
from flows.commands.shown import ReadResult
from schemas.errors import UsageError
from schemas.folders import Folder
from tasks.analysis.evidence import read_evidence
from tasks.analysis.explain import explain_places, place_document
from tasks.analysis.explain_rows import find_dataset_of, item_document, metrics_document, rows_document
from tasks.analysis.past_run import PastRun, reopen
from tasks.analysis.selection import BlueprintPath, Selection, choose_systems, find_place, require_one

Row = dict[str, Any]


def explain_run(folder: Folder, name: str, wanted: Selection) -> ReadResult:
    """Explain what the options name; status 1 if something does not add up.

    Raises:
        UsageError: an option names nothing of the run, or rows of several models are asked for.
        LakeError: a partition is gone or changed.
    """
    run = reopen(folder, name)
    systems, place = choose_systems(run, wanted), find_place(run.blueprint, wanted)
    if wanted.item is not None:
        return _item(run, wanted, systems, place)
    if wanted.worst is not None:
        if place.dataset is None:
            raise UsageError(
                "rows are those of one dataset",
                where="--worst",
                expected="--dataset NAME beside it",
                got=f"--worst {wanted.worst}",
            )
        require_one(run, systems, "rows are those")
    explained = explain_places(run, systems, place)
    document = place_document(run, explained, wanted, place)
    shown = explained_shown(document)
    if place.dataset is not None and len(systems) == 1:
        document |= _rows(run, systems[0], place.dataset, wanted.worst)
        shown += rows_shown(document, wanted.worst)
    elif place.dataset is not None:
        model, setting = systems[0]
        command = run.command("explain", "--dataset", place.dataset, "--model", model, "--setting", setting)
        document["next"] = command
        shown.append(f"For the rows, name one model and setting: {escape(command)}")
    return ReadResult(int(not document["adds_up"]), document, shown)


def _rows(run: PastRun, system: tuple[str, str], dataset: str, worst: int | None) -> Row:
    if not run.partitions("item_scores", dataset=dataset, model=system[0], setting=system[1]):
        return {"metrics": [], "rows": [], "withheld": None, "notes": [f"{dataset} has no rows in this run"]}
    evidence = read_evidence(run, dataset, *system)
    named = _named(run, system)
    return {
        "metrics": metrics_document(evidence),
        "rows": rows_document(run, evidence, named, worst),
        "withheld": evidence.withheld,
        "notes": list(evidence.notes),
    }


def _item(run: PastRun, wanted: Selection, systems: Sequence[tuple[str, str]], place: BlueprintPath) -> ReadResult:
    item = wanted.item or ""
    dataset = find_dataset_of(run, item, place.datasets(run.blueprint))
    system = require_one(run, systems, "a row is one")
    place = replace(place, dataset=dataset)
    document: Row = {
        "run": run.name,
        "benchmark": run.manifest.benchmark,
        "level": "item",
        "dataset": dataset,
        "model": system[0],
        "setting": system[1],
        "redacted": run.manifest.redacted,
        **item_document(run, dataset, system, item),
        "above": run.command("explain", "--dataset", dataset, *_named(run, system)),
    }
    shown: list[RenderableType] = [
        f"[bold]{escape(system[0])}[/bold], setting {system[1]}, run {run.name}",
        *item_shown(document),
    ]
    shown.append(f"Go up: {escape(document['above'])}")
    proofs = [call["proof"] for asked in document["asked"] for call in asked["calls"]]
    broken = any(not proof["hash_holds"] or "different" in (proof["rebuilt"], proof["journal"]) for proof in proofs)
    return ReadResult(int(broken), document, shown)


def _named(run: PastRun, system: tuple[str, str]) -> tuple[str, ...]:
    return ("--model", system[0], "--setting", system[1]) if len(run.systems) > 1 else ()
