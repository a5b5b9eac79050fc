"""Load the prompts of long items: `data/prompts/longemotion`, one file per task and one per helper.

Texts are our own; what each of them asks for follows LongEmotion. A block either has exactly the fields its type names, or none:
then it is sent as it stands, so that it may hold braces.
"""

import re
from functools import cache
from pathlib import Path
from string import Formatter
from typing import ClassVar, Self

from pydantic import Field, model_validator

from schemas.base import Frozen
from schemas.context import ASPECTS
from tasks.lake.fingerprint import hash_settings
from tasks.solvers.prompts import PROMPTS, PromptFile, Text, read_prompt_files

LONG_PROMPTS = PROMPTS / "longemotion"
STEPS = 5
"""Steps of emotion expression, besides the ratings before them."""

PLACEHOLDER = re.compile(r"\{[a-z_]*\}")


class Template(Frozen):
    """Blocks of text in one language; `FIELDS` names the blocks that hold fields, and which, in order."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {}

    @model_validator(mode="after")
    def _each_block_has_its_fields(self) -> Self:
        for name in type(self).model_fields:
            if isinstance(text := getattr(self, name), str):
                _require_fields(name, text, self.FIELDS.get(name, ()))
        return self


def _require_fields(name: str, text: str, expected: tuple[str, ...]) -> None:
    if expected:
        found = tuple(field for _, field, _, _ in Formatter().parse(text) if field is not None)
    else:
        found = tuple(match[0] for match in PLACEHOLDER.finditer(text))
    if found != expected:
        raise ValueError(f"{name}: expected the fields {list(expected)}, in this order, got {list(found)} in {text!r}")


class RetrievingTemplate(Template):
    """What all tasks have: system message, what was retrieved beside the text and in its place, the form of the reply."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {"retrieved": ("pieces",), "excerpts": ("pieces",)}

    system: Text
    retrieved: Text
    excerpts: Text


class ContextTemplate(RetrievingTemplate):
    """A question about a text: QA."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **RetrievingTemplate.FIELDS,
        "context": ("context",),
        "question": ("question",),
    }

    context: Text
    question: Text
    instruction: Text


class ChoiceTemplate(ContextTemplate):
    """EC: the question has choices."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {**ContextTemplate.FIELDS, "question": ("question", "options")}


class Aspect(Template):
    """One aspect of a report: the heading of its pieces, and what ranks them."""

    heading: Text
    query: Text


class SummaryTemplate(ContextTemplate):
    """ES: each aspect retrieves on its own."""

    aspects: dict[str, Aspect]

    @model_validator(mode="after")
    def _all_aspects_are_there(self) -> Self:
        if tuple(self.aspects) != ASPECTS:
            raise ValueError(f"expected the aspects {', '.join(ASPECTS)}, in this order, got {', '.join(self.aspects)}")
        return self


class SegmentsTemplate(RetrievingTemplate):
    """ED: a list of segments."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **RetrievingTemplate.FIELDS,
        "segments": ("count", "segments"),
        "excerpts": ("count", "shown", "pieces"),
        "question": ("question",),
    }

    segments: Text
    question: Text
    instruction: Text


class DialogueTemplate(RetrievingTemplate):
    """MC: the dialogue as a whole, or its last messages apart from the rest."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **RetrievingTemplate.FIELDS,
        "dialogue": ("dialogue",),
        "history": ("history",),
        "knowledge": ("knowledge",),
        "last_messages": ("messages",),
    }

    dialogue: Text
    history: Text
    knowledge: Text
    last_messages: Text
    instruction: Text


class Step(Template):
    """One step of emotion expression; its text is also the query of its retrieval."""

    title: Text
    text: Text


class ExpressionTemplate(RetrievingTemplate):
    """EE: ratings, then steps."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **RetrievingTemplate.FIELDS,
        "situation": ("situation",),
        "task": ("question",),
        "ratings": ("adjectives",),
        "step": ("text", "title"),
    }

    situation: Text
    task: Text
    ratings: Text
    step: Text
    length_demand: Text
    steps: tuple[Step, ...] = Field(min_length=STEPS, max_length=STEPS)


class SageTemplate(Template):
    """What the Sage is asked; a pack is a chunk with what it wrote about it."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "pack": ("text", "note"),
        "ec_emobench": ("piece",),
        "ec_finentity": ("subject", "piece"),
        "ed": ("piece",),
        "qa": ("question", "piece"),
        "es": ("aspect", "question", "piece"),
        "mc": ("pieces", "messages"),
        "ee": ("piece",),
    }

    system: Text
    pack: Text
    ec_emobench: Text
    ec_finentity: Text
    ed: Text
    qa: Text
    es: Text
    mc: Text
    ee: Text


class CriticTemplate(Template):
    """What the critic is asked; `ask` holds the instruction of the task."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "pack": ("text", "note"),
        "ask": ("instruction", "paragraph"),
        **dict.fromkeys(("ec", "qa", "es", "mc", "ee"), ("question",)),
    }

    system: Text
    pack: Text
    ask: Text
    ec: Text
    ed: Text
    qa: Text
    es: Text
    mc: Text
    ee: Text


class SearchTemplate(Template):
    """What a model that may search is told: at first, after each search, after the last one."""

    FIELDS: ClassVar[dict[str, tuple[str, ...]]] = {
        "system": ("searches",),
        "step": ("searches",),
        "results": ("left",),
        "results_step": ("left",),
    }

    system: Text
    step: Text
    results: Text
    last_results: Text
    results_step: Text
    last_results_step: Text
    repeated: Text


class LongPrompts(Frozen):
    """All texts that long items are asked with."""

    ec: PromptFile[ChoiceTemplate]
    ed: PromptFile[SegmentsTemplate]
    qa: PromptFile[ContextTemplate]
    es: PromptFile[SummaryTemplate]
    mc: PromptFile[DialogueTemplate]
    ee: PromptFile[ExpressionTemplate]
    sage: PromptFile[SageTemplate]
    critic: PromptFile[CriticTemplate]
    search: PromptFile[SearchTemplate]

    @property
    def sha256(self) -> str:
        """Hash of all texts, versions and limits; comments in the files do not count."""
        return hash_settings(self.model_dump(mode="json"))


@cache
def load_long_prompts(folder: Path = LONG_PROMPTS) -> LongPrompts:
    """Read all texts.

    Raises:
        UsageError: if a file is missing, is not YAML, or lacks a text or one of its fields.
    """
    return read_prompt_files(folder, tuple(LongPrompts.model_fields), LongPrompts.model_validate)
