"""LongEmotion (arXiv 2509.07403)."""

from schemas.benchmark import Benchmark
from schemas.folders import DATA_FOLDER

LONGEMOTION = Benchmark(
    "longemotion",
    place=2,
    datasets="tasks.benchmarks.longemotion.catalogue:DATASETS",
    solvers="tasks.benchmarks.longemotion.settings:SOLVERS",
    context_solvers="tasks.benchmarks.longemotion.settings:CONTEXT_SOLVERS",
    question_types="tasks.benchmarks.longemotion.question_types:QUESTION_TYPES",
    metrics="tasks.benchmarks.longemotion.metrics:METRICS",
    papers="tasks.benchmarks.longemotion.benchmark:PAPERS",
)
PAPERS = (DATA_FOLDER / "published" / "longemotion.yaml",)
