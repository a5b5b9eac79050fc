"""The local folder of what an object store cannot hold: databases, locks, findings about models."""

import os
import re
from hashlib import sha256
from pathlib import Path

from schemas.folders import Folder

VARIABLE = "MOODFLOW_STATE"
"""Environment variable: folder of what stays on this machine: Prefect's data, and journals and embeddings of object stores."""

NETWORK = re.compile(
    r"nfs4?|cifs|smb(fs|2|3)|9p|afs|ceph|lustre|gpfs|beegfs|glusterfs|fuse\.(sshfs|rclone|s3fs|glusterfs|ceph|gcsfuse|juicefs)"
)
"""Kinds of file systems that other machines may share."""


def states_folder() -> Path:
    """Return the folder on this machine of what MoodFlow keeps: `MOODFLOW_STATE`, else below the user's for programs' state."""
    # Not the cache, which may be emptied: what is in a journal was paid for.
    usual = os.environ.get("XDG_STATE_HOME")
    return Path(os.environ.get(VARIABLE) or Path(usual or Path.home() / ".local" / "state") / "moodflow")


def state_folder(lake: Folder) -> Path:
    """Return the folder on this machine of a lake's journal, embeddings and findings about models.

    The lake itself if it is local; else one folder for each address, below `states_folder`.
    """
    if isinstance(lake, Path):
        return lake
    address = str(lake)
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", address).strip("-")[:60]
    return states_folder() / f"{readable}-{sha256(address.encode()).hexdigest()[:8]}"


def network_disk(folder: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the kind of network file system a folder is on; null if it is on none, or the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # no Linux
        return None
    above, kinds = folder.resolve().parents, dict[Path, str]()
    for _, point, kind, *_ in map(str.split, lines):
        kinds[Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), point))] = kind
    kind = next((kinds[parent] for parent in (folder.resolve(), *above) if parent in kinds), "")
    return kind if NETWORK.fullmatch(kind) else None
