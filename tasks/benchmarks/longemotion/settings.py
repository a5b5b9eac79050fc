"""The settings of LongEmotion: Base asks its tasks; RAG, CoEM, Self-RAG and Search-o1 retrieve from the context first."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from schemas.vocabulary import ContextTask
from tasks.benchmarks.longemotion.solvers.emotion_expression import join_steps
from tasks.benchmarks.longemotion.solvers.parameters import FAMILIES, PLAIN_STAGES
from tasks.benchmarks.longemotion.solvers.prompts import LongEmotionPrompts
from tasks.benchmarks.longemotion.solvers.rag import FAVOURABLE
from tasks.benchmarks.longemotion.solvers.solve import CODE, plan, solve
from tasks.solvers.registry import ContextSolver, Solver, setting_title
from tasks.solvers.state import NoOptions
from tasks.text.number_format import listed


def longest_reply(task: ContextTask) -> int:
    """Return the longest reply of the embedded model to a task, in its tokens."""
    return int(getattr(LongEmotionPrompts.load(), FAMILIES[task]).max_tokens)


def remark_on_plain_stages(tasks: Collection[ContextTask], settings: Sequence[str]) -> Iterator[str]:
    """Say that early stages of a conversation are asked plainly, so that gains there say nothing."""
    retrieving = [setting_title(setting) for setting in settings if setting not in {"base", "retrieve_only"}]
    if retrieving and PLAIN_STAGES & set(tasks):
        yield (
            f"In the first three stages of emotion conversation nothing is retrieved with {listed(retrieving)}: their items are "
            "asked as with Base, and gains there say nothing."
        )


def _retrieving(setting: str, title: str, **more: Any) -> Solver[NoOptions]:
    return Solver(setting, title, solve, (CODE,), plan, retrieves=True, **more)


SOLVERS = (
    _retrieving("rag", "RAG"),
    _retrieving("coem", "CoEM", roles={"sage": "enriches retrieved chunks (CoEM)"}),
    _retrieving("self_rag", "Self-RAG", roles={"critic": "says which retrieved chunks help (Self-RAG)"}, invented=FAVOURABLE),
    _retrieving("search_o1", "Search-o1", asks_again=True),
    _retrieving("retrieve_only", "Retrieved only"),
)
CONTEXT_SOLVERS = (
    ContextSolver(
        tuple(FAMILIES),
        solve,
        CODE,
        plan,
        longest_reply,
        joins={"emotion_expression": join_steps},
        demanded_tokens={"ee": 3000},
        remarks=remark_on_plain_stages,
    ),
)
