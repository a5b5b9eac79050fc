import os
from pathlib import Path

import pytest

BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[3] / ".." / "shared" / "mirror"


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Real source files, read in place."""
    folder = Path(os.environ.get("MOODFLOW_MIRROR", BESIDE_THE_CHECKOUT))
    if not folder.is_dir():
        pytest.skip(f"no mirror of the source files at {folder}; set MOODFLOW_MIRROR")
    return folder
