"""Setting `role_play`: a seeker, who plays the person of a card, and the model under test talk in turns (ESC-Eval, section 4).

The seeker sees instruction and card as system message, then a greeting that it answers. The model under test sees the seeker's
lines as user messages and its own replies, nothing else: no card, no greeting and no system message, so that it is asked as its
own users ask it. (In the released code a line is put there that calls it a helpful assistant.)
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.chat import ChatMessage
from schemas.usage import TESTED, Role
from tasks.solvers.prompts import PROMPTS, Plain, PromptFile, PromptFolder, Template, Text
from tasks.solvers.registry import Solver
from tasks.solvers.state import (
    Answer,
    AskedItem,
    Call,
    DialogueTurn,
    SolverCode,
    SolverOptions,
    SolverOutput,
    SolverResources,
    says_something,
    state_answer,
)

SEEKER = "seeker"
QUESTION_TYPE = "role_play"

Variant = Literal["zero_shot", "cot", "icl", "cot_icl"]
"""What the seeker is told besides its part and its card: a plan for its messages (CoT), an example of a talk (ICL)."""

BLOCKS: Mapping[Variant, tuple[str, ...]] = {
    "zero_shot": ("role", "card"),
    "cot": ("role", "plan", "card"),
    "icl": ("role", "example", "card"),
    "cot_icl": ("role", "plan", "example", "card"),
}
"""In this order: what all cards share comes first, so that a server has it in its cache."""


class SeekerTemplate(Template):
    """Blocks of the instruction, and the greeting that it is met with."""

    role: Plain
    plan: Annotated[Text, "turns"]
    example: Plain
    card: Annotated[Text, "card"]
    greeting: Plain

    def instruction(self, variant: Variant, card: str, turns: int) -> str:
        """Return the instruction; a blank line stands between its blocks."""
        filled = {"plan": self.plan.format(turns=turns), "card": self.card.format(card=card)}
        return "\n\n".join(filled.get(name) or getattr(self, name) for name in BLOCKS[variant])


class RolePlayPrompts(PromptFolder):
    """All texts that the role play asks with."""

    folder = PROMPTS / "role_play"

    seeker: PromptFile[SeekerTemplate]


CODE = SolverCode("2", RolePlayPrompts)
"""Bumped when the two are asked otherwise, or a line is read otherwise; prompt texts carry their own hash."""

SEEDS = 2**31
"""Below this every server takes a seed."""


class RolePlayOptions(Frozen):
    """Parameters of the setting."""

    turns: int = Field(default=5, ge=1, le=20, description="times each side speaks; 5 in the paper")
    variant: Variant = Field(
        default="cot", description="what the seeker is told beyond its card: nothing, a plan (cot), an example (icl) or both"
    )
    repeat_temperature: float = Field(
        default=0.7, gt=0, le=2, description="temperature of the seeker for repeated items (--repeat), if its own is 0"
    )


async def play(
    asked_item: AskedItem, options: SolverOptions[RolePlayOptions], resources: SolverResources, repetition: int
) -> SolverOutput:
    """Let the two talk about one card.

    A call that fails ends the talk without an answer; so does a line of the seeker without words, which is the seeker's failure.
    A seeker that takes leave before the last turn gets its reply, and the talk ends there with fewer turns: small talk made up
    after a goodbye would be rated as if it were support. Such a line has the step `goodbye` in `responses`, where it is counted.
    UsageError: the item is no role card.
    """
    own, prompts = options.own, RolePlayPrompts.load(options.prompts).seeker
    card = asked_item.require_context("role_play", QUESTION_TYPE, "role card")
    template, limit = prompts.template(asked_item.item.language), prompts.max_tokens
    instruction = template.instruction(own.variant, card, own.turns)
    opening = (ChatMessage(role="system", content=instruction), ChatMessage(role="user", content=template.greeting))
    calls: list[Call] = []
    turns: list[DialogueTurn] = []
    for number in range(1, own.turns + 1):
        step, drawing = f"turn {number}", draw_lines(asked_item, own, resources, repetition, number)
        line = _require_words(await drawing.ask(SEEKER, step, (*opening, *as_seen_by(SEEKER, turns)), limit, repetition))
        leaves = number < own.turns and says_goodbye(line.reply.text or "")
        calls.append(line._replace(step="goodbye") if leaves else line)
        if line.reply.failure is None:
            turns.append(DialogueTurn.of(line, number))
            calls.append(await resources.ask(TESTED, step, as_seen_by(TESTED, turns), limit, repetition))
        if calls[-1].reply.failure is not None:
            return SolverOutput(tuple(calls), state_answer(calls))
        turns.append(DialogueTurn.of(calls[-1], number))
        if leaves:
            break
    return SolverOutput(tuple(calls), (Answer(tuple(calls), turns=tuple(turns)),))


def as_seen_by(role: Role, turns: Sequence[DialogueTurn]) -> tuple[ChatMessage, ...]:
    """Return a dialogue as one of the two sees it: its own words are the assistant's."""
    return tuple(ChatMessage(role="assistant" if turn.speaker == role else "user", content=turn.text) for turn in turns)


