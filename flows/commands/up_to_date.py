"""A run that finds everything in the lake, and nothing changed: its manifest and its report are written without Prefect.

Prefect and a server of its own would take most of the time of such a run (docs/decisions/0022). Where the user has a server, the
run is recorded there like any other.
"""

from datetime import UTC, datetime

from flows.commands.console import CommandResult
from flows.commands.run_result import run_result
from flows.planning.checks import kept_here, require_certificates
from flows.planning.jobs import ResolvedPlan, scorable
from flows.planning.resolve import name_run, require_asked
from flows.planning.run_manifest import describe
from flows.planning.score_jobs import left_out, odd_fields, stored_partitions, unrated
from flows.planning.stored import find_built
from schemas.plan import ReportRequest
from schemas.printing import tell
from tasks.compare.changes import changes_since
from tasks.lake.manifest import write_changes
from tasks.lake.unused import hold
from tasks.models.cost import check_budget
from tasks.reporting.run_files import ReportJob, write_run_files


def renew_run(resolved: ResolvedPlan) -> CommandResult | None:
    """Write the run of a plan whose partitions are all in the lake, as the flow of `moodflow run` would.

    Null if the run would not be `UpToDate`, as one that regressed: its state and events are for Prefect.

    Raises:
        UsageError: a setting does not ask such items as were built, or a judge lacks the certificate that the plan requires.
        LakeError: the lake cannot be written, or a partition is gone or changed.
    """
    started, stated, lake = datetime.now(UTC), resolved.stated, resolved.lake
    with hold(stated.lake):
        lake.require_writable()
        check_budget(stated)
        require_asked(resolved)
        require_certificates(resolved)
        missing, remarks = left_out(resolved)
        name, begun = name_run(stated, started), started.isoformat(timespec="seconds")
        request = ReportRequest(run=name, started_at=begun, missing=(*missing, *unrated(scorable(resolved.jobs))))
        manifest = describe(request, resolved, stored_partitions(resolved))
        changes = changes_since(manifest, resolved.blueprint, lake)
        if changes.state != "UpToDate":
            return None
        for remark in (*kept_here(resolved), *remarks, *odd_fields(find_built(resolved) or (), lake)):
            tell(remark)
        write_changes(lake.root, changes)
        write_run_files(ReportJob(manifest, resolved.blueprint, changes), lake)
    return run_result(manifest, lake, is_last=True)
