"""Setting `annotate`: the model under test infers what a person noted about a conversation, call by call (AttuneBench 1.0).

A reply is kept as it came: its JSON is read when it is scored, and nobody is asked again for a readable one.
"""

from asyncio import gather

from schemas.usage import TESTED
from tasks.benchmarks.attunebench.annotate.threads import AnnotateOptions, AnnotatePrompts, PlannedCall, Threads
from tasks.benchmarks.attunebench.conversation import VisibleConversation, VisibleTurn, part_of
from tasks.solvers.base import Call
from tasks.solvers.solver import Solver
from tasks.solvers.state import AskedItem, SolverCode, SolverOptions, SolverOutput, SolverResources, state_answer
from tasks.text.json_objects import read_object
from tasks.text.reasoning import strip_reasoning

DRAFT_JUDGE = "draft_judge"
QUESTION_TYPE = "annotation"
CODE = SolverCode("2", AnnotatePrompts)
"""Bumped when something else is asked or recorded; prompt texts carry their own hash."""


async def annotate(
    asked: AskedItem, options: SolverOptions[AnnotateOptions], resources: SolverResources, repetition: int
) -> SolverOutput:
    """Ask everything about one conversation side by side; only a judge waits for the draft that it judges.

    A call that fails costs its own part of the answers, that of a draft also its judge's; the others go on. Who judges drafts
    counts no repetition: equal drafts are judged once.

    Raises:
        UsageError: the item is no annotated conversation.
    """
    shown = VisibleConversation.model_validate_json(asked.require_context("annotate", QUESTION_TYPE, "conversation"))
    threads = Threads(shown, options.own, AnnotatePrompts.load(options.prompts).calls)
    limit, judged = threads.texts.max_tokens, shown.turns if DRAFT_JUDGE in resources.roles else ()
    drafts = {part_of("draft", turn.number): turn for turn in judged if turn.questions or "human" in turn.alternates}

    async def ask(planned: PlannedCall) -> list[tuple[str, Call]]:
        call = await resources.ask(TESTED, planned.part, planned.messages, limit, repetition)
        return [(planned.part, call), *([await judge(drafts[call.step], call)] if call.step in drafts else [])]

    async def judge(turn: VisibleTurn, draft: Call) -> tuple[str, Call]:
        if draft.reply.failure is not None:
            return part_of("judge", turn.number), draft
        planned = threads.plan_judge(turn, read_draft(draft.reply.text or ""))
        return planned.part, await resources.ask(DRAFT_JUDGE, planned.part, planned.messages, limit)

    made = await gather(*[ask(planned) for planned in threads.plan()])
    parts = [part for of_call in made for part in of_call]
    answers = tuple(answer for part, call in parts for answer in state_answer([call], part))
    return SolverOutput(tuple(call for part, call in parts if call.step == part), answers)


def read_draft(reply: str) -> str:
    """Return the draft in a reply; of one that is not in the form that was asked for, all of it but thoughts."""
    draft = (read_object(reply) or {}).get("drafted_response")
    return draft if isinstance(draft, str) else strip_reasoning(reply)


SOLVERS = (
    Solver(
        "annotate",
        "Annotate",
        annotate,
        (CODE,),
        options=AnnotateOptions,
        roles={DRAFT_JUDGE: "judges the replies that the model under test drafts (annotate)"},
        optional=frozenset({DRAFT_JUDGE}),
        question_types=(QUESTION_TYPE,),
    ),
)
