"""Metrics that LongEmotion's released code has otherwise than other benchmarks."""

from tasks.metrics.general import by_reference
from tasks.metrics.measures import set_equality
from tasks.metrics.metric import Metric
from tasks.metrics.texts import qa_f1

METRICS = (
    Metric(
        "strict_accuracy",
        "As accuracy, with replies read as LongEmotion's released code does.",
        baseline="equality",
        answer=lambda question, answer, _: set_equality(answer.strict_indices, question.gold_indices),
    ),
    Metric(
        "qa_f1",
        "F1 of words shared with the best reference, lower case, without punctuation and a, an, the, by; mean over items.",
        answer=by_reference(qa_f1),
    ),
)
