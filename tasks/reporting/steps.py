"""Write a run's report as a Prefect step: layers of a run to report files and manifest."""

from dataclasses import dataclass, fields, replace
from typing import Any

from schemas.blueprint import Blueprint
from schemas.changes import RunChanges
from schemas.documents.certificates import Certificate
from schemas.lineage import PartitionRef, RunManifest
from schemas.tables.layers import GENERAL
from schemas.tables.ratings import CertificateRatings, Certificates
from tasks.certificates.asking import CertifyJob
from tasks.certificates.certificate import Spent, build_certificate, certificate_key, certificate_rows
from tasks.certificates.lookup import covered_datasets
from tasks.lake.lake import Lake
from tasks.lake.manifest import run_folder, write_manifest
from tasks.lake.partitions import place_of
from tasks.reporting.page import render_certificate, write_file, write_report, write_text
from tasks.rows.index import GROUP, open_rows
from tasks.runs.evidence import read_tables, redact
from tasks.runs.failures import check_simulation
from tasks.runs.join_tables import write_join_tables
from tasks.runs.past_run import PastRun
from tasks.runs.run_tables import ReportData
from tasks.runs.sections import read_sections
from tasks.scoring.published import as_table, published_of
from tasks.steps import step


@dataclass(frozen=True)
class ReportJob:
    """A run to describe. `changes`: since the run before; null = that was not looked at."""

    manifest: RunManifest
    blueprint: Blueprint
    changes: RunChanges | None = None


@step("report {job.manifest.run}")
async def write_report_files(job: ReportJob, lake: Lake) -> Any:
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


@step("certificate of {job.title}")
async def write_certificate(job: CertifyJob, ratings: PartitionRef, spent: Spent, lake: Lake) -> Any:
    """Write rows, document and page of a certificate and return its document; one that is there is returned as it is.

    Of ratings of which calls failed nothing is written.
    """
    key = certificate_key(job, ratings)
    files = {ending: f"{place_of(key)}/{key.fingerprint}.{ending}" for ending in ("parquet", "json", "html")}
    if lake.find(key):
        return Certificate.model_validate_json((lake.root / files["json"]).read_bytes())
    certificate = build_certificate(job, lake.read(ratings, CertificateRatings), spent)
    if not ratings.complete:
        return certificate
    certificate = certificate.model_copy(update={"files": tuple(files.values())})
    write_file(lake.root / files["json"], certificate.model_dump_json(indent=1).encode())
    write_text(lake.root / files["html"], render_certificate(certificate))
    # Last: it says that the others are there.
    lake.write(key, certificate_rows(certificate), Certificates)
    return certificate
