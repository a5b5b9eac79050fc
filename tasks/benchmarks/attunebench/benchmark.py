"""AttuneBench 1.0."""

from schemas.benchmark import Benchmark

ATTUNEBENCH = Benchmark(
    "attunebench",
    datasets="tasks.datasets.attunebench.conversations:DATASETS",
    solvers="tasks.solvers.annotate.annotate:SOLVERS",
    measures="tasks.metrics.attunebench.conversation:MEASURES",
)
