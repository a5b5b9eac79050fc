"""The prompts of LongEmotion: `data/prompts/longemotion`, one file per task and one per helper; texts of our own."""

from collections.abc import Collection
from typing import Annotated, Self

from pydantic import Field, model_validator

from schemas.dataset import DatasetSpec
from tasks.benchmarks.longemotion.benchmark import ASPECTS
from tasks.benchmarks.longemotion.solvers.parameters import FAMILIES
from tasks.solvers.prompts import PROMPTS, Plain, PromptFile, PromptFolder, Template, Text

STEPS = 5
"""Steps of emotion expression, besides the ratings before them."""


class RetrievingTemplate(Template):
    """What all tasks have: system message, what was retrieved beside the text and in its place, the form of the reply."""

    system: Plain
    retrieved: Annotated[Text, "pieces"]
    excerpts: Annotated[Text, "pieces"]


class ContextTemplate(RetrievingTemplate):
    """A question about a text: QA."""

    context: Annotated[Text, "context"]
    question: Annotated[Text, "question"]
    instruction: Plain


class ChoiceTemplate(ContextTemplate):
    """EC: the question has choices."""

    question: Annotated[Text, "question", "options"]


class Aspect(Template):
    """One aspect of a report: the heading of its pieces, and what ranks them."""

    heading: Plain
    query: Plain


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

    excerpts: Annotated[Text, "count", "shown", "pieces"]
    segments: Annotated[Text, "count", "segments"]
    question: Annotated[Text, "question"]
    instruction: Plain


class DialogueTemplate(RetrievingTemplate):
    """MC: the dialogue as a whole, or its last messages apart from the rest."""

    dialogue: Annotated[Text, "dialogue"]
    history: Annotated[Text, "history"]
    knowledge: Annotated[Text, "knowledge"]
    last_messages: Annotated[Text, "messages"]
    instruction: Plain


class Step(Template):
    """One step of emotion expression; its text is also the query of its retrieval."""

    title: Plain
    text: Plain


class ExpressionTemplate(RetrievingTemplate):
    """EE: ratings, then steps."""

    situation: Annotated[Text, "situation"]
    task: Annotated[Text, "question"]
    ratings: Annotated[Text, "adjectives"]
    step: Annotated[Text, "text", "title"]
    length_demand: Plain
    steps: tuple[Step, ...] = Field(min_length=STEPS, max_length=STEPS)


class SageTemplate(Template):
    """What the Sage is asked; a pack is a chunk with what it wrote about it."""

    system: Plain
    pack: Annotated[Text, "text", "note"]
    ec_emobench: Annotated[Text, "piece"]
    ec_finentity: Annotated[Text, "subject", "piece"]
    ed: Annotated[Text, "piece"]
    qa: Annotated[Text, "question", "piece"]
    es: Annotated[Text, "aspect", "question", "piece"]
    mc: Annotated[Text, "pieces", "messages"]
    ee: Annotated[Text, "piece"]


class CriticTemplate(Template):
    """What the critic is asked; `ask` holds the instruction of the task."""

    system: Plain
    pack: Annotated[Text, "text", "note"]
    ask: Annotated[Text, "instruction", "paragraph"]
    ec: Annotated[Text, "question"]
    ed: Plain
    qa: Annotated[Text, "question"]
    es: Annotated[Text, "question"]
    mc: Annotated[Text, "question"]
    ee: Annotated[Text, "question"]


class SearchTemplate(Template):
    """What a model that may search is told: at first, after each search, after the last one."""

    system: Annotated[Text, "searches"]
    step: Annotated[Text, "searches"]
    results: Annotated[Text, "left"]
    last_results: Plain
    results_step: Annotated[Text, "left"]
    last_results_step: Plain
    repeated: Plain


class LongEmotionPrompts(PromptFolder):
    """All texts that LongEmotion asks with."""

    folder = PROMPTS / "longemotion"

    ec: PromptFile[ChoiceTemplate]
    ed: PromptFile[SegmentsTemplate]
    qa: PromptFile[ContextTemplate]
    es: PromptFile[SummaryTemplate]
    mc: PromptFile[DialogueTemplate]
    ee: PromptFile[ExpressionTemplate]
    sage: PromptFile[SageTemplate]
    critic: PromptFile[CriticTemplate]
    search: PromptFile[SearchTemplate]

    @classmethod
    def files_for(cls, setting: str, spec: DatasetSpec) -> Collection[str]:
        """Return that of the task, and that of the setting's helper."""
        helpers = {"coem": "sage", "self_rag": "critic", "search_o1": "search"}
        read = {FAMILIES.get(spec.task) if spec.task else None, helpers.get(setting)}
        return {file for file, name in cls.files().items() if name in read}
