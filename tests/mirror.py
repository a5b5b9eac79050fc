"""The folder of real source files that tests read in place."""

import os
from pathlib import Path

import pytest

MIRROR = Path(os.environ.get("MOODFLOW_MIRROR") or Path(__file__).resolve().parents[2] / "shared" / "mirror")

needs_mirror = pytest.mark.skipif(not MIRROR.is_dir(), reason=f"no mirror of source files at {MIRROR}; set MOODFLOW_MIRROR")
