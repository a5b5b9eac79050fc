"""Question types of LongEmotion, each asked by its own prompts."""

from schemas.question_types import RATED, QuestionTypeRow

ASPECTS = ("causes", "symptoms", "treatment_process", "characteristics_of_illness", "treatment_effect")
"""What a counselling report is summarised by, in the order of an item's references; keys of the reply. Section 3."""

_NAMED = ("accuracy", "strict_accuracy")

QUESTION_TYPES = (
    QuestionTypeRow("label_choice", "label", _NAMED, has_prompt=False),
    QuestionTypeRow("odd_one_out", "index", _NAMED, has_prompt=False),
    QuestionTypeRow("aspect_summary", "text", RATED, has_references=True, reference_names=ASPECTS, has_prompt=False),
    QuestionTypeRow("counselor_reply", "text", RATED, has_prompt=False),
    QuestionTypeRow("emotion_expression", "text", RATED, has_prompt=False),
)
