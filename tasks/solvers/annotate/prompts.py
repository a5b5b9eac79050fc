"""The prompts of the annotations, in English: `data/prompts/annotate/calls.yaml`."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tasks.solvers.prompts import PROMPTS, PromptFolder, Template, Text

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
