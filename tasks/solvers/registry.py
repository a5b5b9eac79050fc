"""The solvers: how items are asked in each setting, whom it needs besides the model under test, what its calls rest on."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schemas.benchmark import rows
from schemas.chat import ModelEntry
from schemas.errors import UsageError, unknown_name
from schemas.plan import Plan
from schemas.roles import JUDGES
from schemas.usage import TESTED, Role
from schemas.vocabulary import ContextTask
from tasks.solvers.infer_job import RESERVED
from tasks.solvers.prompts import PROMPTED, Prompts, build_messages, choose_top_logprobs
from tasks.solvers.solver import ContextSolver, Solver
from tasks.solvers.state import AskedItem, SolverCode, SolverOptions, SolverOutput, SolverPlan, SolverResources, state_answer

_OF_CONTEXTS = rows("context_solvers", ContextSolver)
CONTEXT_SOLVERS = {task: solver for solver in _OF_CONTEXTS for task in solver.tasks}

PLAIN = SolverCode("4", Prompts)
"""Bumped when calls are asked or recorded differently; prompt texts carry their own hash."""


async def ask_as_it_is(asked: AskedItem, options: SolverOptions, resources: SolverResources, repetition: int) -> SolverOutput:
    """Ask with the prompt of the question type; an item with a context built for it as its task asks."""
    if asked.context is not None:
        return await CONTEXT_SOLVERS[asked.context.task].solve(asked, options, resources, repetition)
    item, prompts = asked.item, Prompts.load()
    if item.question_type not in prompts.by_type:
        raise UsageError(
            f"setting {options.setting} has no prompt for {item.question_type} items",
            where=f"--settings, item {asked.item_id}",
            expected=f"one of {', '.join(prompts.by_type)}",
            got=item.question_type,
            next_step=f"name a setting that asks them, one of {', '.join(SOLVERS)}",
        )
    limit, more = prompts.by_type[item.question_type].max_tokens, choose_top_logprobs(resources.roles[TESTED].entry, item)
    call = await resources.ask(TESTED, "answer", build_messages(item, prompts), limit, repetition, top_logprobs=more)
    return SolverOutput((call,), state_answer([call]))


def plan_as_it_is(options: SolverOptions, task: ContextTask | None, entry: ModelEntry) -> SolverPlan:
    """Plan the same. Token probabilities count only where they are asked for."""
    if task is not None:
        return CONTEXT_SOLVERS[task].plans(options, task, entry)
    return SolverPlan(PLAIN, {"token_probabilities": True} if entry.token_probabilities else {})


BASE = Solver(
    "base",
    "Base",
    ask_as_it_is,
    (*(solver.code for solver in _OF_CONTEXTS), PLAIN),
    plan_as_it_is,
    question_types=PROMPTED,
    by_task=True,
)


def by_setting(solvers: Iterable[Solver]) -> Iterator[tuple[str, Solver]]:
    """Yield solvers by their settings; raise UsageError if two have the same, or a role has a name that is taken."""
    seen = set()
    for solver in solvers:
        if solver.setting in seen:
            step = "give the setting of the installed package another name"
            raise UsageError("two solvers have the same setting", got=solver.setting, next_step=step)
        seen.add(solver.setting)
        versions = {name for code in solver.codes for name in code.versions}
        taken = RESERVED | versions | {TESTED} | JUDGES.keys() | Plan.model_fields.keys()
        if reserved := sorted(taken & solver.roles.keys()):
            raise UsageError(
                f"a solver has a role {reserved[0]}, which means something else",
                where=f"solver of setting {solver.setting}",
                expected=f"a name that is none of {', '.join(sorted(taken))}",
                got=", ".join(solver.roles),
                next_step="give the role of the installed package another name",
            )
        yield solver.setting, solver


SOLVERS: Mapping[str, Solver] = dict(by_setting((BASE, *rows("solvers", Solver))))
"""One row per setting, in the order in which they are shown."""


def find_solver(setting: str, where: str = "--settings") -> Solver:
    """Return the solver of a setting; raise UsageError, with the nearest setting, if there is none."""
    if setting in SOLVERS:
        return SOLVERS[setting]
    raise unknown_name("setting", setting, SOLVERS, where, "moodflow run longemotion --settings base,rag")


def code_behind(setting: str, settings: Mapping[str, Any]) -> SolverCode | None:
    """Return the code that the calls of a stored partition rest on, by the settings of its key; null if its setting is gone."""
    codes = SOLVERS[setting].codes if setting in SOLVERS else ()
    return next((code for code in codes if code.versions.keys() <= settings.keys()), None)


def helper_roles(settings: Iterable[str] = SOLVERS) -> dict[Role, str]:
    """Return the helpers that settings need, by default any of them, with what each does."""
    found: dict[Role, dict[str, None]] = {}
    for role, does in (pair for name in SOLVERS if name in settings for pair in SOLVERS[name].roles.items()):
        found.setdefault(role, {})[does] = None
    return {role: ", or ".join(does) for role, does in found.items()}


def settings_with(role: Role) -> list[str]:
    """List the settings that need a helper."""
    return [setting for setting, solver in SOLVERS.items() if role in solver.roles]


def is_optional(role: Role) -> bool:
    """Return whether nobody plays a role where a plan names no model for it; any other is the model's under test."""
    return any(role in solver.optional for solver in SOLVERS.values())


def require_role(role: str, where: str) -> None:
    """Raise UsageError, with the nearest role, if this one neither judges nor belongs to a setting."""
    if role == TESTED:
        step = "name it with --model, and helpers and judges by their own roles"
        raise UsageError("the model under test is named by no role", where=where, got=role, next_step=step)
    if role not in (known := (*JUDGES, *helper_roles())):
        raise unknown_name("role", role, known, where, "for example --role judge=NAME@URL")


def setting_title(setting: str) -> str:
    """Return the name of a setting for readers."""
    return SOLVERS[setting].title if setting in SOLVERS else setting


def setting_order(setting: str) -> tuple[int, str]:
    """Return a sort key: settings as they are shown, unknown ones last by name."""
    names = list(SOLVERS)
    return (names.index(setting) if setting in names else len(names), setting)
