"""The folder of real source files that tests read in place."""

import os
from pathlib import Path

import pytest

MIRROR = Path(os.environ.get("MOODFLOW_MIRROR") or Path(__file__).resolve().parents[2] / "shared" / "mirror")

WITHOUT_MIRROR = f"no mirror of source files at {MIRROR}; set MOODFLOW_MIRROR"

needs_mirror = pytest.mark.skipif(not MIRROR.is_dir(), reason=WITHOUT_MIRROR)
