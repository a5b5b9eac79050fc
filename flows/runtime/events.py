"""What a run tells the world: its state, an event of every run, and one of every model and setting that regressed."""

from typing import Any

from prefect.client.schemas.objects import State
from prefect.events import emit_event
from prefect.states import Completed

from schemas.changes import RunChanges, SystemChanges
from schemas.lineage import RunManifest

RUN_SCORED = "moodflow.run.scored"
"""After every run. Resource `moodflow.run.<run>`; payload: run, benchmark, state, previous, models, regressed, calls_sent,
report, message; of an ablation also its name, in `ablation`."""

SCORE_REGRESSION = "moodflow.score.regression"
"""Per model and setting that regressed. Resource `moodflow.model.<name>`; payload: run, previous, benchmark, model, setting,
findings (list of {what, before, after, allowed, message}), message."""

MODEL_RESOURCE = "moodflow.model."
RUN_RESOURCE = "moodflow.run."


def run_state(changes: RunChanges, manifest: RunManifest) -> State[RunManifest]:
    """The state a run ends in: a completed one, by its name."""
    return Completed(name=changes.state, message=state_message(changes), data=manifest)


async def same_state(ended: State[RunManifest]) -> State[RunManifest]:
    """The state of a sub-flow as that of the flow it is part of.

    Raises:
        What the sub-flow raised.
    """
    manifest = await ended.aresult()
    return Completed(name=ended.name, message=ended.message, data=manifest)


def state_message(changes: RunChanges) -> str:
    """The state in words."""
    if changes.previous is None:
        return changes.reason or "no earlier run"
    if changes.state == "UpToDate":
        return f"nothing changed since {changes.previous}: no model call was sent"
    if changes.state == "Completed":
        return f"no regression against {changes.previous}"
    return f"regressed: {', '.join(f'{unit.model} ({unit.setting})' for unit in changes.regressed)}"


def announce(manifest: RunManifest, changes: RunChanges | None) -> None:
    """Emit the events of a run that is written; `changes` are null of an ablation, which is compared with nothing."""
    emit_event(
        RUN_SCORED,
        resource={"prefect.resource.id": f"{RUN_RESOURCE}{manifest.run}", "prefect.resource.name": manifest.run},
        payload=run_payload(manifest, changes),
    )
    for unit in changes.regressed if changes else ():
        emit_event(
            SCORE_REGRESSION,
            resource={"prefect.resource.id": f"{MODEL_RESOURCE}{unit.model}", "prefect.resource.name": unit.model},
            payload=regression_payload(manifest, unit),
        )


def run_payload(manifest: RunManifest, changes: RunChanges | None) -> dict[str, Any]:
    """What the event of a run says."""
    regressed = [f"{unit.model} ({unit.setting})" for unit in changes.regressed] if changes else []
    return {
        "run": manifest.run,
        "benchmark": manifest.benchmark,
        "state": changes.state if changes else "Completed",
        "previous": changes.previous if changes else None,
        "models": [model["name"] for model in manifest.plan["models"]],
        "regressed": regressed,
        "calls_sent": manifest.calls.sent,
        "report": manifest.report,
        "message": state_message(changes) if changes else f"ablation {(manifest.ablation or {})['name']} completed",
        **({"ablation": manifest.ablation["name"]} if manifest.ablation else {}),
    }


def regression_payload(manifest: RunManifest, unit: SystemChanges) -> dict[str, Any]:
    """What the event of a model and setting that regressed says."""
    findings = [finding.model_dump(mode="json") for finding in unit.findings]
    return {
        "run": manifest.run,
        "previous": unit.previous,
        "benchmark": manifest.benchmark,
        "model": unit.model,
        "setting": unit.setting,
        "findings": findings,
        "message": regression_message(unit),
    }


def regression_message(unit: SystemChanges) -> str:
    """The findings of a model and setting in one line."""
    findings = "; ".join(finding.message for finding in unit.findings)
    return f"{unit.model} ({unit.setting}) regressed against {unit.previous}: {findings}"
