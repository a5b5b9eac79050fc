"""MoodBench 1.0, also published as ECDBench."""

from schemas.benchmark import Benchmark
from schemas.folders import DATA_FOLDER

MOODBENCH = Benchmark(
    "moodbench",
    place=1,
    datasets="tasks.benchmarks.moodbench.catalogue:DATASETS",
    profiles="tasks.benchmarks.moodbench.reference.scoring:PROFILES",
    papers="tasks.benchmarks.moodbench.benchmark:PAPERS",
    exhibits="tasks.benchmarks.moodbench.exhibits:EXHIBITS",
)
PAPERS = (DATA_FOLDER / "published" / "moodbench.yaml",)
