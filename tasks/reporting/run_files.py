"""Write the files of a run: report, tables, manifest."""

from dataclasses import dataclass, fields, replace

from schemas.blueprint import Blueprint
from schemas.changes import RunChanges
from schemas.lineage import RunManifest
from schemas.tables.layers import GENERAL
from tasks.certificates.lookup import covered_datasets
from tasks.lake.lake import Lake
from tasks.lake.manifest import run_folder, write_manifest
from tasks.reporting.page import write_report
from tasks.rows.index import GROUP, open_rows
from tasks.runs.evidence import read_tables, redact
from tasks.runs.failures import check_simulation
from tasks.runs.join_tables import write_join_tables
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData
from tasks.runs.sections import read_sections
from tasks.scoring.published import as_table, published_of


@dataclass(frozen=True)
class ReportJob:
    """A run to describe. `changes`: since the run before; null = that was not looked at."""

    manifest: RunManifest
    blueprint: Blueprint
    changes: RunChanges | None = None


def write_run_files(job: ReportJob, lake: Lake) -> str:
    """Write report and tables of a run and, last, manifest.json: it is listed only once these are there; return that path."""
    run = PastRun(job.manifest, job.blueprint, lake)
    write_report(load_report_data(run, job.changes), run_folder(lake.root, job.manifest.run))
    write_join_tables(lake.root, job.manifest, job.blueprint)
    if sum(ref.rows for ref in run.partitions("item_scores")) > GROUP:
        _ = open_rows(run).counts  # of fewer rows it is made while somebody waits for their first page
    return str(write_manifest(lake.root, job.manifest))


def load_report_data(run: PastRun, changes: RunChanges | None = None) -> ReportData:
    """Read every layer of the run and the paper's table behind it, without texts that may not be passed on if it is redacted.

    LakeError: a partition of the manifest is gone or changed.
    """
    layers = {layer.name for layer in GENERAL} & {each.name for each in fields(ReportData)}
    data = replace(read_tables(run, layers, {}).data, paper=as_table(published_of(run.blueprint)), changes=changes)
    data = replace(data, sections=read_sections(run), simulation=check_simulation(run), instruments=run.instruments)
    data = replace(data, judges=covered_datasets(run))
    return redact(data) if run.manifest.redacted else data
