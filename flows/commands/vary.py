"""`moodflow run --vary`: read the variants of a plan, and compare the runs that came of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from flows.commands.compare import COMMON, score_rows
from flows.commands.console import CommandResult, terminal_table
from flows.commands.plan_fields import find_field
from flows.commands.plan_options import PlanOptions, read_plan
from schemas.addresses import hide_credentials
from schemas.documents.comparison import RunComparison, SeveralRuns, VariedRuns
from schemas.documents.run import RunDocument
from schemas.errors import UsageError
from schemas.plan import Plan
from schemas.printing import tell
from schemas.table import Column, Table, Value, columns
from schemas.usage import Amounts
from tasks.compare.runs import compare_runs
from tasks.runs.verdict import label_of

if TYPE_CHECKING:
    from flows.planning.jobs import EvalJob, ResolvedPlan

MOST_FACTORS = 2

Settings = tuple[str, ...]
"""What is set for a variant, each `PATH=VALUE`."""

BETWEEN = re.compile(r",(?![^\[{]*[\]}])")
"""A comma between two values; those within brackets and braces are part of one."""


def _read_factors(vary: Sequence[str]) -> dict[str, list[str]]:
    factors: dict[str, list[str]] = {}
    for text in vary:
        path, _, values = text.partition("=")
        field = find_field(path.strip(), "--vary")
        listed = field.words if values.strip() == "all" else (value.strip() for value in BETWEEN.split(values))
        factors[field.path] = list(dict.fromkeys(filter(None, listed)))
    too_many = len(vary) > MOST_FACTORS or len(factors) < len(vary)
    if too_many or "benchmark" in factors or not all(len(values) > 1 for values in factors.values()):
        raise UsageError(
            "--vary cannot be read",
            where="--vary",
            expected="one or two different fields other than the benchmark, each with at least two values",
            got=hide_credentials(" and ".join(vary)),
            next_step="for example --vary retrieval.top_k=1,4,8",
        )
    return factors


def read_variants(benchmark: str | None, options: PlanOptions, vary: Sequence[str]) -> dict[Settings, Plan]:
    """Return a plan for each combination of the values of factors, each `PATH=V1,V2`, by what is set for it."""
    chosen = [[f"{path}={value}" for value in values] for path, values in _read_factors(vary).items()]
    return {
        settings: read_plan(benchmark, replace(options, set=[*(options.set or ()), *settings])) for settings in product(*chosen)
    }


def require_differing(variants: Mapping[Settings, "ResolvedPlan"]) -> None:
    """Raise UsageError if two variants would have the same scores."""
    evaluated = {settings: [list(_decided_by(job)) for job in plan.jobs] for settings, plan in variants.items()}
    for variant, other in combinations(variants, 2):
        if evaluated[variant] == evaluated[other]:
            differing = [pair for pair in zip(variant, other, strict=True) if pair[0] != pair[1]]
            raise UsageError(
                f"varying {' and '.join(setting.partition('=')[0] for setting, _ in differing)} has no effect on this plan",
                where="--vary",
                expected="a field that the plan's settings and datasets use",
                got=" and ".join(f"{first} as {second}" for first, second in differing),
                next_step="vary what the settings and datasets of the plan use; --settings and --datasets name others",
            )


def _decided_by(job: "EvalJob") -> Iterator[Any]:
    """Yield what decides the scores of a job besides the files that its items come from."""
    plan, selected = job.resolved.plan, job.selected
    options, solver_plan = job.asked_with
    yield from (job.dataset, job.setting, plan.seed, plan.profile, job.resolved.sample(selected), selected.methods)
    yield plan.contexts if selected.spec.sample_builder else None
    yield [(role, entry.name, entry.meaning) for role, entry in job.models.items()]
    prompts = solver_plan.code.settings(options.prompts)
    yield from (solver_plan.settings, prompts, solver_plan.chunking, job.resolved.epochs, options.too_long)
    yield [(rubric, judge.name, judge.meaning, plan.judge_repeat) for judge, rubric in job.raters]


def with_comparison(result: CommandResult, several: SeveralRuns, variants: Mapping[Settings, Plan]) -> CommandResult:
    """Return the result of the runs of all variants with a comparison of each later one with the first."""
    names = {", ".join(settings): plan for settings, plan in variants.items()}
    runs = {variant: document.run for variant, document in zip(names, several.runs, strict=True)}
    first, *others = runs
    comparisons: dict[str, RunComparison] = {}
    for other in others:
        plan = names[other]
        try:
            comparisons[other] = compare_runs(plan.lake, (runs[first], runs[other]), 0)
        except UsageError as error:  # nothing was scored in one of them, which its own lines say
            tell(f"{other} is not compared with {first}: {error.what}")
    document = VariedRuns(**dict(several), variants=runs, comparisons=tuple(comparisons.values()))
    side_by_side = _headline_tables(dict(zip(names, several.runs, strict=True)))
    return replace(result, document=document, view=[*result.view, *side_by_side, *_tables(first, comparisons)])


def _headline_tables(variants: Mapping[str, RunDocument]) -> Iterator[RenderableType]:
    """Yield a table per system and dataset with headlines: a row per variant, the scores that its report shows first."""
    scores: dict[str, dict[str, dict[str, float | None]]] = {}
    for variant, document in variants.items():
        for each in (each for dataset in document.headlines for each in dataset.scores):
            scores.setdefault(f"{label_of(each)}: {each.dataset}", {}).setdefault(variant, {})[each.headline] = each.score
    for title, rows in scores.items():
        headlines = list(dict.fromkeys(headline for row in rows.values() for headline in row))
        heads = (Column("Variant", "name"), *columns("score", *headlines))
        yield terminal_table(Table(heads, [(name, *map(row.get, headlines)) for name, row in rows.items()], title))


def _tables(first: str, comparisons: Mapping[str, RunComparison]) -> Iterator[RenderableType]:
    """Yield a table per model and setting: a row per score and variant, the first variant before the others."""
    systems: dict[str, dict[str, list[tuple[Value, ...]]]] = {}
    for variant, comparison in comparisons.items():
        for model in comparison.models:
            scores = systems.setdefault(label_of(model.before), {})
            for name, common, stored in score_rows(model):
                rows = scores.setdefault(name, [(name, first, stored[0], *[""] * len(common))])
                rows.append(("", variant, stored[1], *common))
    heads = (Column("Score of"), Column("Variant", "name"), *columns("score", "Score", "First", "This"), *COMMON[2:])
    for system, scores in systems.items():
        yield terminal_table(Table(heads, [*chain(*scores.values())], f"{system}: each variant beside {first}"))
    if systems:
        yield "clear: the interval leaves out 0. First, This and Difference are over the items that both runs scored."


def within_budget(plan: Plan, spent: Sequence[Amounts]) -> Plan:
    """Return a plan with what runs of the same command before it, which `spent` these amounts, have left of its budget."""
    left: dict[str, float] = {}
    if plan.budget_tokens is not None:
        tokens = sum((row.paid_prompt_tokens or 0) + (row.paid_completion_tokens or 0) for row in spent)
        left["budget_tokens"] = max(1, plan.budget_tokens - tokens)
    if plan.budget is not None:
        # A plan refuses a budget of nothing.
        left["budget"] = max(1e-9, plan.budget - sum(row.paid_cost or 0.0 for row in spent))
    return plan.model_copy(update=left)
