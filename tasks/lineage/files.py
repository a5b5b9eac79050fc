"""Files that are there as a whole or not at all."""

import os
from pathlib import Path
from uuid import uuid4


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file on disk and put it in place of the one that may be there; its folder is made.

    Raises:
        OSError: if the disk refuses; nothing is left behind then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem[:16]}-{uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    # Without this a power cut may forget the rename although the file itself is on disk.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
