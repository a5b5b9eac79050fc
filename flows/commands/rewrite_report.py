"""The report of a past run, written again from the lake alone: from its manifest and the layers that names."""

from collections.abc import Sequence

from rich.markup import escape

from flows.commands.shown import ReadResult
from schemas.folders import Folder
from schemas.lineage import RunManifest
from tasks.analysis.past_run import PastRun, find_manifest, reopen
from tasks.analysis.redaction import redact as without_restricted
from tasks.analysis.run_tables import ReportPaths
from tasks.lake.lake import Lake
from tasks.lake.manifest import MANIFEST, read_code_version, run_folder
from tasks.lake.seal import check_seal, seal_run
from tasks.reporting.render.page import write_report
from tasks.reporting.steps import AblationReportJob, ReportJob, load_report_data, write_ablation_pages
from tasks.scoring.published import backdrop_of

REDACTED = "redacted"
"""Folder in that of a run for a report without texts that may not be passed on, where the run's own has them."""


def rewrite_report(folder: Folder, name: str, out: Folder | None, *, redact: bool) -> ReadResult:
    """Write report.md and report.html of a run again; status 1 if the run's folder was changed since it was sealed.

    Args:
        folder: of the lake.
        name: of the run.
        out: where to; null = where it was, or, if only the new report is redacted, a folder REDACTED in there.
        redact: leave texts out whose licence forbids passing them on; a redacted run's are left out anyhow.

    Raises:
        UsageError: there is no such run.
        LakeError: a partition is gone or changed, or the disk refuses a file.
    """
    manifest = find_manifest(folder, name)
    own = run_folder(folder, name)
    only_here = redact and not manifest.redacted
    target = out or (own / REDACTED if only_here else own)
    paths = (
        _write_ablation(manifest, folder, target)
        if manifest.ablation
        else _write_run(reopen(folder, name), target, redact=redact)
    )
    intact, sealed = _seal(own) if target == own else (True, [])
    document = {
        "run": name,
        "report": str(paths.html),
        "markdown": str(paths.markdown),
        "redacted": redact or manifest.redacted,
        "written_by": read_code_version().package,
        "run_written_by": manifest.package_version,
        "sealed_again": sealed,
        "intact": intact,
    }
    return ReadResult(int(not intact), document, [*_lines(document)])


def _write_run(run: PastRun, target: Folder, *, redact: bool) -> ReportPaths:
    manifest = run.manifest.model_copy(update={"redacted": redact or run.manifest.redacted})
    data = load_report_data(ReportJob(manifest, run.blueprint, backdrop_of(run.blueprint)), run.lake)
    return write_report(without_restricted(data) if manifest.redacted else data, target)


def _write_ablation(manifest: RunManifest, folder: Folder, target: Folder) -> ReportPaths:
    # Its page shows no text of a dataset: there is nothing to redact.
    table = next(ref for ref in manifest.partitions if ref.layer == "ablations")
    return write_ablation_pages(AblationReportJob(manifest, table), Lake(folder, read_code_version()), target)


def _seal(own: Folder) -> tuple[bool, list[str]]:
    """Seal a run's folder again if nothing but its report differs from what was sealed: whether that is so, and what differed."""
    check = check_seal(own)
    if check is None or not check.broken:
        return True, []
    names = [one.name for one in check.broken]
    if MANIFEST in names or any(not one.startswith("report.") for one in names):
        return False, names
    seal_run(own)
    return True, names


def _lines(document: dict[str, object]) -> list[str]:
    lines = [f"Report: {escape(str(document['report']))}"]
    if document["redacted"]:
        lines.append("Texts whose licence forbids passing them on are left out.")
    names = document["sealed_again"]
    listed = ", ".join(names) if isinstance(names, Sequence) else ""
    if not document["intact"]:
        lines.append(
            f"The run's folder was changed since it was sealed ({listed}), so it is not sealed again: moodflow verify says more"
        )
    elif listed:
        versions = f"moodflow {document['run_written_by']} wrote the first report and {document['written_by']} this one"
        lines.append(f"Sealed again, since {listed} differ from what was sealed; {versions}")
    return lines
