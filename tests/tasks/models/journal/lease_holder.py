"""A process that claims calls and says so, then waits to be killed; with `fork`, a child of it waits too."""

import os
import sys
import time
from pathlib import Path

from tasks.models.journal.leases import Leases


def hold(folder: Path, keys: list[str], *, fork: bool) -> None:
    with Leases(folder) as leases:
        claimed = [leases.claim(key) for key in keys]
        child = os.fork() if fork else -1
        if child != 0:
            sys.stdout.write(f"{sum(claimed)} {child}\n")
            sys.stdout.flush()
        time.sleep(600)


if __name__ == "__main__":
    hold(Path(sys.argv[2]), sys.argv[3:], fork=sys.argv[1] == "fork")
