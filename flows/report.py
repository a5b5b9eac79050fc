"""Report: layers of a plan -> manifest, report.md, report.html and Prefect artifacts."""

from datetime import UTC, datetime

from flows.artifacts import publish_artifacts
from flows.orchestration import moodflow_flow
from flows.outcome import run_document
from flows.partitions import stored_partitions
from flows.resolution import Resolution, resolve
from flows.usage import complete_usage, priced, prices_used, read_prices
from schemas.lineage import PartitionRef, RunManifest
from schemas.reporting import ReportRequest
from tasks.lineage.notices import notices
from tasks.reporting.steps import ReportJob, write_report_files
from tasks.scoring.keys import blueprint_sha256
from tasks.scoring.published import ABILITIES, load_published, load_published_for


@moodflow_flow("report", "report {request.title}")
async def report(request: ReportRequest) -> RunManifest:
    """Write the manifest of a run and the report that explains its scores.

    Reads every layer of the plan; writes `runs/<run>/`: manifest.json, report.md, report.html. Always writes, even if nothing
    changed: a run is a record of what was looked at when.

    Args:
        request: the plan and what only the run itself knows.
    """
    resolution = resolve(request.plan)
    resolution.lake.require_writable()
    manifest = describe(request, resolution, stored_partitions(resolution))
    published = load_published_for(request.plan.benchmark)
    if published is not None and set(ABILITIES) <= set(published.columns):
        published = load_published()  # MoodBench's table also says who was ranked, how open a model is and how large
    job = ReportJob(manifest, resolution.blueprint, published)
    files = await write_report_files(job, resolution.lake)
    await publish_artifacts(manifest, files, run_document(manifest, resolution.lake)["models"])
    return manifest


def describe(request: ReportRequest, resolution: Resolution, partitions: list[PartitionRef]) -> RunManifest:
    """The manifest of the run."""
    code, table = resolution.lake.code, read_prices(request.plan)
    usage = complete_usage(request.usage, partitions, resolution.lake)
    # A dataset that could not be built was not asked either: that it is missing is said once.
    unbuilt = {gap.dataset for gap in request.missing if gap.model is None}
    gaps = [gap for gap in request.missing if gap.model is None or gap.dataset not in unbuilt]
    unique = {(gap.dataset, gap.model, gap.setting): gap for gap in reversed(gaps)}
    return RunManifest(
        run=request.run,
        benchmark=resolution.blueprint.name,
        blueprint=resolution.blueprint.model_dump(mode="json"),
        blueprint_sha256=blueprint_sha256(resolution.blueprint),
        plan=resolution.plan.model_dump(mode="json"),
        package_version=code.package,
        git_commit=code.git_commit,
        started_at=request.started_at,
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        partitions=tuple(partitions),
        missing=tuple(unique[name] for name in sorted(unique, key=str)),
        calls=request.calls,
        report=f"runs/{request.run}/report.html",
        datasets=notices(chosen.spec for chosen in resolution.chosen),
        redacted=request.redact,
        usage=priced(usage, request.plan, table),
        prices=prices_used(request.plan, table),
    )
