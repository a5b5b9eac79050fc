"""Ask a conversation in setting `annotate` without a server: requests by part, and answers."""

from collections.abc import Mapping
from typing import Any

from schemas.chat import ChatReply, ChatRequest
from schemas.item import Record
from tasks.benchmarks.attunebench.annotate import AnnotateOptions, annotate
from tasks.benchmarks.attunebench.datasets.conversations import conversation_item, join_conversations
from tasks.solvers.state import AskedItem, SolverOptions, SolverOutput, SolverResources
from tests.tasks.benchmarks.longemotion.solvers.scripted_roles import Answer, ScriptedModel

OWN_WORDS = "These are my own words."


def speak(request: ChatRequest) -> ChatReply:  # noqa: ARG001  the same reply to every request
    return ChatReply(text=f'{{"drafted_response": "{OWN_WORDS}"}}')


def annotated(fields: Mapping[str, Any]) -> AskedItem:
    """Return the item of a record, with the options of the codebook."""
    (record,) = join_conversations([Record(fields, "conversation_1.json", 0)], own_options=True)
    item = conversation_item(record)
    return AskedItem(str(item.item_id), item)


async def ask(
    fields: Mapping[str, Any],
    own: AnnotateOptions | None = None,
    answer: Answer = speak,
    judge: Answer | None = speak,
) -> SolverOutput:
    """Ask everything about a conversation; without a judge its role is not there."""
    models = {"tested": ScriptedModel(answer)} | ({"draft_judge": ScriptedModel(judge, "judge")} if judge else {})
    resources = SolverResources({role: model.role_model() for role, model in models.items()})
    return await annotate(annotated(fields), SolverOptions("annotate", own=own or AnnotateOptions()), resources, 0)


def last_messages(output: SolverOutput) -> dict[str, str]:
    """Return the last message of each call, by part."""
    return {call.step: call.request.messages[-1].content for call in output.calls}
