"""The prompts of the annotations: `data/prompts/annotate`, one file per call and one for what all calls share; in English."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tasks.solvers.prompts import PROMPTS, PromptFolder, Template, Text

Form = Mapping[str, Any]
"""What the object of an answer looks like: by key a description in place of the value."""


class ThreadTexts(Template):
    """What all calls about a conversation share."""

    version: str = Field(min_length=1, description="bumped with every change of a text")
    system: Text
    omniscient: Text
    known: Annotated[Text, "profile", "positive", "negative"]
    placeholder: Text
    form: Annotated[Text, "form"]

    def asking(self, form: Form, *blocks: str) -> str:
        """Return blocks and the form of the answer, a blank line between them."""
        return "\n\n".join((*blocks, self.form.format(form=json.dumps(form, ensure_ascii=False))))


class CallTexts(Template):
    """Blocks of one call, and the form of its answer."""

    version: str = Field(min_length=1, description="bumped with every change of a text")
    max_tokens: int = Field(ge=1, description="longest reply of the embedded model, in its tokens")
    form: Form
    reasoning: Form = Field(default_factory=dict, description="what the verbose modes ask for besides, before it")


class DraftTexts(CallTexts):
    """A reply of the model's own."""

    ask: Annotated[Text, "number", "message"]


class DraftJudgeTexts(CallTexts):
    """Ratings of a draft."""

    system: Text
    ask: Annotated[Text, "message", "draft"]
    compare: Annotated[Text, "human"]
    questions: Annotated[Text, "questions"]
    ratings: Form


class ReviewTexts(CallTexts):
    """Moods and judgements of a turn."""

    ask: Annotated[Text, "number", "message", "reply", "adjectives"]
    questions: Annotated[Text, "questions"]
    no_questions: Text


class BinaryTexts(CallTexts):
    """The judgements again, as they were put to the participant."""

    ask: Annotated[Text, "questions"]


class PairwiseTexts(CallTexts):
    """Comparisons of replies."""

    ask: Annotated[Text, "message", "replies"]
    text: Annotated[Text, "name", "text"]
    compare: Annotated[Text, "comparisons"]
    comparison: Annotated[Text, "number", "question", "a", "b"]


class PostTexts(CallTexts):
    """The conversation as a whole."""

    opening: Text
    totals: Annotated[Text, "positive", "negative"]
    items: Annotated[Text, "adjectives"]
    changes: Annotated[Text, "adjectives"]
    wide: Annotated[Text, "q1", "q2", "q3"]
    free: Text
    chosen: Annotated[Text, "follow_up"]
    branches: Annotated[Text, "branches"]


class AnnotatePrompts(PromptFolder):
    """All texts that annotations are asked for with."""

    folder = PROMPTS / "annotate"

    thread: ThreadTexts
    draft: DraftTexts
    judge: DraftJudgeTexts
    review: ReviewTexts
    hp_binary: BinaryTexts
    pairwise: PairwiseTexts
    post: PostTexts
