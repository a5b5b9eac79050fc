"""LongEmotion (arXiv 2509.07403)."""

from schemas.benchmark import Benchmark

LONGEMOTION = Benchmark(
    "longemotion",
    datasets="tasks.benchmarks.longemotion.catalogue:DATASETS",
    solvers="tasks.benchmarks.longemotion.settings:SOLVERS",
    context_solvers="tasks.benchmarks.longemotion.settings:CONTEXT_SOLVERS",
)
