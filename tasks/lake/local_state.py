"""The local folder of what an object store cannot hold: databases, locks, findings about models."""

import os
import re
from hashlib import sha256
from pathlib import Path

from schemas.folders import Folder

VARIABLE = "MOODFLOW_STATE"
"""Environment variable that names the folder of all such folders."""


def state_folder(lake: Folder) -> Path:
    """Return folder on this machine of a lake's journal, embeddings and findings about models: the lake itself if that is local.

    For an address it is one folder per address, below `MOODFLOW_STATE`, else below the user's folder for programs' state.
    """
    if isinstance(lake, Path):
        return lake
    # Not the cache, which may be emptied: what is in a journal was paid for.
    usual = os.environ.get("XDG_STATE_HOME")
    states = os.environ.get(VARIABLE) or Path(usual or Path.home() / ".local" / "state") / "moodflow"
    address = str(lake)
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", address).strip("-")[:60]
    return Path(states) / f"{readable}-{sha256(address.encode()).hexdigest()[:8]}"
