"""Question types: one row each. All that follows from the form of its answer is said once per form.

The forms have their rows elsewhere, since what they do needs more than names: how a reply is read and a right one written in
`tasks.metrics.answer_forms`, how an answer is explained in `tasks.runs.answers`. A test walks all of them.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator

from schemas.benchmark import Rows, require_name
from schemas.metrics import METRICS, Metric

AnswerForm = Literal["letter", "letters", "ranking", "order", "scale", "label", "index", "text"]
"""What a reply holds, and with it where the gold of an item is.

By letter: `letter` one option, `letters` several, `ranking` the relevant ones first, `order` all in true order; `scale` one that
earns points (`option_points`). By value: `label` the text of one option, `index` the number of one segment. These have
`gold_indices`, but for `scale`. `text`: words, compared with `references` where there are any, or rated.
"""


@dataclass(frozen=True)
class QuestionTypeRow:
    """What is known of a question type.

    `metrics`: those that can score it, besides those whose rows name it.
    `has_references`: an item is invalid without. `reference_names`: of what each of them is
    about, in their order, where they are no alternatives. `has_prompt`: base asks it by `data/prompts/<name>.yaml`; else a solver
    with prompts of its own does.
    """

    name: str
    answer: AnswerForm
    metrics: tuple[Metric, ...]
    has_references: bool = False
    reference_names: tuple[str, ...] = ()
    has_prompt: bool = True


RATED = ("judged_rating", "mean_rating")
_OVERLAP = ("rouge_1", "rouge_l", "bleu")
_WORDS = ("exact_match", "token_f1", "word_recall", *_OVERLAP)
_TRUTHFUL = ("truthful_rouge_l", "truthful_bleu", "truthful_similarity")
_LABELS = ("accuracy", "macro_f1", "micro_f1")

GENERAL = (
    QuestionTypeRow("single_choice", "letter", (*_LABELS, "binary_f1", "bias_score_ambiguous", "bias_score_disambiguated")),
    QuestionTypeRow("multiple_answer", "letters", (*_LABELS, "exact_match")),
    # Accuracy is exact match here: exams mix questions with options and without.
    QuestionTypeRow("extractive", "text", ("accuracy", *_WORDS), has_references=True),
    QuestionTypeRow("open_ended", "text", (*_WORDS, *_TRUTHFUL, *RATED), has_references=True),
    QuestionTypeRow("ordered_recall", "order", ("order_accuracy",)),
    QuestionTypeRow("ranking", "ranking", ("language_model_score", "stereotype_score", "icat", "recall_at_k", "mrr")),
    QuestionTypeRow("questionnaire", "scale", ("questionnaire_points",)),
    QuestionTypeRow("judged_summary", "text", (*_OVERLAP, *RATED), has_references=True),
)

QUESTION_TYPES = Rows("question_types", QuestionTypeRow)
"""In the order in which rows of a table are sorted: new ones come last."""


QuestionType = Annotated[str, AfterValidator(partial(require_name, registry=QUESTION_TYPES))]
"""Names are checked where data is read, so that a row is all that a new one needs."""


def answered_by(*forms: AnswerForm) -> list[QuestionType]:
    """List the question types whose answers have one of these forms."""
    return [name for name, row in QUESTION_TYPES.items() if row.answer in forms]


def suited_metrics(question_type: QuestionType) -> tuple[Metric, ...]:
    """Return the metrics that can score items of a type."""
    of_type = QUESTION_TYPES[question_type].metrics
    return tuple(name for name, row in METRICS.items() if name in of_type or question_type in row.question_types)


def suited_types(metric: Metric) -> list[QuestionType]:
    """List the question types whose items a metric can score."""
    own = METRICS[metric].question_types
    return sorted(name for name, row in QUESTION_TYPES.items() if metric in row.metrics or name in own)