def draw_lines(
    asked_item: AskedItem, own: RolePlayOptions, resources: SolverResources, repetition: int, number: int
) -> SolverResources:
    """Return the resources with the seeker as it is sampled in one turn.

    At temperature 0, the default of an entry, all tested models hear the same first line. From the second repetition on the
    seeker draws, so that the dialogue differs. A draw has a seed that follows from card, repetition and turn (and the seed of its
    entry): it is the same for all tested models.
    """
    sampling = resources.roles[SEEKER].entry.sampling
    temperature = sampling.temperature or (own.repeat_temperature if repetition else 0.0)
    if not temperature:
        return resources
    drawn = sha256(f"{sampling.seed or 0}/{asked_item.item_id}/{repetition}/{number}".encode()).digest()
    return resources.sampled(SEEKER, temperature=temperature, seed=int.from_bytes(drawn[:8]) % SEEDS)


def _require_words(line: Call) -> Call:
    """Return the seeker's line, as a failed call if nobody could answer it: no letter, digit or Chinese character."""
    text = line.reply.text or ""
    if line.reply.failure is not None or says_something(text):
        return line
    return line._replace(reply=replace(line.reply, text=None, failure="empty_content", error=f"a line without words: {text!r}"))


_SENTENCE = re.compile(r"[^.!?。！？~～…\n]+[.!?。！？~～…]*")
_COMMA = re.compile(r"[,，]\s*")
_ENDS = " \t\r.!。！~～…"
_FAREWELL = re.compile(
    r"(?:(?:ok|okay|well|so|thanks|thank you|and|then) )?"
    r"(?:good ?bye|bye[- ]?bye|bye|good ?night|farewell|see you|until next time|talk to you (?:later|soon)|talk (?:later|soon)"
    r"|i(?: have|'ve got| need| should| must| gotta|'d better)(?: to)? (?:go|run) now)(?: (?:then|now|for now|later|soon))?"
    r"|(?:那|那么|那就|先)?(?:再见|拜拜|回见|回头见|下次见|改天见|(?:下次|下回|改天|回头)再聊|晚安|先?聊到这[里儿]?|我先下)[了啦吧咯哈哦喽]?",
    re.IGNORECASE,
)
"""A clause, whole: what is reported of a farewell, in quotes or after other words, is none."""

_COURTESY = re.compile(
    r"(?:ok|okay|well|all ?right|anyway|so|oh|好的?|好吧|嗯+|行|那)$"
    r"|(?:thank|have an? |take care|wish you|all the best|you too|谢谢|多谢|感谢|祝)",
    re.IGNORECASE,
)
"""A clause, or its beginning, that may stand beside a farewell."""


def says_goodbye(text: str) -> bool:
    """Return whether a line ends with a farewell in a sentence of its own, with no more than thanks or wishes in and after it.

    Thanks and good wishes alone are none: people say them in the middle of a talk, too. A farewell that is missed costs nothing,
    one that is wrongly found ends a talk.
    """
    for sentence in reversed(_SENTENCE.findall(text.replace("’", "'"))):
        clauses = [clause for clause in _COMMA.split(sentence.strip(_ENDS)) if clause]
        farewells = [clause for clause in clauses if _FAREWELL.fullmatch(clause)]
        if any(not _COURTESY.match(clause) for clause in clauses if clause not in farewells):
            return False
        if farewells:
            return True
    return False


SOLVERS = (
    Solver(
        "role_play",
        "Role play",
        play,
        (CODE,),
        options=RolePlayOptions,
        roles={SEEKER: "plays the person of a role card (role play)"},
        question_types=(QUESTION_TYPE,),
        words="what a person who seeks support says, whom another model plays by a role card",
    ),
)
