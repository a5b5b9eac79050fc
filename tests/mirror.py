"""The folder of real source files that tests read in place."""

import os
from pathlib import Path

import pytest

from tasks.datasets.catalogue import find_dataset
from tasks.scoring.blueprints import load_blueprint
from tasks.sources.locating import Locator, choose_source

MIRROR = Path(os.environ.get("MOODFLOW_MIRROR") or Path(__file__).resolve().parents[2] / "shared" / "mirror")

WITHOUT_MIRROR = f"no mirror of source files at {MIRROR}; set MOODFLOW_MIRROR"

needs_mirror = pytest.mark.skipif(not MIRROR.is_dir(), reason=WITHOUT_MIRROR)

MOODBENCH = load_blueprint("moodbench")


def ready() -> tuple[str, ...]:
    """The datasets of MoodBench whose files are all in the mirror."""
    locator = Locator(mirror=MIRROR)
    return tuple(name for name in MOODBENCH.datasets if all(map(locator.holds, choose_source(find_dataset(name), locator).files)))
