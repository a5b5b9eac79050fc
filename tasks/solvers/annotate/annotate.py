"""Setting `annotate`: the model under test infers what a person noted about a conversation, call by call (AttuneBench 1.0).

A reply is kept as it came: its JSON is read when it is scored, and nobody is asked again for a readable one.
"""

from asyncio import gather
from dataclasses import replace

from schemas.attunebench import VisibleConversation, VisibleTurn, part_of
from schemas.errors import UsageError
from schemas.usage import TESTED
from tasks.solvers.annotate.prompts import AnnotatePrompts
from tasks.solvers.annotate.threads import AnnotateOptions, PlannedCall, plan_calls, plan_judge
from tasks.solvers.base import Call
from tasks.solvers.state import (
    AskedItem,
    SolverCode,
    SolverOptions,
    SolverOutput,
    SolverResources,
    state_answer,
)
from tasks.text.json_objects import read_object

DRAFT_JUDGE = "draft_judge"
QUESTION_TYPE = "annotation"
CODE = SolverCode("1", AnnotatePrompts)
"""Bumped when something else is asked or recorded; prompt texts carry their own hash."""


async def annotate(asked: AskedItem, options: SolverOptions, resources: SolverResources, repetition: int) -> SolverOutput:
    """Ask everything about one conversation side by side; only a judge waits for the draft that it judges.

    A call that fails costs its own part of the answers, that of a draft also its judge's; the others go on. Who judges drafts
    counts no repetition: equal drafts are judged once.

    Raises:
        UsageError: the item is no annotated conversation.
    """
    own = options.own if isinstance(options.own, AnnotateOptions) else AnnotateOptions()
    shown = read_conversation(asked)
    turns = {part_of("draft", turn.number): turn for turn in shown.turns} if DRAFT_JUDGE in resources.roles else {}

    async def ask(planned: PlannedCall) -> list[tuple[str, Call]]:
        call = await resources.ask(TESTED, planned.part, planned.messages, planned.limit, repetition)
        turn = turns.get(planned.part)
        return [(planned.part, call), *([await judge(turn, call)] if turn and _is_judged(turn) else [])]

    async def judge(turn: VisibleTurn, draft: Call) -> tuple[str, Call]:
        if draft.reply.failure is not None:
            return part_of("judge", turn.number), draft
        planned = plan_judge(shown, turn, read_draft(draft.reply.text or ""))
        return planned.part, await resources.ask(DRAFT_JUDGE, planned.part, planned.messages, planned.limit)

    asking = [ask(planned) for planned in plan_calls(shown, own)]
    parts = [part for made in await gather(*asking) for part in made]
    answers = tuple(replace(state_answer([call])[0], part=part) for part, call in parts)
    return SolverOutput(tuple(call for part, call in parts if call.step == part), answers)


def read_conversation(asked: AskedItem) -> VisibleConversation:
    """Return what may be shown of an item.

    Raises:
        UsageError: the item is no annotated conversation.
    """
    item = asked.item
    if item.question_type != QUESTION_TYPE or not item.context:
        raise UsageError(
            "an item has no conversation whose annotations could be inferred",
            where=f"--settings annotate, item {asked.item_id}",
            expected=f"question_type {QUESTION_TYPE}, the conversation as its context",
            got=item.question_type if item.context else f"{item.question_type} without context",
            next_step="name datasets of annotated conversations, or ask these in another setting",
        )
    return VisibleConversation.model_validate_json(item.context)


def read_draft(reply: str) -> str:
    """Return the draft in a reply; the whole of a reply that is not in the form that was asked for."""
    draft = (read_object(reply) or {}).get("drafted_response")
    return draft if isinstance(draft, str) else reply


def _is_judged(turn: VisibleTurn) -> bool:
    return bool(turn.questions or "human" in turn.alternates)
