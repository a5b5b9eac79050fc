"""Report: layers of a plan -> manifest, report.md, report.png, report.html and Prefect artifacts."""

from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows.planning.jobs import ResolvedPlan
from flows.planning.run_manifest import describe
from flows.planning.score_jobs import stored_partitions
from flows.runtime.artifacts import announce, publish_run
from flows.runtime.prefect_flows import begin_run, in_outermost_run, moodflow_flow, run_here
from schemas.changes import UNSUCCESSFUL, RunChanges
from schemas.lineage import RunManifest
from schemas.plan import ReportRequest
from tasks.compare.steps import ChangesJob, check_regressions, find_changes
from tasks.reporting.content.verdicts import state_said
from tasks.reporting.run_files import ReportJob
from tasks.reporting.steps import write_report_files


class UnsuccessfulRun(Exception):  # noqa: N818  an outcome, not a fault of this code
    """Raised to whoever awaits a run that is written and in which a model regressed, or no call was answered."""

    def __init__(self, message: str, manifest: RunManifest) -> None:
        super().__init__(message, manifest)
        self.manifest = manifest


@moodflow_flow("report", "report {resolved.title}")
async def report(resolved: ResolvedPlan, request: ReportRequest) -> State[RunManifest]:
    """Write the manifest of a run, the report that explains its scores, and what changed since the run before.

    Reads every layer of the plan; writes `runs/<run>/`: manifest.json, report.md, .png, .html, changes.json. Always writes, even
    if nothing changed: a run is a record of what was looked at when. Its state is a failure named `Regressed` if a model
    regressed and `Failed` if no call was answered, and a success named `BudgetSpent` if calls were not sent, `Drifting` if a
    model does and `UpToDate` if nothing changed. Awaiting a failure raises UnsuccessfulRun.
    """
    await begin_run(resolved)
    manifest = describe(request, resolved, stored_partitions(resolved))
    comparison = ChangesJob(manifest, resolved.blueprint)
    changes: RunChanges = await run_here(find_changes, comparison, resolved.lake)
    job = ReportJob(manifest, resolved.blueprint, changes)
    await run_here(write_report_files, job, resolved.lake)
    with in_outermost_run():
        await publish_run(manifest, changes, resolved.lake)
        await check_regressions(changes, return_state=True)
        announce(manifest, changes, resolved.lake)
    message = state_said(changes)
    if changes.state in UNSUCCESSFUL:
        return Failed(name=changes.state, message=message, data=UnsuccessfulRun(message, manifest))
    return Completed(name=changes.state, message=message, data=manifest)
