"""Make the manifest of a run from its plan and what the lake has of it."""

from datetime import UTC, datetime

from flows.planning.jobs import ResolvedPlan
from flows.planning.score_jobs import find_broken_rows
from flows.planning.usage import complete_usage, prices_used
from schemas.lineage import PartitionRef, RunManifest
from schemas.plan import ReportRequest
from tasks.lake.manifest import notices
from tasks.models.cost import load_prices, price_usage
from tasks.scoring.jobs import blueprint_sha256


def describe(request: ReportRequest, resolved: ResolvedPlan, partitions: list[PartitionRef]) -> RunManifest:
    """Return the manifest of a run that rests on these partitions."""
    plan = resolved.stated
    table = load_prices(plan.prices)
    usage = complete_usage(request.usage, partitions, resolved.lake, plan)
    # A dataset that could not be built was not asked either: that it is missing is said once.
    whole = [gap for gap in request.missing if gap.rows is None]
    unbuilt = {gap.dataset for gap in whole if gap.model is None}
    gaps = [gap for gap in whole if gap.model is None or gap.dataset not in unbuilt]
    unique = {(gap.dataset, gap.model, gap.setting): gap for gap in reversed(gaps)}
    left_out = (broken.missing for broken in find_broken_rows(resolved) if not broken.is_stated)
    return RunManifest(
        run=request.run,
        benchmark=resolved.blueprint.name,
        blueprint=resolved.blueprint.model_dump(mode="json"),
        blueprint_sha256=blueprint_sha256(resolved.blueprint),
        plan=resolved.plan.model_dump(mode="json"),
        package_version=resolved.lake.code.package,
        git_commit=resolved.lake.code.git_commit,
        started_at=request.started_at,
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        partitions=tuple(partitions),
        missing=(*(unique[name] for name in sorted(unique, key=str)), *left_out),
        calls=request.calls,
        report=f"runs/{request.run}/report.html",
        datasets=notices(dataset.spec for dataset in resolved.selected),
        redacted=plan.redact,
        usage=price_usage(usage, plan, table),
        prices=prices_used(plan, table),
        canaries=request.canaries,
        files={ref.path: resolved.lake.file_sha256(ref) for ref in partitions},
    )
