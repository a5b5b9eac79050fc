"""Read and write `runs/<run>/changes.json`: what changed since the run before."""

from pydantic import ValidationError

from schemas.changes import RunChanges, changes_file
from schemas.errors import LakeError
from schemas.folders import Folder
from tasks.lake.errors import unwritable
from tasks.lake.files import replace_file
from tasks.lake.manifest import run_folder


def write_changes(lake: Folder, changes: RunChanges) -> None:
    """Write what changed atomically.

    Raises:
        LakeError: if the disk refuses the file.
    """
    path = changes_file(run_folder(lake, changes.run))
    with unwritable("what changed since the run before cannot be written", path):
        replace_file(path, f"{changes.model_dump_json(indent=1)}\n".encode())


def read_changes(lake: Folder, run: str) -> RunChanges | None:
    """Return what changed since the run before; null if that was not looked at when the run was made.

    Raises:
        LakeError: if the file is there and cannot be read.
    """
    path = changes_file(run_folder(lake, run))
    if not path.exists():
        return None
    try:
        return RunChanges.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise LakeError(
            "what changed since the run before cannot be read",
            where=str(path),
            got=str(error).splitlines()[0],
            next_step="move the file away; it is not needed to show the run",
        ) from error
