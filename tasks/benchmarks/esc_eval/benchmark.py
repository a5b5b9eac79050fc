"""ESC-Eval."""

from schemas.benchmark import Benchmark

ESC_EVAL = Benchmark(
    "esc_eval",
    datasets="tasks.datasets.esc_eval:DATASETS",
    solvers="tasks.solvers.role_play:SOLVERS",
)
