"""The process of the temporary Prefect server; a script that `flows.runtime.local_server` starts, never imported.

It ends with its parent, however that goes: its standard input closes, and on Linux the kernel kills it. It imports nothing of
ours, so that it does not depend on where it is started.
"""

import ctypes
import gc
import os
import signal
import socket
import sys
from threading import Thread

PR_SET_PDEATHSIG = 1
STARTUP_FAILED = 3


def end_with_parent() -> None:
    """End this process as soon as its parent is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    Thread(target=_wait_for_end_of_input, daemon=True).start()


def _wait_for_end_of_input() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def main() -> None:
    """Serve Prefect's API on the listening socket that was inherited, until a signal comes."""
    end_with_parent()
    import uvicorn  # noqa: PLC0415  a second in which the parent may be gone

    with socket.socket(fileno=int(sys.argv[1])) as listening:
        config = uvicorn.Config("prefect.server.api.server:create_app", factory=True, log_level="error", lifespan="on")
        # Half a second of the start is garbage collection among what is imported.
        gc.disable()
        config.load()
        gc.freeze()
        gc.enable()
        server = uvicorn.Server(config)
        server.run(sockets=[listening])
    if not server.started:
        sys.exit(STARTUP_FAILED)


if __name__ == "__main__":
    main()
