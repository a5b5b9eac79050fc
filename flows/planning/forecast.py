"""Forecast the calls, tokens and cost of a run without calling a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import dataframely as dy

from flows.planning.capabilities import unprobed
from flows.planning.jobs import EvalJob, GoldBaseline, ResolvedPlan
from flows.planning.usage import ONE_CALL, learn_from_lake, usage_of
from schemas.chat import ChatRequest, ModelEntry
from schemas.documents.plan import DatasetForecast, ModelForecast, RunForecast
from schemas.lineage import Missing, PartitionRef
from schemas.plan import Plan
from schemas.provider import PriceTable, Rate
from schemas.roles import JUDGE, JUDGES
from schemas.tables.items import Items
from schemas.tables.responses import Answers, Judgements
from schemas.usage import TESTED, Expectation, Role
from schemas.vocabulary import PaidAs
from tasks.judging.answers import gold_answers, judged_answers, rated_content
from tasks.judging.executor import plan_ratings
from tasks.judging.rubrics import Rubric
from tasks.lake.lake import Lake
from tasks.models.cost import (
    CHARACTERS_PER_TOKEN,
    FIRST_REPLY_SHARE,
    TOKENS_PER_CJK_CHARACTER,
    Estimator,
    check_budget,
    find_rate,
)
from tasks.models.journal.table import JOURNAL
from tasks.reporting.content.operations import no_price
from tasks.solvers.forecast import choose_unsent, expect_calls, plan_requests
from tasks.solvers.registry import SOLVERS
from tasks.text.number_format import count, counted, listed

GUESS = (
    f"guessed: {CHARACTERS_PER_TOKEN:g} characters per token, {TOKENS_PER_CJK_CHARACTER:g} token per Chinese character, "
    f"replies of {FIRST_REPLY_SHARE:.0%} of max_tokens"
)


@dataclass(frozen=True)
class EstimateBasis:
    """The basis of estimates: stored replies and prices; and the models a run would probe first."""

    estimator: Estimator
    prices: PriceTable | None
    unprobed: tuple[str, ...]
    paid_as: PaidAs = "live"

    def rate(self, entry: ModelEntry) -> Rate | None:
        """Return a model's price; null if it is not known."""
        return find_rate(entry.name, entry.base_url, self.prices, self.paid_as)

    def describe(self, model: str, role: Role) -> str:
        """Return in words what the tokens of a model in its role are estimated from."""
        replies = self.estimator.seen(model, judged=role in JUDGES)
        return f"mean of {counted(replies, 'stored reply', 'stored replies')} of the model" if replies else GUESS

    def notes(self, plan: Plan, total: Expectation) -> Iterable[str]:
        """Yield what has to be known about the sum of all calls: that it is over a budget, or that models are probed first."""
        if plan.budget_tokens is not None and total.prompt_tokens + total.completion_tokens > plan.budget_tokens:
            yield f"That is more than the budget of {count(plan.budget_tokens)} tokens."
        if plan.budget is not None and total.cost is not None and total.cost > plan.budget:
            yield f"That is more than the budget of {plan.budget:g}."
        if total.calls and self.unprobed:
            yield f"Not probed yet: {', '.join(self.unprobed)}. A run first sends a few tiny calls to detect its quirks."


async def forecast_run(resolved: ResolvedPlan, missing: Sequence[Missing]) -> RunForecast:
    """Forecast what asking the items of a plan would take; they are built, but for what is missing."""
    plan = resolved.stated
    names = dict.fromkeys(entry.name for entry in unprobed(plan))
    basis = EstimateBasis(learn_from_lake(plan), check_budget(plan), tuple(names), plan.paid_as)
    forecasts = [forecast for job in resolved.jobs for forecast in await _forecast_job(job, basis)]
    forecasts += [forecast for gold in resolved.golds for forecast in await _forecast_gold(gold, basis)]
    by_model: dict[tuple[str, Role], Expectation] = {}
    for row in forecasts:
        by_model[row.model, row.role] = by_model.get((row.model, row.role), Expectation()) + row
    total = sum(forecasts, Expectation())
    return RunForecast(
        benchmark=resolved.blueprint.name,
        currency=basis.prices.currency if basis.prices else None,
        datasets=tuple(forecasts),
        models=tuple(
            ModelForecast(model=model, role=role, **dict(expected), basis=basis.describe(model, role))
            for (model, role), expected in by_model.items()
        ),
        total=total,
        notes=tuple(_notes(resolved, forecasts, basis, total)),
        missing=tuple(missing),
    )


