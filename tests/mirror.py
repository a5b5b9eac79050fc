"""The folder of real source files that tests read in place: MOODFLOW_MIRROR names it, and without it these tests are skipped."""

import os
from pathlib import Path

import pytest

from schemas.dataset import DatasetSpec
from tasks.datasets.catalogue import find_dataset
from tasks.scoring.blueprints import load_blueprint
from tasks.sources.locating import Locator, choose_source

IS_GIVEN = bool(os.environ.get("MOODFLOW_MIRROR"))

MIRROR = Path(os.environ.get("MOODFLOW_MIRROR") or "no-mirror").resolve()

WITHOUT_MIRROR = "it reads real source files: set MOODFLOW_MIRROR to the folder that has them"

needs_mirror = pytest.mark.needs_mirror

MOODBENCH = load_blueprint("moodbench")


def is_here(spec: DatasetSpec) -> bool:
    """Whether the mirror has the files of a dataset, or of its alternative."""
    locator = Locator(mirror=MIRROR)
    return all(map(locator.holds, choose_source(spec, locator).files))


def ready() -> tuple[str, ...]:
    """The datasets of MoodBench whose files are all in the mirror."""
    return tuple(name for name in MOODBENCH.datasets if is_here(find_dataset(name)))
