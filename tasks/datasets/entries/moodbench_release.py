"""The repository that most source files come from."""

from schemas.dataset import PinnedFile
from tasks.datasets.pinned_files import pinned_in

REPOSITORY = "github.com/QuwanAI/MoodBench"
REVISION = "dcc444aafbb1830ff7348a12f4a4cdec807f2175"

_pin = pinned_in(REPOSITORY, REVISION)


def moodbench_file(path: str, sha256: str, **fields: str | None) -> PinnedFile:
    """A file below `data/` at the revision all entries share; other fields of PinnedFile by name."""
    return _pin(f"data/{path}", sha256, **fields)
