"""Count the tokens and cost of a run: as replies come, or from the layers where nothing was asked."""

from collections import Counter
from collections.abc import Iterable

import polars as pl

from schemas.chat import ChatReply
from schemas.lineage import PartitionRef
from schemas.plan import Plan
from schemas.provider import PriceTable
from schemas.roles import JUDGES
from schemas.tables.layers import FROM_OUTSIDE
from schemas.tables.responses import Judgements, Responses
from schemas.usage import COUNTS, TOKENS, Role, Usage, merge
from schemas.vocabulary import PaidAs
from schemas.worker_pool import ProgressListener
from tasks.lake.lake import Lake
from tasks.models.cost import Budget, Estimator, check_budget, find_rate
from tasks.models.http.failures import BUDGET_SPENT
from tasks.models.journal.journal import NOT_SENT
from tasks.solvers import forecast as forecasting

ONE_CALL = ["item_id", "part", "setting", "repetition", "judge_repetition", "call_key"]
"""Columns whose values the rows of one judge's call share."""


class UsageCounter:
    """A progress listener between a job and the run's own that adds up calls and tokens."""

    def __init__(self, listener: ProgressListener) -> None:
        self._listener = listener
        self._counts: dict[PaidAs, Counter[str]] = {}

    @property
    def calls(self) -> int:
        """Return the calls that ended so far."""
        return sum(counts["calls"] for counts in self._counts.values())

    def expect(self, calls: int) -> None:
        """Announce more calls."""
        self._listener.expect(calls)

    def on_reply(self, reply: ChatReply) -> None:
        """Count one call that ended."""
        unsent = reply.failure in NOT_SENT
        failed = reply.failure is not None and not unsent
        sent = not reply.from_journal and not unsent
        counts = self._counts.setdefault(reply.paid_as or "live", Counter())
        counts.update(calls=1, from_journal=reply.from_journal, sent=sent, unsent=unsent, failed=failed)
        for paid in ("",) if reply.from_journal else ("", "paid_"):
            _count_tokens(counts, reply, paid)
        self._listener.on_reply(reply)

    def usage(self, dataset: str, model: str, role: Role) -> list[Usage]:
        """Return what was counted so far, as that of a model in its role: one row per way of paying."""
        rows = []
        for paid_as, counts in self._counts.items():
            amounts: dict[str, int | None] = {name: counts[name] for name in (*COUNTS, *TOKENS)}
            for paid in ("", "paid_"):
                if counts[f"{paid}uncounted"] and not counts[f"{paid}counted"]:
                    amounts |= {f"{paid}prompt_tokens": None, f"{paid}completion_tokens": None}
            of = {"dataset": dataset, "model": model, "role": role, "paid_as": paid_as}
            rows.append(Usage.model_validate({**of, **amounts}))
        return rows


def _count_tokens(counts: Counter[str], reply: ChatReply, paid: str) -> None:
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        # A failure without counts has used an unknown number of tokens, perhaps none; docs/cost.md says so.
        counts[f"{paid}uncounted"] += reply.failure is None
        return
    counts[f"{paid}counted"] += 1
    counts[f"{paid}prompt_tokens"] += reply.prompt_tokens
    counts[f"{paid}completion_tokens"] += reply.completion_tokens


def usage_of(ref: PartitionRef, lake: Lake, plan: Plan) -> list[Usage]:
    """Return what a partition of replies or ratings took, as it and the plan say: one row per role, model and way of paying.

    Of a judge's reply that could not be read and was asked for again, the layer knows the last call only.
    """
    dataset = ref.key("dataset")
    if ref.by_people:
        return []
    if ref.layer == "judgements":
        judge, rows = ref.key("judge"), lake.read(ref, Judgements).unique(ONE_CALL, keep="first", maintain_order=True)
        by_way = rows.with_columns(pl.col("paid_as").fill_null("live")).partition_by("paid_as", as_dict=True)
        failed, role = pl.col("parse_status") == "failed", plan.rater_role(judge, dataset)
        return [_usage(rows, failed, (dataset, judge, role, paid_as)) for (paid_as,), rows in by_way.items()]
    calls = lake.read(ref, Responses).with_columns(pl.col("paid_as").fill_null("live"))
    by_role = calls.partition_by("role", "asked_model", "paid_as", as_dict=True, maintain_order=True)
    failed = pl.col("status") == "failed"
    return [_usage(rows, failed, (dataset, model, role, paid_as)) for (role, model, paid_as), rows in by_role.items()]


def _usage(rows: pl.DataFrame, failed: pl.Expr, of: tuple[str, str, Role, PaidAs]) -> Usage:
    """Return what calls took. `failed`: whether one did. `of`: dataset, model, role and how they were paid."""
    tokens = pl.col("prompt_tokens", "completion_tokens")
    counted = rows.drop_nulls(["prompt_tokens", "completion_tokens"])
    uncounted = rows.filter(~failed, pl.any_horizontal(tokens.is_null())).height
    is_counted = counted.height > 0 or uncounted == 0
    unsent = int((rows["error"] == BUDGET_SPENT).sum())
    return Usage(
        dataset=of[0],
        model=of[1],
        role=of[2],
        paid_as=of[3],
        calls=rows.height,
        unsent=unsent,
        failed=rows.filter(failed).height - unsent,
        prompt_tokens=int(counted["prompt_tokens"].sum()) if is_counted else None,
        completion_tokens=int(counted["completion_tokens"].sum()) if is_counted else None,
        uncounted=uncounted,
    )


def complete_usage(measured: Iterable[Usage], refs: Iterable[PartitionRef], lake: Lake, plan: Plan) -> tuple[Usage, ...]:
    """Return usage as the infer stage measured it; if it had nothing to ask, as the partitions of the run say."""
    stored = (row for ref in refs if ref.layer in FROM_OUTSIDE for row in usage_of(ref, lake, plan))
    return tuple(measured) or merge(stored)


def open_budget(plan: Plan) -> Budget:
    """Open the budget of a run, its estimates based on what the lake knows of the models; without limits all calls pass."""
    table = check_budget(plan)
    if plan.budget is None and plan.budget_tokens is None:
        return Budget()
    return Budget(plan.budget_tokens, plan.budget, table, learn_from_lake(plan))


def learn_from_lake(plan: Plan) -> Estimator:
    """Return an estimator that knows every stored reply of the plan's models."""
    tested, judges = ([entry.name for entry in entries] for entries in (plan.models, plan.named(*JUDGES)))
    return forecasting.learn_from_lake(plan.lake, tested, judges)


def prices_used(plan: Plan, table: PriceTable | None) -> PriceTable | None:
    """Return, of a price table, the entries that a plan's models are priced by."""
    if table is None:
        return None
    used = [find_rate(entry.name, entry.base_url, table) for entry in plan.entries]
    return table.model_copy(update={"prices": tuple(price for price in table.prices if price in used)})
