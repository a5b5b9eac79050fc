"""Write a run's report as a Prefect step: layers of a run to report files and manifest."""

from typing import Any

from schemas.documents.certificates import Certificate
from schemas.lineage import PartitionRef
from schemas.tables.ratings import CertificateRatings, Certificates
from tasks.certificates.asking import CertifyJob
from tasks.certificates.certificate import Spent, build_certificate, certificate_key, certificate_rows
from tasks.lake.lake import Lake
from tasks.lake.partitions import place_of
from tasks.reporting.page import render_certificate, write_file, write_text
from tasks.reporting.run_files import ReportJob, write_run_files
from tasks.steps import step


@step("report {job.manifest.run}")
async def write_report_files(job: ReportJob, lake: Lake) -> Any:
    """Write report and tables of a run and, last, its manifest, and return the path of that."""
    return write_run_files(job, lake)


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
