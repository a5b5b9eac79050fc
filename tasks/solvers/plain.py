"""Setting `base`: an item is asked with the prompt of its question type, or as the task of its context says."""

from schemas.benchmark import Rows, rows
from schemas.chat import ModelEntry
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError
from schemas.usage import TESTED
from schemas.vocabulary import ContextTask
from tasks.solvers.prompts import Prompts, build_messages, choose_top_logprobs, prompted_types
from tasks.solvers.registry import SOLVERS as ALL_SOLVERS
from tasks.solvers.registry import ContextSolver, Solver
from tasks.solvers.state import AskedItem, PlainOptions, SolverCode, SolverOutput, SolverPlan, SolverResources, state_answer

CONTEXT_SOLVERS = Rows("context_solvers", ContextSolver, "tasks")

PLAIN = SolverCode("4", Prompts)
"""Bumped when calls are asked or recorded differently; prompt texts carry their own hash."""


async def ask_as_it_is(asked_item: AskedItem, options: PlainOptions, resources: SolverResources, repetition: int) -> SolverOutput:
    """Ask with the prompt of the question type; an item with a context built for it as its task asks."""
    if asked_item.context is not None:
        return await CONTEXT_SOLVERS[asked_item.context.task].solve(asked_item, options, resources, repetition)
    item, prompts = asked_item.item, Prompts.load(options.prompts)
    if item.question_type not in prompts.by_type:
        raise UsageError(
            f"setting {options.setting} has no prompt for {item.question_type} items",
            where=f"--settings, item {asked_item.item_id}",
            expected=f"one of {', '.join(prompts.by_type)}",
            got=item.question_type,
            next_step="use a setting that asks them; moodflow options lists the settings",
        )
    limit, more = prompts.by_type[item.question_type].max_tokens, choose_top_logprobs(resources.roles[TESTED].entry, item)
    call = await resources.ask(TESTED, "answer", build_messages(item, prompts), limit, repetition, top_logprobs=more)
    return SolverOutput((call,), state_answer([call]))


def plan_as_it_is(options: PlainOptions, task: ContextTask | None, entry: ModelEntry) -> SolverPlan:
    """Plan the same. Token probabilities count only where they are asked for."""
    if task is not None:
        return CONTEXT_SOLVERS[task].plans(options, task, entry)
    return SolverPlan(PLAIN, {"token_probabilities": True} if entry.token_probabilities else {})


def prompt_files(setting: str, spec: DatasetSpec) -> set[str]:
    """Return the prompt files that a setting reads for a dataset, as a folder of one's own names them; none of a setting gone."""
    codes = ALL_SOLVERS[setting].codes if setting in ALL_SOLVERS else ()
    if setting == "base":
        codes = (CONTEXT_SOLVERS[spec.task].code if spec.task else PLAIN,)
    return {file for code in codes if code.prompts for file in code.prompts.files_for(setting, spec)}


SOLVERS = (
    Solver(
        "base",
        "Base",
        ask_as_it_is,
        (*(solver.code for solver in rows("context_solvers", ContextSolver)), PLAIN),
        plan_as_it_is,
        question_types=prompted_types(),
        by_task=True,
        words="the item with the prompt of its question type, or of its task where its context is long",
    ),
)
