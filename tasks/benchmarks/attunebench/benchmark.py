"""AttuneBench 1.0."""

from schemas.benchmark import Benchmark

ATTUNEBENCH = Benchmark(
    "attunebench",
    datasets="tasks.benchmarks.attunebench.datasets.conversations:DATASETS",
    solvers="tasks.benchmarks.attunebench.annotate.annotate:SOLVERS",
    metrics="tasks.benchmarks.attunebench.metrics.rows:METRICS",
    sections="tasks.benchmarks.attunebench.section:SECTIONS",
    exchanges="tasks.benchmarks.attunebench.exchange:EXCHANGES",
)
