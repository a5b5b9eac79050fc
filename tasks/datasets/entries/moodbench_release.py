"""The repository that most source files come from."""

from schemas.dataset import PinnedFile

REPOSITORY = "github.com/QuwanAI/MoodBench"
REVISION = "dcc444aafbb1830ff7348a12f4a4cdec807f2175"


def moodbench_file(path: str, sha256: str) -> PinnedFile:
    """A file below `data/` at the revision all entries share."""
    return PinnedFile(repository=REPOSITORY, revision=REVISION, path=f"data/{path}", sha256=sha256)
