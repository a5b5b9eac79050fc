"""Files of public repositories, pinned to their content; lists of hashes are in data/pins, as sha256sum writes them."""

from collections.abc import Callable
from functools import cache

from schemas.dataset import PinnedFile
from schemas.folders import DATA_FOLDER

PINS = DATA_FOLDER / "pins"


def pinned_in(repository: str, revision: str) -> Callable[..., PinnedFile]:
    """Return a function from a path to a file of this repository at this revision; other fields by name.

    Its hash is the one given, null where none is known, else the one data/pins/files.sha256 has for its path in a mirror.
    """

    def pin(path: str, *given: str | None, **fields: str | None) -> PinnedFile:
        (sha256,) = given or (read_pins("files")[f"{repository}/{path}"],)
        return PinnedFile.model_validate(
            {"repository": repository, "revision": revision, "path": path, "sha256": sha256, **fields}
        )

    return pin


def pinned_list(name: str, pin: Callable[[str, str | None], PinnedFile]) -> tuple[PinnedFile, ...]:
    """Return the files that data/pins/NAME.sha256 lists, in its order."""
    return tuple(pin(path, sha256) for path, sha256 in read_pins(name).items())


@cache
def read_pins(name: str) -> dict[str, str]:
    """Read data/pins/NAME.sha256: hashes by path, in its order."""
    lines = (PINS / f"{name}.sha256").read_text(encoding="utf-8").splitlines()
    return {path: sha256 for sha256, path in (line.split(maxsplit=1) for line in lines)}
