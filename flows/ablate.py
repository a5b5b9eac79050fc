"""Ablate: the same plan under each variant of one factor or two, to the layer `ablations` and a table."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import ValidationError

from flows.build import build_datasets
from flows.infer import run_inference
from flows.planning.capabilities import quirks_for
from flows.planning.jobs import ResolvedPlan
from flows.planning.resolve import name_run, resolve
from flows.planning.usage import complete_usage, prices_used
from flows.report import manifest_of
from flows.runtime.artifacts import announce, publish_ablation
from flows.runtime.prefect_flows import begin_run, moodflow_flow, run_here
from flows.runtime.preflight import check_plan, warn
from flows.score import score
from schemas.ablation import AblationRequest, vary
from schemas.api_capabilities import SWITCH, ApiCapabilities
from schemas.chat import ModelEntry
from schemas.lineage import CallCounts, Missing, PartitionRef, RunManifest, StageResult
from schemas.plan import Plan
from schemas.refusal import refused
from schemas.usage import Usage, merge, total
from tasks.lake.lake import Lake
from tasks.models.cost.pricing import check_budget, load_prices, price_usage
from tasks.reporting.steps import ReportJob, write_ablation_files
from tasks.scoring.ablations import Variant, VariantScores, list_variants
from tasks.scoring.steps import AblationJob, compute_layer

LEAST_BUDGET = 1e-9
"""Stands for a budget that is spent: one of nothing would be none."""


THINKING_PATH = "chat_template_kwargs.enable_thinking"
"""Where a body says whether a model such as Qwen3 is to think before it answers."""


class VariantResult(NamedTuple):
    """The scores and stage results of one variant."""

    plan: Plan
    scores: VariantScores
    results: tuple[StageResult, ...]


@moodflow_flow("ablate", "ablate {request.title}")
async def ablate(request: AblationRequest) -> RunManifest:
    """Evaluate a plan under each variant and compare the scores.

    Reads source files; writes every layer of every variant, `ablations`, and `runs/<run>/` with a report of it. Variants share
    whatever is equal: contexts, chunks, embeddings, replies. A second run asks nothing.

    Args:
        request: what is varied in which plan.
    """
    started = datetime.now(UTC)
    resolved = await begin_run(request.plan, request.name)
    variants = list(read_variants(request))
    warn([warning for _, plan in variants for warning in await check_plan(resolve(plan))])
    for _, plan in variants:
        check_budget(plan)
    evaluated: list[VariantResult] = []
    for variant, plan in variants:
        spent = [row for one in evaluated for result in one.results for row in result.usage]
        evaluated.append(await run_variant(variant, within_budget(plan, spent)))
    lake = resolved.lake
    job = AblationJob(request.name, resolved.blueprint, tuple(one.scores for one in evaluated))
    table: PartitionRef = await run_here(compute_layer, job, lake)
    manifest = describe_ablation(request, resolved, evaluated, table, started)
    await write_ablation_files(ReportJob(manifest, resolved.blueprint), lake)
    await publish_ablation(manifest, table, lake)
    announce(manifest, None)
    return manifest


def read_variants(request: AblationRequest) -> Iterator[tuple[Variant, Plan]]:
    """Yield every combination of the factors' values, with its plan.

    Raises:
        UsageError: if a value is refused.
    """
    for variant, values in list_variants(request.varied):
        plan = request.plan
        for varied, value in zip(request.varied, values, strict=True):
            plan = _varied(plan, varied.factor, value)
        yield variant, plan


def _varied(plan: Plan, factor: str, value: str) -> Plan:
    if factor == "reasoning_effort" and value in SWITCH:
        plan = plan.model_copy(update={"models": tuple(map(_switchable, plan.models))})
    try:
        return Plan.model_validate(vary(plan, factor, value))
    except ValidationError as error:
        raise refused(error, "ablate") from error


def _switchable(entry: ModelEntry) -> ModelEntry:
    """Return the entry with where vLLM and SGLang switch thinking on and off, unless it or its provider states another place."""
    said = entry.dialect.model_dump(exclude_unset=True) if entry.dialect else {}
    if "effort_path" in said or quirks_for(entry) is not None:
        return entry
    return entry.model_copy(update={"dialect": ApiCapabilities.model_validate({**said, "effort_path": THINKING_PATH})})


def within_budget(plan: Plan, spent: Sequence[Usage]) -> Plan:
    """Return a variant's plan with what the variants before it left of the budget; `spent`: what they used."""
    amounts = total(price_usage(spent, plan, load_prices(plan.prices)))
    tokens = (amounts.paid_prompt_tokens or 0) + (amounts.paid_completion_tokens or 0)
    left: dict[str, float] = {}
    if plan.budget_tokens is not None:
        left["budget_tokens"] = max(1, plan.budget_tokens - tokens)
    if plan.budget is not None:
        left["budget"] = max(LEAST_BUDGET, plan.budget - (amounts.paid_cost or 0.0))
    return plan.model_copy(update=left)


async def run_variant(variant: Variant, plan: Plan) -> VariantResult:
    """Build, infer and score one variant."""
    results: list[StageResult] = [await build_datasets(plan), await run_inference(plan), await score(plan)]
    layers = {ref.layer: ref for ref in results[-1].refs}
    return VariantResult(plan, VariantScores(variant, layers["raw_scores"], layers["normalized_scores"]), tuple(results))


def describe_ablation(
    request: AblationRequest, resolved: ResolvedPlan, evaluated: list[VariantResult], table: PartitionRef, started: datetime
) -> RunManifest:
    """Return the manifest of the run, whose table is a partition of `ablations`."""
    results = [result for one in evaluated for result in one.results]
    refs = dict.fromkeys(ref for result in results for ref in result.refs)
    missing: dict[Missing, None] = dict.fromkeys(gap for result in results for gap in result.missing)
    run = f"{name_run(request.plan, started)}-{request.name}"
    table_of_prices = load_prices(request.plan.prices)
    used = [prices_used(one.plan, table_of_prices) for one in evaluated]
    prices = dict.fromkeys(price for one in used if one for price in one.prices)
    return manifest_of(
        resolved,
        (*refs, table),
        run=run,
        started_at=started.isoformat(timespec="seconds"),
        ablation={
            **request.model_dump(mode="json", include={"name", "varied"}),
            # The partitions of two variants may be the same.
            "variants": [
                {"variant": one.variant.variant, **{ref.layer: ref.path for ref in (one.raw, one.normalized)}}
                for one in (result.scores for result in evaluated)
            ],
        },
        missing=tuple(missing),
        calls=sum((result.calls for result in results), CallCounts()),
        report=f"runs/{run}/report.md",
        usage=usage_of_variants(evaluated, resolved.lake),
        prices=table_of_prices and table_of_prices.model_copy(update={"prices": tuple(prices)}),
    )


def usage_of_variants(evaluated: Sequence[VariantResult], lake: Lake) -> tuple[Usage, ...]:
    """Return what all variants used, priced; replies that several of them rest on count for the first."""
    rows: list[Usage] = []
    seen: set[PartitionRef] = set()
    for one in evaluated:
        for result in one.results:
            new = [ref for ref in result.refs if ref not in seen]
            rows += price_usage(complete_usage(result.usage, new, lake, one.plan), one.plan, load_prices(one.plan.prices))
            seen.update(result.refs)
    return merge(rows)
