"""The settings: how each asks items, whom it needs besides the model under test, and what it needs of the items."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.usage import Role
from schemas.vocabulary import Setting
from tasks.solvers.base import direct
from tasks.solvers.longemotion.solve import solve
from tasks.solvers.prompts import load_prompts
from tasks.solvers.state import AskedItem, Solve, SolverOptions, SolverOutput, SolverResources, state_answer


@dataclass(frozen=True)
class Solver:
    """How items are asked in one setting.

    Attributes:
        setting: its name.
        solve: asks one item.
        roles: helpers; where a plan names none, the model under test plays them itself.
        retrieves: whether it ranks chunks of the item's context; its items then need one that was built for them.
        asks_again: whether it may ask more often than a forecast with invented replies does.
    """

    setting: Setting
    solve: Solve
    roles: tuple[Role, ...] = ()
    retrieves: bool = True
    asks_again: bool = False


async def ask_as_it_is(asked: AskedItem, options: SolverOptions, resources: SolverResources, repetition: int) -> SolverOutput:
    """Ask with the prompt of the question type; an item with a context built for it as its task asks."""
    if asked.context is not None:
        return await solve(asked, options, resources, repetition)
    tested = resources.roles["tested"]
    calls = (await direct(asked.item, tested.entry, load_prompts(), tested.chat, repetition),)
    return SolverOutput(calls, state_answer(calls))


SOLVERS: Mapping[Setting, Solver] = {
    solver.setting: solver
    for solver in (
        Solver("base", ask_as_it_is, retrieves=False),
        Solver("rag", solve),
        Solver("coem", solve, roles=("sage",)),
        Solver("self_rag", solve, roles=("critic",), asks_again=True),
        Solver("search_o1", solve, asks_again=True),
        Solver("retrieve_only", solve),
    )
}
"""One row per setting."""
