"""The calls about a conversation: what each of them is shown, from its visible part alone (AttuneBench 1.0).

One thread runs through a conversation: draft and review of every turn, with a placeholder where the model's answer would stand.
No call to the model under test rests on an answer, so all of them are known beforehand. Its drafts are judged in threads of their
own.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from pydantic import Field

from schemas.attunebench import POST, PanasTotals, ReplyLabel, VisibleConversation, VisibleTurn, part_of
from schemas.base import Frozen
from schemas.chat import ChatMessage
from tasks.solvers.annotate.prompts import AnnotatePrompts, CallTexts, Form

NEUTRAL = ("X", "Y", "Z")
PORT_LABELS = {"original": "original", "alternate": "alternate1", "human": "alternate2"}


class AnnotateOptions(Frozen):
    """Parameters of the setting."""

    mode: Literal["default", "verbose", "omniscient", "verbose_omniscient"] = Field(
        default="default",
        description="what is added: reasons in draft and review (verbose), profile and mood before the conversation (omniscient)",
    )
    strategy: Literal["absolute", "delta", "blind_delta"] = Field(
        default="absolute",
        description="how the mood afterwards is asked for: its items, their changes, or these without the sums from before",
    )
    labels: Literal["neutral", "port"] = Field(
        default="neutral",
        description="names of compared replies: X, Y, Z in an order that differs by turn; or those of the public port, "
        "which say which is the original",
    )

    @property
    def verbose(self) -> bool:
        """Whether reasons are asked for."""
        return self.mode.startswith("verbose")

    @property
    def omniscient(self) -> bool:
        """Whether the profile is shown."""
        return self.mode.endswith("omniscient")


class PlannedCall(NamedTuple):
    """A call by the part whose answer it gives; `limit`: longest reply of the embedded model."""

    part: str
    messages: tuple[ChatMessage, ...]
    limit: int


def plan_calls(shown: VisibleConversation, own: AnnotateOptions) -> Iterator[PlannedCall]:
    """Yield the calls to the model under test in order: up to four per turn, and one about the whole.

    There is no `hp_binary` where no question applies, and no `pairwise` where nothing is compared.
    """
    prompts = AnnotatePrompts.load()
    elided = ChatMessage(role="assistant", content=prompts.thread.placeholder)
    thread = [ChatMessage(role="system", content=_system(prompts, own))]

    def plan(call: str, turn: int | None, texts: CallTexts, asked: str) -> PlannedCall:
        return PlannedCall(part_of(call, turn), (*thread, _user(asked)), texts.max_tokens)

    for place, turn in enumerate(shown.turns):
        known = (_known(prompts, shown),) if own.omniscient and place == 0 else ()
        kept = {"draft": _draft(prompts, turn, own, known), "review": _review(prompts, shown, turn, own)}
        for call, asked in kept.items():
            yield plan(call, turn.number, getattr(prompts, call), asked)
            thread += [_user(asked), elided]
        if turn.questions:
            yield plan("hp_binary", turn.number, prompts.hp_binary, _hp_binary(prompts, shown, turn))
        if turn.comparisons:
            yield plan("pairwise", turn.number, prompts.pairwise, _pairwise(prompts, shown, turn, own))
    yield plan(POST, None, prompts.post, _post(prompts, shown, own))


def plan_judge(shown: VisibleConversation, turn: VisibleTurn, draft: str) -> PlannedCall:
    """Return the call that judges a draft: it sees the message, the draft and the participant's own edit, and nothing else."""
    prompts = AnnotatePrompts.load()
    texts, human = prompts.judge, turn.alternates.get("human")
    blocks = [texts.ask.format(message=turn.user_message, draft=draft)]
    if human is not None:
        blocks.append(texts.compare.format(human=human))
    if turn.questions:
        blocks.append(texts.questions.format(questions=_questions(shown, turn, "observer")))
    form = {**(texts.ratings if human is not None else {}), **texts.form}
    messages = (ChatMessage(role="system", content=texts.system), _user(prompts.thread.asking(form, *blocks)))
    return PlannedCall(part_of("judge", turn.number), messages, texts.max_tokens)