async def _forecast_job(job: EvalJob, basis: EstimateBasis) -> list[DatasetForecast]:
    """Forecast what one dataset and model remain to be asked, and the judges about it; nothing without items."""
    infer = job.infer_job()
    if infer is None:
        return []
    plan, stored = job.resolved.plan, infer.keys.find_all(job.lake)
    if stored:
        answers: PartitionRef | dy.DataFrame[Answers] = stored[1]
        forecasts = [
            DatasetForecast(dataset=row.dataset, model=row.model, role=row.role, stored=row.calls)
            for row in usage_of(stored[0], job.lake, plan)
        ]
    else:
        calls, answers = await plan_requests(infer, job.lake)
        forecasts = []
        for role, requests in calls.items():
            entry = infer.models[role]
            expected = expect_unsent(job.lake, requests, basis, entry)
            if role != TESTED and infer.keys.written is not None:
                expected = expected.model_copy(update={"upper_bound": True})
            forecasts.append(DatasetForecast(dataset=job.dataset, model=entry.name, role=role, **dict(expected)))
    for judge, rubric in job.raters:
        expected = await _expect_judge(job, (infer.items, answers), (judge, rubric), basis)
        role = plan.rater_role(judge.name, job.dataset)
        forecasts.append(DatasetForecast(dataset=job.dataset, model=judge.name, role=role, **dict(expected)))
    return forecasts


def expect_unsent(lake: Lake, requests: list[ChatRequest], basis: EstimateBasis, entry: ModelEntry) -> Expectation:
    """Return what calls would take that the journal does not answer, and how many it does."""
    unsent = choose_unsent(requests, lake.state / JOURNAL)
    return expect_calls(unsent, basis.estimator, basis.rate(entry)) + Expectation(in_journal=len(requests) - len(unsent))


async def _expect_judge(
    job: EvalJob,
    parts: tuple[PartitionRef, PartitionRef | dy.DataFrame[Answers]],
    rater: tuple[ModelEntry, Rubric],
    basis: EstimateBasis,
) -> Expectation:
    """Forecast what a judge is still to be asked about answers: stored ones, or rehearsed ones, as long as they may be."""
    (items, answers), (judge, rubric), lake, repeat = parts, rater, job.lake, job.resolved.plan.judge_repeat
    rows = lake.read(items, Items)
    if not isinstance(answers, PartitionRef):
        requests = await _plan_known(rows, answers, judge, rubric, repeat)
        return expect_calls(requests, basis.estimator, basis.rate(judge)).model_copy(update={"upper_bound": True})
    if stored := lake.find(job.resolved.judge_job(rubric, judge, items, answers).key):
        return Expectation(stored=lake.read(stored, Judgements).n_unique(ONE_CALL))
    return expect_unsent(lake, await _plan_known(rows, lake.read(answers, Answers), judge, rubric, repeat), basis, judge)


async def _plan_known(
    items: dy.DataFrame[Items], answers: dy.DataFrame[Answers], judge: ModelEntry, rubric: Rubric, repeat: int
) -> list[ChatRequest]:
    """Return the calls that rate answers which are there."""
    by_item = {row["item_id"]: row for row in items.iter_rows(named=True)}
    judged = judged_answers(answers, items, rubric).iter_rows(named=True)
    return await plan_ratings(((by_item[row["item_id"]], rated_content(row)) for row in judged), judge, rubric, repeat)


async def _forecast_gold(gold: GoldBaseline, basis: EstimateBasis) -> list[DatasetForecast]:
    """Forecast what is left to rate of a dataset's gold replies; nothing where its items have none."""
    lake, judge, stored = gold.resolved.lake, gold.judge, gold.find(gold.resolved.lake.find)
    if stored:
        expected = Expectation(stored=lake.read(stored[1], Judgements).n_unique(ONE_CALL))
    else:
        items, rubric = lake.read(gold.job.items, Items), gold.rubric
        requests = await _plan_known(items, gold_answers(items), judge, rubric, gold.resolved.plan.judge_repeat)
        expected = expect_unsent(lake, requests, basis, judge)
    if expected == Expectation():
        return []
    return [DatasetForecast(dataset=gold.selected.spec.id, model=judge.name, role=JUDGE, **dict(expected))]


def _notes(
    resolved: ResolvedPlan, forecasts: Sequence[DatasetForecast], basis: EstimateBasis, total: Expectation
) -> Iterable[str]:
    plan = resolved.plan
    unpriced = dict.fromkeys(row.model for row in forecasts if row.cost is None)
    if unpriced:
        yield no_price(unpriced)
    most = {row.role for row in forecasts if row.upper_bound}
    if raters := [f"the {role}" for role in JUDGES if role in most]:
        yield f"Calls of {listed(raters)} are an upper bound, as if every answer came and were as long as it may be."
    if helpers := sorted(most - {TESTED, *JUDGES}):
        yield f"Calls of {listed(helpers)} about what a model writes itself are an upper bound: its replies may be shorter."
    if least := [setting for setting in plan.settings if SOLVERS[setting].asks_again]:
        yield f"Calls of {' and '.join(least)} are a lower bound: each search adds a call."
    yield from basis.notes(plan, total)
