"""The repository of MoodBench, its files, and what its entries share."""

from typing import Any

from schemas.dataset import DatasetSpec, PinnedFile
from tasks.datasets.catalogue import pinned_in, read_differences, read_pins

MOODBENCH = pinned_in("github.com/QuwanAI/MoodBench", "dcc444aafbb1830ff7348a12f4a4cdec807f2175")
"""The repository that most source files come from."""


def moodbench_file(path: str, **fields: str | None) -> PinnedFile:
    """Return the file below `data/` of MoodBench's repository, whose hash data/pins/moodbench.sha256 has."""
    return MOODBENCH(f"data/{path}", read_pins("moodbench")[f"data/{path}"], **fields)


def moodbench_entry(**fields: Any) -> DatasetSpec:
    """Return an entry of MoodBench, whose release has 300 rows of most datasets; its differences are in data/differences.yaml."""
    return DatasetSpec(**{"expected_rows": 300, "differences": read_differences(fields["id"]), **fields})
