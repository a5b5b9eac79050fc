"""Certify: ratings by people -> `certificate_ratings` by a judge -> `certificates`, with a page and a document."""

from datetime import UTC, datetime

from flows.planning.capabilities import unprobed, with_capabilities
from flows.planning.certify import certify_job
from flows.planning.resolve import open_lake
from flows.planning.usage import UsageCounter, open_budget
from flows.runtime.endpoints import check_endpoints, count_calls, open_endpoints, require_answer
from flows.runtime.prefect_flows import moodflow_flow, run_here
from flows.runtime.probing import ensure_probed
from flows.runtime.progress import show_calls
from schemas.certificates import CertificateRequest
from schemas.documents.certificates import Certificate
from schemas.plan import Plan
from schemas.roles import JUDGE
from tasks.certificates.certificate import Spent
from tasks.certificates.steps import rate_texts
from tasks.models.cost import load_prices, price_usage
from tasks.reporting.run_document import describe_cost
from tasks.reporting.steps import write_certificate


@moodflow_flow("certify-judge", "certify {plan.title}")
async def certify_judge(plan: Plan, request: CertificateRequest) -> Certificate:
    """Ask the judge of a plan about texts that people rated, and set it beside them.

    Reads source files; writes `certificate_ratings` and `certificates`. Replies are in the journal before they are used: what was
    killed goes on where it stopped, and a repeated start pays for nothing that was answered. A certificate is kept once all calls
    were answered.
    """
    lake, budget = open_lake(plan), open_budget(plan)
    lake.require_writable()
    await check_endpoints(plan)
    await ensure_probed(lake.state, unprobed(plan), budget)
    plan = with_capabilities(plan)
    job = certify_job(plan, request, lake)
    async with open_endpoints(plan, lake, budget) as endpoints, show_calls(plan.title) as listener:
        counter, endpoint = UsageCounter(listener), endpoints[job.judge]
        ratings = await run_here(rate_texts, job, lake, endpoint.chat, endpoint.pool.do_all, counter)
    calls, table = count_calls(endpoints), load_prices(plan.prices)
    require_answer(endpoints, calls)
    usage = price_usage(counter.usage(job.source.name, job.judge.name, JUDGE), plan, table)
    now, cost = datetime.now(UTC).isoformat(timespec="seconds"), describe_cost(usage, table.currency if table else None)
    return await run_here(write_certificate, job, ratings, Spent(now, calls, usage, cost), lake)  # type: ignore[no-any-return]
