"""Write a run's report as a Prefect step: layers of a run to report files and manifest."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, cast

import dataframely as dy
import polars as pl

from schemas.blueprint import Blueprint
from schemas.folders import Folder
from schemas.lineage import PartitionRef, RunManifest
from schemas.tables.comparisons import Ablations
from schemas.tables.contexts import Chunks
from schemas.tables.layers import LAYERS
from tasks.analysis.redaction import redact
from tasks.analysis.run_tables import PROMPT_CHUNKS, ReportData, join_prompt_chunks
from tasks.lake.lake import Lake
from tasks.lake.manifest import run_folder, write_manifest
from tasks.reporting.render.page import write_report, write_text
from tasks.reporting.render.summary import write_ablation_summary
from tasks.solvers.answers import answers_of_replies
from tasks.steps import step


@dataclass(frozen=True)
class ReportJob:
    """A run to describe. `published` is the paper's table, the backdrop of its figures; null = there is none."""

    manifest: RunManifest
    blueprint: Blueprint
    published: pl.DataFrame | None


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

    def layer(name: str) -> dy.DataFrame[Any]:
        schema = LAYERS[name]
        frames = [lake.read(ref, schema) for ref in job.manifest.partitions if ref.layer == name]
        return cast("dy.DataFrame[Any]", pl.concat(frames)) if frames else schema.create_empty()

    scores = ("raw", "normalized", "dataset", "task", "level", "sub_ability", "ability")
    others = ("totals", "item_scores", "items", "responses", "answers", "judgements", "contexts", "retrievals", "agreements")
    tables = {name: layer(f"{name}_scores") for name in scores} | {name: layer(name) for name in others}
    if not any(ref.layer == "answers" for ref in job.manifest.partitions):
        tables["answers"] = answers_of_replies(tables["responses"], tables["items"])
    return ReportData(
        manifest=job.manifest,
        blueprint=job.blueprint,
        published=job.published,
        gains=layer("setting_gains"),
        dimensions=layer("dimension_scores"),
        needles=layer("needle_scores"),
        prompt_chunks=read_prompt_chunks(job.manifest, tables["retrievals"], lake),
        **tables,
    )


def read_prompt_chunks(manifest: RunManifest, retrievals: pl.DataFrame, lake: Lake) -> pl.DataFrame:
    """Read texts of the chunks that went into prompts, columns PROMPT_CHUNKS.

    Where the contexts of a dataset were cut in several ways, rows of `retrievals` do not say which one they number; the texts of
    such a dataset are left out.
    """
    refs = [ref for ref in manifest.partitions if ref.layer == "chunks"]
    cuts = Counter(ref.key("dataset") for ref in refs if _is_of_context(ref))
    told = [ref for ref in refs if not _is_of_context(ref) or cuts[ref.key("dataset")] == 1]
    frames = [join_prompt_chunks(lake.read(ref, Chunks), retrievals, dict(ref.place)) for ref in told]
    return pl.concat(frames) if frames else pl.DataFrame(schema=PROMPT_CHUNKS)


def _is_of_context(ref: PartitionRef) -> bool:
    # Chunks of what a model wrote belong to that model.
    return "model" not in dict(ref.place)


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


def write_ablation_report(job: AblationReportJob, lake: Lake, folder: Folder) -> Folder:
    """Write report.md of an ablation into a folder and return its path.

    Raises:
        LakeError: if a partition is gone or changed, or the disk refuses the file.
    """
    rows = lake.read(job.table, Ablations).to_dicts()
    path = folder / "report.md"
    write_text(path, write_ablation_summary(job.manifest, rows))
    return path
