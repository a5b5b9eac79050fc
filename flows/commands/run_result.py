"""Turn a run that is written into the result of the command: its document, its view, its exit status."""

from flows.commands.console import CommandResult
from flows.commands.run_view import run_view
from schemas.documents.run import RunDocument
from schemas.lineage import RunManifest
from schemas.printing import tell
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_changes
from tasks.reporting.run_document import describe_run
from tasks.runs.past_run import past_run
from tasks.runs.run_list import keep_total
from tasks.runs.verdict import label_of


def run_result(manifest: RunManifest, lake: Lake, *pages: str, is_last: bool) -> CommandResult:
    """Return the result of `moodflow run` and `report`; what regressed, and warnings, are said on standard error.

    `pages`: of the Prefect UI, to open after the run. Next steps are told of the last of several runs, which alone is the latest
    when they are read.
    """
    document, changes = describe_run(manifest, lake), read_changes(lake.root, manifest.run)
    keep_total(manifest, lake.root, document.models)
    for system in changes.regressed if changes else ():
        findings = "".join(f"\n  {finding.message}" for finding in system.findings)
        tell(f"{label_of(system)} regressed against {system.previous}:{findings}")
    for system in changes.units if changes else ():
        for remark in system.remarks:
            tell(f"{label_of(system)}: {remark}")
    ends = [f"Prefect UI: {address}" for address in pages]
    view = run_view(document, past_run(manifest, lake), *ends, next_steps=is_last)
    return CommandResult(_status(manifest, document), document, view)


def _status(manifest: RunManifest, document: RunDocument) -> int:
    """Return 1 if something failed: a dataset or items without score, a call, though its item has one, or a line of a batch."""
    unanswered = any(ref.layer == "answers" and not ref.complete for ref in manifest.partitions)
    unanswered |= manifest.calls.unsent + manifest.calls.unknown_ids > 0
    return int(bool(manifest.missing) or unanswered or any(row.n_scored < row.n_total for row in document.raw_scores))
