"""Files of public repositories, pinned to their content."""

from collections.abc import Callable
from pathlib import Path

from schemas.dataset import PinnedFile

PINS = Path(__file__).parents[2] / "data" / "pins"


def pinned_in(repository: str, revision: str) -> Callable[..., PinnedFile]:
    """A function from path and sha256 to a file of this repository at this revision; other fields by name."""

    def pin(path: str, sha256: str | None, **fields: str | None) -> PinnedFile:
        return PinnedFile.model_validate(
            {"repository": repository, "revision": revision, "path": path, "sha256": sha256, **fields}
        )

    return pin


def pinned_list(name: str, pin: Callable[[str, str | None], PinnedFile]) -> tuple[PinnedFile, ...]:
    """The files that data/pins/NAME.sha256 lists, in its order; lines are as sha256sum writes them.

    Args:
        name: of the list.
        pin: from path and sha256 to the file.
    """
    lines = (PINS / f"{name}.sha256").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines]
    return tuple(pin(path, sha256) for sha256, path in pairs)
