"""Setting `annotate`: the model under test infers what a person noted about a conversation, call by call (AttuneBench 1.0).

One thread runs through a conversation: draft and review of every turn, with a placeholder where the model's answer would stand.
No call to the model under test depends on an answer, so all of them are known beforehand and shown the visible part alone. Its
drafts are judged in threads of their own. A reply is kept as it came: its JSON is read when it is scored, and no call is repeated
because its reply cannot be read.
"""

import json
from asyncio import gather
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from schemas.base import Frozen
from schemas.chat import ChatMessage
from schemas.usage import TESTED
from tasks.benchmarks.attunebench.conversation import POST, ReplyLabel, VisibleConversation, VisibleTurn, part_of
from tasks.solvers.prompts import PROMPTS, Plain, PromptFolder, Template, Text
from tasks.solvers.registry import Solver
from tasks.solvers.state import AskedItem, Call, SolverCode, SolverOptions, SolverOutput, SolverResources, state_answer
from tasks.text.replies import read_object, strip_reasoning

SETTING, DRAFT_JUDGE, QUESTION_TYPE = "annotate", "draft_judge", "annotation"
NEUTRAL = ("X", "Y", "Z")
PORT_LABELS = {"original": "original", "alternate": "alternate1", "human": "alternate2"}

_json = json.JSONEncoder(ensure_ascii=False).encode

Form = Mapping[str, Any]
"""What the object of an answer looks like: by key a description in place of the value."""


class CallTexts(Template):
    """Blocks of all calls about a conversation, and the forms of their answers."""

    version: str = Field(min_length=1, description="increased with every change of a text")
    max_tokens: int = Field(ge=1, description="longest reply of the embedded model, in its tokens")
    forms: Mapping[str, Form] = Field(description="by call")
    reasoning: Mapping[str, Form] = Field(description="by call, what the verbose modes also ask for")
    system: Plain
    omniscient: Plain
    known: Annotated[Text, "profile"]
    totals: Annotated[Text, "positive", "negative"]
    placeholder: Plain
    form: Annotated[Text, "form"]
    draft: Annotated[Text, "number", "message"]
    review: Annotated[Text, "number", "message", "reply", "adjectives"]
    questions: Annotated[Text, "questions"]
    no_questions: Plain
    hp_binary: Annotated[Text, "questions"]
    pairwise: Annotated[Text, "message", "replies"]
    reply: Annotated[Text, "name", "text"]
    compare: Annotated[Text, "comparisons"]
    comparison: Annotated[Text, "number", "question", "a", "b"]
    post: Plain
    items: Annotated[Text, "adjectives"]
    changes: Annotated[Text, "adjectives"]
    wide: Annotated[Text, "q1", "q2", "q3"]
    free: Plain
    chosen: Annotated[Text, "follow_up"]
    branches: Annotated[Text, "branches"]
    judge_system: Plain
    judge: Annotated[Text, "message", "draft"]
    judge_edit: Annotated[Text, "human"]
    judge_questions: Annotated[Text, "questions"]


