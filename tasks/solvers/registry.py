"""The settings: how each asks items, whom it needs besides the model under test, and what it needs of the items."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from schemas.errors import UsageError
from schemas.roles import JUDGES
from schemas.usage import Role
from schemas.vocabulary import Setting
from tasks.solvers.base import direct
from tasks.solvers.longemotion.self_rag import FAVOURABLE
from tasks.solvers.longemotion.solve import solve
from tasks.solvers.prompts import Prompts
from tasks.solvers.state import AskedItem, Solve, SolverOptions, SolverOutput, SolverResources, state_answer


@dataclass(frozen=True)
class Solver:
    """How items are asked in one setting.

    Attributes:
        setting: its name.
        solve: asks one item.
        roles: helpers, and what each does; where a plan names none, the model under test plays them itself.
        retrieves: whether it ranks chunks of the item's context; its items then need one that was built for them.
        asks_again: whether it may ask more often than a forecast with invented replies does.
        invented: what a forecast has helpers reply, where a text of usual length would lead to other calls.
    """

    setting: Setting
    solve: Solve
    roles: Mapping[Role, str] = field(default_factory=dict)
    retrieves: bool = True
    asks_again: bool = False
    invented: str | None = None


async def ask_as_it_is(asked: AskedItem, options: SolverOptions, resources: SolverResources, repetition: int) -> SolverOutput:
    """Ask with the prompt of the question type; an item with a context built for it as its task asks."""
    if asked.context is not None:
        return await solve(asked, options, resources, repetition)
    tested = resources.roles["tested"]
    calls = (await direct(asked.item, tested.entry, Prompts.load(), tested.chat, repetition),)
    return SolverOutput(calls, state_answer(calls))


SOLVERS: Mapping[Setting, Solver] = {
    solver.setting: solver
    for solver in (
        Solver("base", ask_as_it_is, retrieves=False),
        Solver("rag", solve),
        Solver("coem", solve, {"sage": "enriches retrieved chunks (CoEM)"}),
        Solver(
            "self_rag", solve, {"critic": "says which retrieved chunks help (Self-RAG)"}, asks_again=True, invented=FAVOURABLE
        ),
        Solver("search_o1", solve, asks_again=True),
        Solver("retrieve_only", solve),
    )
}
"""One row per setting."""


def helper_roles(settings: Iterable[str] = SOLVERS) -> dict[Role, str]:
    """Return the helpers that settings need, by default any of them, with what each does."""
    known = [SOLVERS[setting] for setting in SOLVERS if setting in settings]
    return {role: does for solver in known for role, does in solver.roles.items()}


def require_role(role: str, where: str) -> None:
    """Refuse a role that neither judges nor belongs to a setting.

    Raises:
        UsageError: naming the nearest one.
    """
    if role not in (known := (*JUDGES, *helper_roles())):
        nearest = get_close_matches(role, known, n=1, cutoff=0.4)
        step = f"did you mean {nearest[0]}?" if nearest else "for example --role judge=NAME@URL"
        raise UsageError(f"there is no role {role}", where=where, expected=f"one of {', '.join(known)}", got=role, next_step=step)
