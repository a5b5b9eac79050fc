"""Compare a run with the one before it; fail where a score fell."""

from dataclasses import dataclass
from typing import Any

from schemas.blueprint import Blueprint
from schemas.changes import RunChanges
from schemas.lineage import RunManifest
from tasks.compare.changes import changes_since
from tasks.lake.lake import Lake
from tasks.lake.manifest import write_changes
from tasks.runs.run_tables import System
from tasks.steps import check, refused, step


@dataclass(frozen=True)
class ChangesJob:
    """A run whose layers are in the lake."""

    manifest: RunManifest
    blueprint: Blueprint


@step("changes since the previous run")
async def find_changes(job: ChangesJob, lake: Lake) -> Any:
    """Return RunChanges since the newest earlier run that can be compared; they are written beside the manifest."""
    changes = changes_since(job.manifest, job.blueprint, lake)
    write_changes(lake.root, changes)
    return changes


@check("regression check")
async def check_regressions(changes: RunChanges) -> Any:
    """Fail, saying what fell, if any model regressed; the run beside it goes on."""
    if not changes.regressed:
        return None
    messages = [
        f"{System(system.model, system.setting).label}: {finding.message}"
        for system in changes.regressed
        for finding in system.findings
    ]
    return refused("; ".join(messages))
