"""The seal of a run: `SHA256SUMS` over the files of its folder, as `sha256sum --check` reads it.

The manifest names the hash of each partition's bytes, the seal that of the manifest and the report. Its first line, a comment to
`sha256sum`, is the hash of the lines below, so that a change of the seal is told from a change of what it lists. It shows damage
and oversight; whoever rewrites files and seal alike is only found out by a copy of the seal kept elsewhere.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import NamedTuple

from schemas.folders import Folder
from tasks.lake.files import replace_file, unwritable

SEAL = "SHA256SUMS"
REPORT = "report.html"
PICTURE = "report.png"
"""The headline figure of a run, to be shown where there is no page."""

SEALED = ("manifest.json", "report.md", PICTURE, REPORT)
"""Files of a run's folder that the seal lists, as far as the run has them; then the pages of its systems."""

_HEAD = "# sha256 of the lines below: "


class BrokenSeal(NamedTuple):
    """A file of a run that is not the one that was sealed; `got` is null if it is gone."""

    name: str
    expected: str | None
    got: str | None


class SealCheck(NamedTuple):
    """Files that were looked at, the seal among them, and those that are not as they were sealed."""

    checked: int
    broken: list[BrokenSeal]


def page_of(anchor: str) -> str:
    """Return the name of the page about one system, where the run's own does not hold all."""
    return f"report.{anchor}.html"


def seal_run(folder: Folder) -> None:
    """Write the seal of a run's folder, over the files that are there now; to be called after the last of them is written."""
    path = folder / SEAL
    with unwritable("the seal of the run cannot be written", path):
        pages = sorted(page.name for page in folder.glob(page_of("*")))
        hashes = {name: file_sha256(folder / name) for name in (*SEALED, *pages) if (folder / name).exists()}
        replace_file(path, seal_text(hashes).encode())


def seal_text(hashes: Mapping[str, str]) -> str:
    """Return the content of the seal, from SHA-256 by file name."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in hashes.items())
    return f"{_HEAD}{sha256(lines.encode()).hexdigest()}\n{lines}"


def check_seal(folder: Folder) -> SealCheck | None:
    """Compare the files of a run's folder with its seal; null if there is no seal."""
    path = folder / SEAL
    if not path.exists():
        return None
    hashes = _listed(path.read_bytes())
    if hashes is None:
        return SealCheck(1, [BrokenSeal(SEAL, "lines whose hash is the one in the first line", "other lines")])
    now = {name: file_sha256(folder / name) if (folder / name).exists() else None for name in hashes}
    return SealCheck(1 + len(hashes), [BrokenSeal(name, hashes[name], got) for name, got in now.items() if got != hashes[name]])


def _listed(content: bytes) -> dict[str, str] | None:
    """Return the hashes by name; null if the text is not one that was written here."""
    try:
        lines = content.decode().splitlines()[1:]
    except UnicodeDecodeError:
        return None
    hashes = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    return hashes if seal_text(hashes).encode() == content else None


def file_sha256(path: Folder) -> str:
    """Return the hash of a file's bytes."""
    return sha256(path.read_bytes()).hexdigest()
