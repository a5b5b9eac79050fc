"""From an item and what was gathered for it to the messages that ask it; emotion expression is a conversation of its own.

The text comes first and what differs between settings after it, since prompts that begin alike share what a server has in its
cache.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from schemas.api_capabilities import USUAL_DIALECT
from schemas.chat import ChatMessage, ChatRequest
from tasks.solvers.base import Call
from tasks.solvers.longemotion.prompts import ContextTemplate, RetrievingTemplate
from tasks.solvers.longemotion.state import Gathered, RoleModel, SolverState

Helper = Literal["sage", "critic"]


def say(system: str, *blocks: str) -> tuple[ChatMessage, ...]:
    """A system message and a user message; a blank line stands between its blocks."""
    return (ChatMessage(role="system", content=system), ChatMessage(role="user", content="\n\n".join(blocks)))


async def ask(player: RoleModel, messages: Sequence[ChatMessage], limit: int, repetition: int = 0) -> Call:
    """Ask a model.

    Args:
        player: the model in its role.
        messages: the conversation.
        limit: longest reply of the embedded model, which rambles on; any other model has the limit of its entry.
        repetition: number of the call among equal ones. Helpers do not count the item's, so that what they say is asked for once.
    """
    entry = player.entry
    sampling = entry.sampling
    if entry.base_url is None:
        sampling = sampling.model_copy(update={"max_tokens": min(limit, sampling.max_tokens)})
    request = ChatRequest(
        model=entry.name,
        identity=entry.identity,
        messages=tuple(messages),
        sampling=sampling,
        repetition=repetition,
        dialect=entry.dialect or USUAL_DIALECT,
    )
    return Call(request, await player.chat(request))


def blame(call: Call, helper: Helper) -> Call:
    """A helper's failed call as the last of a transcript: its error says whose it is."""
    error = f"{helper}: {call.reply.error or call.reply.failure}"
    return call._replace(reply=replace(call.reply, error=error), of_helper=True)


def first_failed(calls: Sequence[Call]) -> Call | None:
    """The first call that failed; null if all were answered."""
    return next((call for call in calls if call.reply.failure is not None), None)


def present(scene: SolverState, gathered: Sequence[Gathered] = ()) -> tuple[ChatMessage, ...]:
    """The messages that ask an item.

    Args:
        scene: the item and its setting.
        gathered: what its queries brought; without pieces, nothing is said of them.
    """
    if scene.family == "mc":
        blocks = _dialogue_blocks(scene, gathered)
    elif scene.family == "ed":
        blocks = _segment_blocks(scene, gathered)
    else:
        blocks = _context_blocks(scene, gathered)
    template: RetrievingTemplate = getattr(scene.prompts, scene.family).template(scene.language)
    if scene.how.setting != "search_o1" or not scene.parameters.retrieves:
        return say(template.system, *blocks)
    how_to_search = scene.prompts.search.template(scene.language).system
    searches = how_to_search.format(searches=scene.how.options.most_searches)
    return say(f"{template.system}\n\n{searches}", *blocks)


def number_texts(texts: Sequence[str]) -> str:
    """Texts with their numbers, the first being 1; a blank line stands between them."""
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))


def show_segment(index: int, text: str, note: str | None = None) -> str:
    """A segment as one line of JSON."""
    shown: dict[str, int | str] = {"index": index, "context": text}
    if note is not None:
        shown["note"] = note
    return json.dumps(shown, ensure_ascii=False)


def show_gathered(scene: SolverState, template: RetrievingTemplate, gathered: Sequence[Gathered]) -> list[str]:
    """The block of all pieces, grouped under their headings; none if there are no pieces."""
    groups = []
    for group in gathered:
        if group.pieces:
            heading = f"## {group.heading}\n" if group.heading else ""
            groups.append(heading + number_texts([piece.text for piece in group.pieces]))
    form = template.excerpts if scene.how.setting == "retrieve_only" else template.retrieved
    return [form.format(pieces="\n\n".join(groups))] if groups else []


def _context_blocks(scene: SolverState, gathered: Sequence[Gathered]) -> list[str]:
    template: ContextTemplate = getattr(scene.prompts, scene.family).template(scene.language)
    item = scene.item
    # Of choices, which are comma-joined as published, the template of EC alone has a field.
    question = template.question.format(question=item.question, options=", ".join(item.options or ()))
    whole = [] if scene.how.setting == "retrieve_only" else [template.context.format(context=item.context or "")]
    return [*whole, *show_gathered(scene, template, gathered), question, template.instruction]


def _segment_blocks(scene: SolverState, gathered: Sequence[Gathered]) -> list[str]:
    template = scene.prompts.ed.template(scene.language)
    segments = scene.item.options or ()
    pieces = [piece for group in gathered for piece in group.pieces]
    shown = "\n".join(show_segment(piece.chunk.number, piece.chunk.text, piece.note) for piece in pieces)
    rest = [template.question.format(question=scene.item.question), template.instruction]
    if scene.how.setting == "retrieve_only":
        return [template.excerpts.format(count=len(segments), shown=len(pieces), pieces=shown), *rest]
    lines = "\n".join(show_segment(index, text) for index, text in enumerate(segments))
    retrieved = [template.retrieved.format(pieces=shown)] if pieces else []
    return [template.segments.format(count=len(segments), segments=lines), *retrieved, *rest]


def _dialogue_blocks(scene: SolverState, gathered: Sequence[Gathered]) -> list[str]:
    template = scene.prompts.mc.template(scene.language)
    history, messages = scene.item.context, scene.item.question
    if not scene.gathers:
        dialogue = f"{history}\n{messages}" if history else messages
        return [template.dialogue.format(dialogue=dialogue), template.instruction]
    with_history = history and scene.how.setting != "retrieve_only"
    return [
        *([template.history.format(history=history)] if with_history else []),
        *show_gathered(scene, template, gathered),
        *(template.knowledge.format(knowledge=group.knowledge) for group in gathered if group.knowledge),
        template.last_messages.format(messages=messages),
        template.instruction,
    ]
