"""Plan a judge certificate: what to ask about the ratings of a source, and what that would take."""

from pathlib import Path

from flows.planning.capabilities import unprobed, with_capabilities
from flows.planning.forecast import EstimateBasis, expect_unsent
from flows.planning.resolve import open_lake
from flows.planning.usage import learn_from_lake
from schemas.certificates import CertificateRequest
from schemas.documents.plan import DatasetForecast, ModelForecast, RunForecast
from schemas.json_yaml import read_text, read_yaml
from schemas.plan import Plan
from schemas.roles import JUDGE
from tasks.certificates.asking import CertifyJob, plan_calls, usable_source
from tasks.certificates.sources import find_ratings
from tasks.judging.rubrics import load_rubric
from tasks.lake.lake import Lake
from tasks.models.cost import check_budget
from tasks.sources.locating import Locator


def certify_job(plan: Plan, request: CertificateRequest, lake: Lake) -> CertifyJob:
    """Return what is asked of the judge of a plan.

    Raises:
        UsageError: the source has no texts, the rubric does not suit it, or there is no such check or rubric.
        SourceError: the ratings cannot be read.
    """
    file = Path(request.rubric)
    own = {file.stem: read_yaml(read_text(file))} if file.suffix else {}
    rubric, source = load_rubric(file.stem, own), find_ratings(request.ratings, Locator.for_mirror(plan.mirror), lake)
    (judge,), (usable, left_out) = plan.named(JUDGE), usable_source(source, rubric, plan.sample, plan.seed)
    not_asked = tuple(sorted({*source.ratings["dimension"]} - {*rubric.names}))
    return CertifyJob(judge, rubric, usable, request.checks, request.checks_sample, left_out, not_asked, plan.seed)


async def forecast_certificate(plan: Plan, request: CertificateRequest) -> RunForecast:
    """Forecast the calls of a certificate; none is sent."""
    lake = open_lake(plan)
    job = certify_job(with_capabilities(plan), request, lake)
    basis = EstimateBasis(learn_from_lake(plan), check_budget(plan), tuple(entry.name for entry in unprobed(plan)))
    expected = expect_unsent(lake, [] if lake.find(job.key) else await plan_calls(job), basis, job.judge)
    who = {"model": job.judge.name, "role": JUDGE, **dict(expected)}
    return RunForecast(
        benchmark=job.source.name,
        currency=basis.prices.currency if basis.prices else None,
        datasets=(DatasetForecast(dataset=job.source.name, **who),),
        models=(ModelForecast(basis=basis.describe(job.judge.name, JUDGE), **who),),
        total=expected,
        notes=tuple(basis.notes(plan, expected)),
        missing=(),
    )