class AnnotatePrompts(PromptFolder):
    """All texts that annotations are asked for with."""

    folder = PROMPTS / SETTING

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

    conversation: VisibleConversation
    options: AnnotateOptions = field(default_factory=AnnotateOptions)
    texts: CallTexts = field(default_factory=lambda: AnnotatePrompts.load().calls)

    def plan(self) -> Iterator[PlannedCall]:
        """Yield the calls to the model under test in order: up to four per turn, and one about the whole.

        There is no `hp_binary` where no question applies, and no `pairwise` where nothing is compared.
        """
        texts, omniscient = self.texts, self.options.mode.endswith("omniscient")
        elided = ChatMessage(role="assistant", content=texts.placeholder)
        system = "\n".join((texts.system, *((texts.omniscient,) if omniscient else ())))
        thread = [ChatMessage(role="system", content=system)]
        profile = self.conversation.profile
        background = [texts.known.format(profile=_json(profile))] if omniscient and profile else []
        background += self._totals() if omniscient else []
        for turn in self.conversation.turns:
            text = texts.draft.format(number=turn.number, message=turn.user_message)
            draft = self._ask(self._form("draft"), *background, text)
            for call, message in (("draft", draft), ("review", self._review(turn))):
                thread.append(message)
                yield PlannedCall(part_of(call, turn.number), tuple(thread))
                thread.append(elided)
            background = []
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
        labels: list[ReplyLabel] = ["original", *turn.alternates]
        if self.options.labels == "port":
            return {label: PORT_LABELS[label] for label in labels}
        seeds = {label: f"{self.conversation.conversation_id}/{turn.number}/{label}".encode() for label in labels}
        return dict(zip(sorted(labels, key=lambda label: sha256(seeds[label]).digest()), NEUTRAL, strict=False))

    def _review(self, turn: VisibleTurn) -> ChatMessage:
        texts, adjectives = self.texts, ", ".join(self.conversation.codebook.adjectives)
        review = texts.review.format(number=turn.number, message=turn.user_message, reply=turn.model_reply, adjectives=adjectives)
        questions = texts.questions.format(questions=self._questions(turn, "observer")) if turn.questions else texts.no_questions
        return self._ask(self._form("review"), review, questions)

    def _pairwise(self, turn: VisibleTurn) -> ChatMessage:
        texts, names, wordings = self.texts, self.names(turn), self.conversation.codebook.pairwise
        replies = "\n".join(texts.reply.format(name=name, text=turn.reply(label)) for label, name in names.items())
        lines = (
            texts.comparison.format(
                number=number,
                question=wordings.get(comparison.question, comparison.question),
                a=names[comparison.label_a],
                b=names[comparison.label_b],
            )
            for number, comparison in enumerate(turn.comparisons)
        )
        pairwise = texts.pairwise.format(message=turn.user_message, replies=replies)
        return self._ask(texts.forms["pairwise"], pairwise, texts.compare.format(comparisons="\n".join(lines)))

    def _post(self) -> ChatMessage:
        texts, book, absolute = self.texts, self.conversation.codebook, self.options.strategy == "absolute"
        before = [] if self.options.strategy == "blind_delta" else self._totals()
        mood = (texts.items if absolute else texts.changes).format(adjectives=", ".join(book.adjectives))
        choices = {f"q{number}": _json(getattr(book, f"q{number}_options")) for number in (1, 2, 3)}
        off = texts.chosen.format(follow_up=_json(book.follow_up_options)) if book.follow_up_options else texts.free
        wide = (texts.wide.format(**choices), off, texts.branches.format(branches=_lines(book.branches.items())))
        key, value = ("post_panas", "1 to 7") if absolute else ("panas_changes", "-6 to 6")
        form = {key: dict.fromkeys(book.adjectives, value), **texts.forms["post"]}
        return self._ask(form, texts.post, *before, mood, "\n".join(wide))

    def _totals(self) -> list[str]:
        """Return what is shown of the mood before; nothing where the person did not state it."""
        totals = self.conversation.pre_panas.model_dump()
        return [] if None in totals.values() else [self.texts.totals.format(**totals)]

    def _questions(self, turn: VisibleTurn, stance: Literal["observer", "participant"]) -> str:
        wordings = self.conversation.codebook.questions
        return _lines((name, getattr(wordings[name], stance) if name in wordings else name) for name in turn.questions)

    def _form(self, call: str) -> Form:
        reasons = self.texts.reasoning[call] if self.options.mode.startswith("verbose") else {}
        return {**reasons, **self.texts.forms[call]}

    def _ask(self, form: Form, *blocks: str) -> ChatMessage:
        return ChatMessage(role="user", content="\n\n".join((*blocks, self.texts.form.format(form=_json(form)))))


def _lines(texts_by_name: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{name}: {text}" for name, text in texts_by_name)


async def annotate(
    item: AskedItem, options: SolverOptions[AnnotateOptions], resources: SolverResources, repetition: int
) -> SolverOutput:
    """Send all calls about one conversation at the same time; only a judge waits for the draft that it judges.

    A call that fails costs its own part of the answers, that of a draft also its judge's; the others go on. A judge's calls
    count no repetition: equal drafts are judged once. UsageError: the item is no annotated conversation.
    """
    context = item.require_context(SETTING, QUESTION_TYPE, "conversation")
    threads = Threads(VisibleConversation.model_validate_json(context), options.own, AnnotatePrompts.load(options.prompts).calls)
    limit, judged = threads.texts.max_tokens, threads.conversation.turns if DRAFT_JUDGE in resources.roles else ()
    drafts = {part_of("draft", turn.number): turn for turn in judged if turn.questions or "human" in turn.alternates}

    async def ask(planned: PlannedCall) -> list[tuple[str, Call]]:
        call = await resources.ask(TESTED, planned.part, planned.messages, limit, repetition)
        return [(planned.part, call), *([await judge(drafts[call.step], call)] if call.step in drafts else [])]

    async def judge(turn: VisibleTurn, draft: Call) -> tuple[str, Call]:
        if draft.reply.failure is not None:
            return part_of("judge", turn.number), draft
        planned = threads.plan_judge(turn, read_draft(draft.reply.text or ""))
        return planned.part, await resources.ask(DRAFT_JUDGE, planned.part, planned.messages, limit)

    parts = [part for calls in await gather(*map(ask, threads.plan())) for part in calls]
    answers = tuple(answer for part, call in parts for answer in state_answer([call], part))
    return SolverOutput(tuple(call for part, call in parts if call.step == part), answers)


def read_draft(reply: str) -> str:
    """Return the draft in a reply; if the reply is not in the form that was asked for, all of it but thoughts."""
    draft = (read_object(reply) or {}).get("drafted_response")
    return draft if isinstance(draft, str) else strip_reasoning(reply)


SOLVERS = (
    Solver(
        SETTING,
        "Annotate",
        annotate,
        (SolverCode("2", AnnotatePrompts),),  # bumped when something else is asked or recorded
        options=AnnotateOptions,
        roles={DRAFT_JUDGE: "judges the replies that the model under test drafts (annotate)"},
        optional=frozenset({DRAFT_JUDGE}),
        question_types=(QUESTION_TYPE,),
        words="a conversation turn by turn; it says what the person felt and wanted, drafts replies and compares some",
    ),
)
