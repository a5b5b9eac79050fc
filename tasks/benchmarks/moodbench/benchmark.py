"""MoodBench 1.0, also published as ECDBench."""

from schemas.benchmark import Benchmark

MOODBENCH = Benchmark("moodbench", datasets="tasks.benchmarks.moodbench.catalogue:DATASETS")
