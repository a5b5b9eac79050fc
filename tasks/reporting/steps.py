"""Write a run's report as a Prefect step: layers of a run to report files and manifest."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from schemas.blueprint import Blueprint
from schemas.changes import RunChanges
from schemas.folders import Folder
from schemas.lineage import PartitionRef, RunManifest
from schemas.tables.comparisons import Ablations
from schemas.tables.layers import AGGREGATED
from tasks.analysis.evidence import SHOWN, read_tables
from tasks.analysis.past_run import PastRun
from tasks.analysis.redaction import redact
from tasks.analysis.run_tables import ReportData
from tasks.lake.lake import Lake
from tasks.lake.manifest import run_folder, write_manifest
from tasks.reporting.render.page import write_report, write_text
from tasks.reporting.render.summary import write_ablation_summary
from tasks.steps import step

REPORTED = {
    **SHOWN,
    "agreements": "agreements",
    "setting_gains": "gains",
    **{layer: layer.removesuffix("_scores") for layer in AGGREGATED},
    "dimension_scores": "dimensions",
    "needle_scores": "needles",
}
"""Layers that a report shows, by how ReportData names them."""


@dataclass(frozen=True)
class ReportJob:
    """A run to describe.

    Attributes:
        manifest: of the run.
        blueprint: of the run.
        published: the paper's table, the backdrop of its figures; null = there is none.
        changes: since the run before; null = that was not looked at.
    """

    manifest: RunManifest
    blueprint: Blueprint
    published: pl.DataFrame | None
    changes: RunChanges | None = None


@step("report {job.manifest.run}")
async def write_report_files(job: ReportJob, lake: Lake) -> Any:
    """Write report.md, report.html and, last, manifest.json: a run is listed only once its report is there.

    Returns:
        Path of the manifest.
    """
    loaded = load_report_data(job, lake)
    data = redact(loaded) if job.manifest.redacted else loaded
    write_report(data, run_folder(lake.root, job.manifest.run))
    return str(write_manifest(lake.root, job.manifest))


def load_report_data(job: ReportJob, lake: Lake) -> ReportData:
    """Read every layer of the run.

    Raises:
        LakeError: if a partition of the manifest is gone or changed.
    """
    run = PastRun(job.manifest, job.blueprint, lake)
    return replace(read_tables(run, REPORTED, {}).data, published=job.published, changes=job.changes)


@dataclass(frozen=True)
class AblationReportJob:
    """A run of an ablation to describe, and the table of its scores."""

    manifest: RunManifest
    table: PartitionRef


@step("report {job.manifest.run}")
async def write_ablation_files(job: AblationReportJob, lake: Lake) -> Any:
    """Write report.md and, last, manifest.json of an ablation.

    Returns:
        Path of the manifest.
    """
    write_ablation_report(job, lake, run_folder(lake.root, job.manifest.run))
    return str(write_manifest(lake.root, job.manifest))


def write_ablation_report(job: AblationReportJob, lake: Lake, folder: Folder) -> None:
    """Write report.md of an ablation into a folder.

    Raises:
        LakeError: if a partition is gone or changed, or the disk refuses the file.
    """
    rows = lake.read(job.table, Ablations).to_dicts()
    write_text(folder / "report.md", write_ablation_summary(job.manifest, rows))
