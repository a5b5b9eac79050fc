"""`moodflow judges certify`: ask a judge about texts that people rated, and say what it may be used for; list certificates."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, bold, local_time, terminal_table
from flows.commands.plan_options import PlanOptions, read_plan
from flows.commands.process import require_prefect_settings
from flows.commands.run_notes import usage_view
from flows.runtime.local_server import temporary_server
from schemas.certificates import CertificateRequest
from schemas.documents.certificates import Certificate, CertificateList
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.plan import Plan
from schemas.roles import JUDGE
from schemas.table import Column, Table, columns
from tasks.certificates.lookup import find_certificates
from tasks.certificates.perturbations import load_perturbations
from tasks.lake.lake import Lake
from tasks.lake.manifest import read_code_version
from tasks.reporting.content.certificate import certificate_counts, certificate_tables, why

USED = {"benchmark", "models", "roles", "sample", "seed", "budget", "budget_tokens", "prices", "mirror", "lake"}
"""Fields of a plan that mean something here."""

Ratings = Annotated[str, opt.option("by people: an id of the catalogue, a file, or a run", opt.EVALUATED, "SOURCE", "--ratings")]
TheRubric = Annotated[str, opt.option("what the judge rates by: an id, or a .yaml file", opt.JUDGE, "RUBRIC", "--rubric")]
Checks = Annotated[
    str, opt.option("all, none (then neither `items` nor `systems only` can be reached), or NAME,NAME", opt.EVALUATED, "NAMES")
]
ChecksSample = Annotated[int, opt.option("texts that each check is tried on", opt.EVALUATED, min=1)]


def certify_command(
    context: typer.Context,
    ratings: Ratings,
    rubric: TheRubric,
    checks: Checks = "all",
    checks_sample: ChecksSample = 50,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
) -> None:
    """Ask a judge about texts that people rated, and say what it may be used for.

    Ends with status 1 if ratings were refused or calls failed. A poor verdict is a result.
    """
    # Takes seconds that `--help` and a misspelt option need not wait.
    from flows.certify import certify_judge  # noqa: PLC0415
    from flows.commands.planned_calls import forecast_view  # noqa: PLC0415
    from flows.planning.certify import certify_job, forecast_certificate  # noqa: PLC0415
    from flows.planning.resolve import open_lake  # noqa: PLC0415
    from flows.runtime.prefect_flows import run_to_end  # noqa: PLC0415
    from flows.runtime.prefect_server import on_server  # noqa: PLC0415

    plan = certificate_plan(ratings, context.obj)
    names = {"all": tuple(load_perturbations().checks), "none": ()}.get(checks, tuple(map(str.strip, checks.split(","))))
    request = CertificateRequest(ratings=ratings, rubric=rubric, checks=names, checks_sample=checks_sample)
    if dry_run:
        forecast = run_to_end(forecast_certificate(plan, request))
        CommandResult(0, forecast, forecast_view(forecast)).finish(as_json=as_json)
    _ = certify_job(plan, request, lake := open_lake(plan)).asks  # before a server is waited for: a wrong name is told at once
    require_prefect_settings()
    temporary_server()
    kept = {row.file for row in find_certificates(lake)}
    certificate = run_to_end(on_server(lambda: certify_judge(plan, request)))
    status = int(certificate.refused > 0 or certificate.calls.failed > 0 or certificate.calls.unsent > 0)
    view = [*_view(certificate, lake.root, is_new=kept.isdisjoint(certificate.files))]
    CommandResult(status, certificate, view).finish(as_json=as_json)


def certificate_plan(ratings: str, options: PlanOptions) -> Plan:
    """Return a plan of one judge; what means nothing here is refused."""
    plan = read_plan(ratings, options, needs_model=False)
    unused = [*(plan.roles.keys() - {JUDGE}), *sorted(plan.model_fields_set - USED), *(entry.name for entry in plan.models)]
    judges = plan.named(JUDGE)
    if unused or len(judges) != 1:
        raise UsageError(
            f"moodflow judges certify does not use {', '.join(unused)}" if unused else "no judge given",
            where="--model, --role, --set, --config" if unused else "--judge",
            expected=f"one judge; of the plan only {', '.join(sorted(USED))}",
            next_step="leave it out" if unused else "add --judge NAME --judge-base-url URL",
        )
    return plan.model_copy(update={"settings": ("certify",)})


def list_certificates(lake: opt.LakeFolder = None, as_json: opt.AsJson = False) -> None:
    """List the certificates of a lake; --json names their files."""
    rows = find_certificates(Lake(lake or DEFAULT_LAKE, read_code_version()))
    heads = (Column("Judge", "name"), *columns("text", "Rubric", "Ratings", "Texts", "Verdict", "Certified"))
    cells = [(row.judge, row.rubric, row.source, row.texts, row.verdict, local_time(row.certified_at)) for row in rows]
    CommandResult(0, CertificateList(certificates=tuple(rows)), [terminal_table(Table(heads, cells))]).finish(as_json=as_json)


def _view(certificate: Certificate, lake: Folder, *, is_new: bool) -> Iterator[RenderableType]:
    yield bold(f"{certificate.judge}: {certificate.verdict}", f" (rubric {certificate.rubric} on {certificate.source})")
    yield from () if is_new else ["Up to date: this certificate was there, with the calls and the cost of then."]
    yield why(certificate)
    verdicts, sides, checks, *_ = certificate_tables(certificate)
    # Failed or not decided somewhere; those that passed are on the page.
    wrong = replace(checks, rows=[row for row in checks.rows if any(row[4:6])])
    for table in filter(lambda table: table.rows, (verdicts, sides, wrong)):
        yield from ("", terminal_table(table))
    yield ""
    yield from certificate_counts(certificate)
    yield from usage_view(certificate.cost)
    pages = [lake / file for file in certificate.files if file.endswith(".html")]
    yield from (f"Page, with document and rows beside it: {page}" for page in pages)
    if not pages:
        yield "Nothing was written, because calls failed: run the same command again."
