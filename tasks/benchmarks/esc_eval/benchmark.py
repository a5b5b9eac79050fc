"""ESC-Eval."""

from schemas.benchmark import Benchmark
from schemas.folders import DATA_FOLDER

ESC_EVAL = Benchmark(
    "esc_eval",
    datasets="tasks.benchmarks.esc_eval.datasets:DATASETS",
    solvers="tasks.benchmarks.esc_eval.role_play:SOLVERS",
    papers="tasks.benchmarks.esc_eval.benchmark:PAPERS",
)
PAPERS = (DATA_FOLDER / "published" / "esc_eval.yaml",)
