"""Plan a judge certificate: what to ask about the ratings of a source, and what that would take."""

from pathlib import Path

from flows.planning.capabilities import unprobed, with_capabilities
from flows.planning.forecast import EstimateBasis, expect_unsent
from flows.planning.usage import learn_from_lake
from schemas.certificates import CertificateRequest
from schemas.documents.plan import DatasetForecast, ModelForecast, RunForecast
from schemas.errors import UsageError
from schemas.json_yaml import read_text, read_yaml
from schemas.plan import Plan
from schemas.roles import JUDGE
from tasks.certificates.asking import CertifyJob, applicable_checks, plan_calls, usable_source
from tasks.certificates.perturbations import plan_asks
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
    if source.texts.is_empty():
        raise UsageError(
            "the ratings come without the texts that were rated, so no judge can be asked about them",
            where="--ratings",
            got=request.ratings,
            next_step="give a source with texts, or compare a run's judge with moodflow judges check",
        )
    usable, left_out = usable_source(source, rubric, plan.sample, plan.seed)
    asks = plan_asks(usable.texts, rubric, request.checks, plan.seed, request.checks_sample)
    applicable = applicable_checks(usable.texts, rubric, plan.seed, request.checks_sample)
    (judge,) = plan.named(JUDGE)
    return CertifyJob(judge, rubric, usable, tuple(asks), request.checks, applicable, left_out, plan.seed)


async def forecast_certificate(plan: Plan, request: CertificateRequest, lake: Lake) -> RunForecast:
    """Forecast the calls of a certificate; none is sent."""
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
