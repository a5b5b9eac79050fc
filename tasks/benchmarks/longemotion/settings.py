"""The settings of LongEmotion: Base asks its tasks; RAG, CoEM, Self-RAG and Search-o1 retrieve from the context first."""

from typing import Any

from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.solvers.emotion_expression import join_steps
from tasks.benchmarks.longemotion.solvers.parameters import FAMILIES
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tasks.benchmarks.longemotion.solvers.rag import FAVOURABLE
from tasks.benchmarks.longemotion.solvers.solve import CODE, plan, solve
from tasks.solvers.solver import ContextSolver, Solver


def longest_reply(task: ContextTask) -> int:
    """Return the longest reply of the embedded model to a task, in its tokens."""
    return int(getattr(LongEmotionPrompts.load(), FAMILIES[task]).max_tokens)


def _retrieving(setting: str, title: str, **more: Any) -> Solver:
    return Solver(setting, title, solve, (CODE,), plan, retrieves=True, **more)


SOLVERS = (
    _retrieving("rag", "RAG"),
    _retrieving("coem", "CoEM", roles={"sage": "enriches retrieved chunks (CoEM)"}),
    _retrieving("self_rag", "Self-RAG", roles={"critic": "says which retrieved chunks help (Self-RAG)"}, invented=FAVOURABLE),
    _retrieving("search_o1", "Search-o1", asks_again=True),
    _retrieving("retrieve_only", "Retrieved only"),
)
CONTEXT_SOLVERS = (ContextSolver(tuple(FAMILIES), solve, CODE, plan, longest_reply, {"emotion_expression": join_steps}),)
