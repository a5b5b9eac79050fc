"""ESC-Eval."""

from schemas.benchmark import Benchmark
from schemas.folders import DATA_FOLDER
from schemas.question_types import RATED, QuestionTypeRow

ESC_EVAL = Benchmark(
    "esc_eval",
    place=3,
    datasets="tasks.benchmarks.esc_eval.datasets:DATASETS",
    solvers="tasks.benchmarks.esc_eval.role_play:SOLVERS",
    question_types="tasks.benchmarks.esc_eval.benchmark:QUESTION_TYPES",
    card_pipelines="tasks.benchmarks.esc_eval.cards:CARD_PIPELINES",
    papers="tasks.benchmarks.esc_eval.benchmark:PAPERS",
    exhibits="tasks.benchmarks.esc_eval.exhibits:EXHIBITS",
)
PAPERS = (DATA_FOLDER / "published" / "esc_eval.yaml",)
QUESTION_TYPES = (QuestionTypeRow("role_play", "text", RATED, has_prompt=False),)
