"""LongEmotion (arXiv 2509.07403)."""

from schemas.benchmark import Benchmark
from schemas.folders import DATA_FOLDER
from schemas.question_types import RATED, QuestionTypeRow

LONGEMOTION = Benchmark(
    "longemotion",
    place=2,
    datasets="tasks.benchmarks.longemotion.catalogue:DATASETS",
    solvers="tasks.benchmarks.longemotion.solvers.solve:SOLVERS",
    context_solvers="tasks.benchmarks.longemotion.solvers.solve:CONTEXT_SOLVERS",
    question_types="tasks.benchmarks.longemotion.benchmark:QUESTION_TYPES",
    metrics="tasks.benchmarks.longemotion.metrics:METRICS",
    papers="tasks.benchmarks.longemotion.benchmark:PAPERS",
    exhibits="tasks.benchmarks.longemotion.exhibits:EXHIBITS",
)
PAPERS = (DATA_FOLDER / "published" / "longemotion.yaml",)

ASPECTS = ("causes", "symptoms", "treatment_process", "characteristics_of_illness", "treatment_effect")
"""What a counselling report is summarised by, in the order of an item's references; keys of the reply. Section 3."""

_ACCURACIES = ("accuracy", "strict_accuracy")

QUESTION_TYPES = (
    QuestionTypeRow("label_choice", "label", _ACCURACIES, has_prompt=False),
    QuestionTypeRow("odd_one_out", "index", _ACCURACIES, has_prompt=False),
    QuestionTypeRow("aspect_summary", "text", RATED, has_references=True, reference_names=ASPECTS, has_prompt=False),
    QuestionTypeRow("counselor_reply", "text", RATED, has_prompt=False),
    QuestionTypeRow("emotion_expression", "text", RATED, has_prompt=False),
)
