"""The calls about a conversation: their prompts, and what each is shown, from its visible part alone (AttuneBench 1.0).

One thread runs through a conversation: draft and review of every turn, with a placeholder where the model's answer would stand.
No call to the model under test rests on an answer, so all of them are known beforehand. Its drafts are judged in threads of their
own.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from schemas.base import Frozen
from schemas.chat import ChatMessage
from tasks.benchmarks.attunebench.conversation import POST, ReplyLabel, VisibleConversation, VisibleTurn, part_of
from tasks.solvers.prompts import PROMPTS, PromptFolder, Template, Text

NEUTRAL = ("X", "Y", "Z")
PORT_LABELS = {"original": "original", "alternate": "alternate1", "human": "alternate2"}

_json = json.JSONEncoder(ensure_ascii=False).encode

Form = Mapping[str, Any]
"""What the object of an answer looks like: by key a description in place of the value."""


class CallTexts(Template):
    """Blocks of all calls about a conversation, and the forms of their answers."""

    version: str = Field(min_length=1, description="bumped with every change of a text")
    max_tokens: int = Field(ge=1, description="longest reply of the embedded model, in its tokens")
    forms: Mapping[str, Form] = Field(description="by call")
    reasoning: Mapping[str, Form] = Field(description="by call, what the verbose modes ask for besides")
    system: Text
    omniscient: Text
    known: Annotated[Text, "profile"]
    totals: Annotated[Text, "positive", "negative"]
    placeholder: Text
    form: Annotated[Text, "form"]
    draft: Annotated[Text, "number", "message"]
    review: Annotated[Text, "number", "message", "reply", "adjectives"]
    questions: Annotated[Text, "questions"]
    no_questions: Text
    hp_binary: Annotated[Text, "questions"]
    pairwise: Annotated[Text, "message", "replies"]
    reply: Annotated[Text, "name", "text"]
    compare: Annotated[Text, "comparisons"]
    comparison: Annotated[Text, "number", "question", "a", "b"]
    post: Text
    items: Annotated[Text, "adjectives"]
    changes: Annotated[Text, "adjectives"]
    wide: Annotated[Text, "q1", "q2", "q3"]
    free: Text
    chosen: Annotated[Text, "follow_up"]
    branches: Annotated[Text, "branches"]
    judge_system: Text
    judge: Annotated[Text, "message", "draft"]
    judge_edit: Annotated[Text, "human"]
    judge_questions: Annotated[Text, "questions"]


class AnnotatePrompts(PromptFolder):
    """All texts that annotations are asked for with."""

    folder = PROMPTS / "annotate"

    calls: CallTexts


class AnnotateOptions(Frozen):
    """Parameters of the setting."""

    mode: Literal["default", "verbose", "omniscient", "verbose_omniscient"] = Field(
        default="default", description="adds reasons to draft and review (verbose), profile and mood before (omniscient)"
    )
    strategy: Literal["absolute", "delta", "blind_delta"] = Field(
        default="absolute", description="mood afterwards: its items, their changes, or these without the sums from before"
    )
    labels: Literal["neutral", "port"] = Field(
        default="neutral", description="names of compared replies: X, Y, Z, by turn; or original, alternate1, alternate2"
    )


class PlannedCall(NamedTuple):
    """A call, by the part whose answer it gives."""

    part: str
    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True)
class Threads:
    """The threads about one conversation."""

    shown: VisibleConversation
    own: AnnotateOptions = field(default_factory=AnnotateOptions)
    texts: CallTexts = field(default_factory=lambda: AnnotatePrompts.load().calls)

    def plan(self) -> Iterator[PlannedCall]:
        """Yield the calls to the model under test in order: up to four per turn, and one about the whole.

        There is no `hp_binary` where no question applies, and no `pairwise` where nothing is compared.
        """
        texts, omniscient = self.texts, self.own.mode.endswith("omniscient")
        elided = ChatMessage(role="assistant", content=texts.placeholder)
        system = "\n".join((texts.system, *((texts.omniscient,) if omniscient else ())))
        thread = [ChatMessage(role="system", content=system)]
        profile = [texts.known.format(profile=_json(self.shown.profile))] if self.shown.profile else []
        known = [*profile, *self._totals()] if omniscient else []
        for turn in self.shown.turns:
            for call, asked in (("draft", self._draft(turn, known)), ("review", self._review(turn))):
                thread.append(asked)
                yield PlannedCall(part_of(call, turn.number), tuple(thread))
                thread.append(elided)
            known = []
            if turn.questions:
                again = texts.hp_binary.format(questions=self._questions(turn, "participant"))
                yield PlannedCall(part_of("hp_binary", turn.number), (*thread, self._ask(texts.forms["hp_binary"], again)))
            if turn.comparisons:
                yield PlannedCall(part_of("pairwise", turn.number), (*thread, self._pairwise(turn)))
        yield PlannedCall(part_of(POST), (*thread, self._post()))

    def plan_judge(self, turn: VisibleTurn, draft: str) -> PlannedCall:
        """Return the call that judges a draft: it sees the message, the draft and the participant's own edit, nothing else."""
        texts, human, form = self.texts, turn.alternates.get("human"), self.texts.forms["judge"]
        blocks = [texts.judge.format(message=turn.user_message, draft=draft)]
        if human is not None:
            blocks.append(texts.judge_edit.format(human=human))
            form = {**texts.forms["judge_edit"], **form}
        if turn.questions:
            blocks.append(texts.judge_questions.format(questions=self._questions(turn, "observer")))
        system = ChatMessage(role="system", content=texts.judge_system)
        return PlannedCall(part_of("judge", turn.number), (system, self._ask(form, *blocks)))

    def names(self, turn: VisibleTurn) -> dict[ReplyLabel, str]:
        """Return what the replies of a turn are called, in the order in which they are shown.

        Neutral names follow from conversation and turn, so that all models read the same.
        """
        replies: list[ReplyLabel] = ["original", *turn.alternates]
        if self.own.labels == "port":
            return {label: PORT_LABELS[label] for label in replies}
        seeds = {label: f"{self.shown.conversation_id}/{turn.number}/{label}".encode() for label in replies}
        return dict(zip(sorted(replies, key=lambda label: sha256(seeds[label]).digest()), NEUTRAL, strict=False))

    def _draft(self, turn: VisibleTurn, known: list[str]) -> ChatMessage:
        asked = self.texts.draft.format(number=turn.number, message=turn.user_message)
        return self._ask(self._form("draft"), *known, asked)

    def _review(self, turn: VisibleTurn) -> ChatMessage:
        texts, adjectives = self.texts, ", ".join(self.shown.codebook.adjectives)
        asked = texts.review.format(number=turn.number, message=turn.user_message, reply=turn.model_reply, adjectives=adjectives)
        listed = texts.questions.format(questions=self._questions(turn, "observer")) if turn.questions else texts.no_questions
        return self._ask(self._form("review"), asked, listed)

    def _pairwise(self, turn: VisibleTurn) -> ChatMessage:
        texts, names, wordings = self.texts, self.names(turn), self.shown.codebook.pairwise
        replies = "\n".join(texts.reply.format(name=name, text=turn.reply(label)) for label, name in names.items())
        lines = (
            texts.comparison.format(
                number=number, question=wordings.get(one.question, one.question), a=names[one.label_a], b=names[one.label_b]
            )
            for number, one in enumerate(turn.comparisons)
        )
        asked = texts.pairwise.format(message=turn.user_message, replies=replies)
        return self._ask(texts.forms["pairwise"], asked, texts.compare.format(comparisons="\n".join(lines)))

    def _post(self) -> ChatMessage:
        texts, book, absolute = self.texts, self.shown.codebook, self.own.strategy == "absolute"
        before = [] if self.own.strategy == "blind_delta" else self._totals()
        mood = (texts.items if absolute else texts.changes).format(adjectives=", ".join(book.adjectives))
        options = {f"q{number}": _json(getattr(book, f"q{number}_options")) for number in (1, 2, 3)}
        off = texts.chosen.format(follow_up=_json(book.follow_up_options)) if book.follow_up_options else texts.free
        wide = (texts.wide.format(**options), off, texts.branches.format(branches=_lines(book.branches.items())))
        key, value = ("post_panas", "1 to 7") if absolute else ("panas_changes", "-6 to 6")
        form = {key: dict.fromkeys(book.adjectives, value), **texts.forms["post"]}
        return self._ask(form, texts.post, *before, mood, "\n".join(wide))

    def _totals(self) -> list[str]:
        """Return what is said of the mood before; nothing where the person did not say it."""
        totals = self.shown.pre_panas.model_dump()
        return [] if None in totals.values() else [self.texts.totals.format(**totals)]

    def _questions(self, turn: VisibleTurn, stance: Literal["observer", "participant"]) -> str:
        known = self.shown.codebook.questions
        return _lines((name, getattr(known[name], stance) if name in known else name) for name in turn.questions)

    def _form(self, call: str) -> Form:
        reasons = self.texts.reasoning[call] if self.own.mode.startswith("verbose") else {}
        return {**reasons, **self.texts.forms[call]}

    def _ask(self, form: Form, *blocks: str) -> ChatMessage:
        return ChatMessage(role="user", content="\n\n".join((*blocks, self.texts.form.format(form=_json(form)))))


def _lines(named: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{name}: {text}" for name, text in named)
