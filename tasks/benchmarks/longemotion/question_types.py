"""Question types of LongEmotion, each asked by its own prompts."""

from schemas.context import ASPECTS
from schemas.question_types import RATED, QuestionTypeRow

_NAMED = ("accuracy", "strict_accuracy")

QUESTION_TYPES = (
    QuestionTypeRow("label_choice", "label", _NAMED, has_prompt=False),
    QuestionTypeRow("odd_one_out", "index", _NAMED, has_prompt=False),
    QuestionTypeRow("aspect_summary", "text", RATED, has_references=True, reference_names=ASPECTS, has_prompt=False),
    QuestionTypeRow("counselor_reply", "text", RATED, has_prompt=False),
    QuestionTypeRow("emotion_expression", "text", RATED, has_prompt=False),
)
