"""ESC-Eval."""

from schemas.benchmark import Benchmark

ESC_EVAL = Benchmark(
    "esc_eval",
    datasets="tasks.benchmarks.esc_eval.datasets:DATASETS",
    solvers="tasks.benchmarks.esc_eval.role_play:SOLVERS",
)
