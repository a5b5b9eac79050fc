"""A process that claims calls and says so, then waits to be killed; a child of it waits too."""

import os
import sys
import time
from pathlib import Path

from tasks.models.journal.leases import Leases


def hold(folder: Path, key: str) -> None:
    with Leases(folder) as leases:
        leases.claim(key)
        child = os.fork()
        if child != 0:
            sys.stdout.write(f"{child}\n")
            sys.stdout.flush()
        time.sleep(600)


if __name__ == "__main__":
    hold(Path(sys.argv[1]), sys.argv[2])