def reply_names(shown: VisibleConversation, turn: VisibleTurn, labels: str) -> dict[ReplyLabel, str]:
    """Return what the replies of a turn are called, in the order in which they are shown.

    Neutral names follow from conversation and turn, so that all models read the same.
    """
    replies: list[ReplyLabel] = ["original", *turn.alternates]
    if labels == "port":
        return {label: PORT_LABELS[label] for label in replies}
    drawn = sorted(replies, key=lambda label: sha256(f"{shown.conversation_id}/{turn.number}/{label}".encode()).digest())
    return dict(zip(drawn, NEUTRAL, strict=False))


def _user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def _system(prompts: AnnotatePrompts, own: AnnotateOptions) -> str:
    return "\n".join((prompts.thread.system, *((prompts.thread.omniscient,) if own.omniscient else ())))


def _known(prompts: AnnotatePrompts, shown: VisibleConversation) -> str:
    return prompts.thread.known.format(profile=_json(shown.profile), **_sums(shown.pre_panas))


def _draft(prompts: AnnotatePrompts, turn: VisibleTurn, own: AnnotateOptions, known: Sequence[str]) -> str:
    asked = prompts.draft.ask.format(number=turn.number, message=turn.user_message)
    return prompts.thread.asking(_form(prompts.draft, own), *known, asked)


def _review(prompts: AnnotatePrompts, shown: VisibleConversation, turn: VisibleTurn, own: AnnotateOptions) -> str:
    texts, adjectives = prompts.review, ", ".join(shown.codebook.adjectives)
    asked = texts.ask.format(number=turn.number, message=turn.user_message, reply=turn.model_reply, adjectives=adjectives)
    listed = texts.questions.format(questions=_questions(shown, turn, "observer")) if turn.questions else texts.no_questions
    return prompts.thread.asking(_form(texts, own), asked, listed)


def _hp_binary(prompts: AnnotatePrompts, shown: VisibleConversation, turn: VisibleTurn) -> str:
    texts = prompts.hp_binary
    return prompts.thread.asking(texts.form, texts.ask.format(questions=_questions(shown, turn, "participant")))


def _pairwise(prompts: AnnotatePrompts, shown: VisibleConversation, turn: VisibleTurn, own: AnnotateOptions) -> str:
    texts, names, wordings = prompts.pairwise, reply_names(shown, turn, own.labels), shown.codebook.pairwise
    replies = "\n".join(texts.text.format(name=name, text=turn.reply(label)) for label, name in names.items())
    lines = (
        texts.comparison.format(
            number=number, question=wordings.get(one.question, one.question), a=names[one.label_a], b=names[one.label_b]
        )
        for number, one in enumerate(turn.comparisons)
    )
    asked = texts.ask.format(message=turn.user_message, replies=replies)
    return prompts.thread.asking(texts.form, asked, texts.compare.format(comparisons="\n".join(lines)))


def _post(prompts: AnnotatePrompts, shown: VisibleConversation, own: AnnotateOptions) -> str:
    texts, book, absolute = prompts.post, shown.codebook, own.strategy == "absolute"
    mood = (texts.items if absolute else texts.changes).format(adjectives=", ".join(book.adjectives))
    off = texts.chosen.format(follow_up=_json(book.follow_up_options)) if book.follow_up_options else texts.free
    options = {f"q{number}": _json(getattr(book, f"q{number}_options")) for number in (1, 2, 3)}
    branches = texts.branches.format(branches=_lines(book.branches.items()))
    blocks = [texts.opening, mood, "\n".join((texts.wide.format(**options), off, branches))]
    if own.strategy != "blind_delta":
        blocks.insert(1, texts.totals.format(**_sums(shown.pre_panas)))
    key, value = ("post_panas", "1 to 7") if absolute else ("panas_changes", "-6 to 6")
    return prompts.thread.asking({key: dict.fromkeys(book.adjectives, value), **texts.form}, *blocks)


def _form(texts: CallTexts, own: AnnotateOptions) -> Form:
    return {**(texts.reasoning if own.verbose else {}), **texts.form}


def _questions(shown: VisibleConversation, turn: VisibleTurn, stance: Literal["observer", "participant"]) -> str:
    known = shown.codebook.questions
    return _lines((name, getattr(known[name], stance) if name in known else name) for name in turn.questions)


def _lines(named: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{name}: {text}" for name, text in named)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _sums(totals: PanasTotals) -> dict[str, int]:
    return totals.model_dump()
