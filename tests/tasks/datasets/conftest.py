from pathlib import Path

import pytest

from tests.mirror import MIRROR, WITHOUT_MIRROR


@pytest.fixture(scope="session")
def mirror() -> Path:
    """Real source files, read in place."""
    if not MIRROR.is_dir():
        pytest.skip(WITHOUT_MIRROR)
    return MIRROR
