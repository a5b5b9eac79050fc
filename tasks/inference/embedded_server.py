"""The process of the embedded model server; started by `tasks.inference.embedded`, never imported.

It ends with its parent: its standard input is a pipe that closes when the parent is gone, however it went.
"""

import os
import sys
import threading
from pathlib import Path

from xllamacpp import CommonParams, Server


def serve(weights: Path, port: int, slots: int, threads: int, slot_tokens: int) -> None:
    """Serve the weights on a loopback port until standard input closes.

    Args:
        weights: GGUF file.
        port: on 127.0.0.1.
        slots: calls answered at once.
        threads: of the CPU.
        slot_tokens: longest prompt and reply of one call together.
    """
    params = CommonParams()
    params.model.path = str(weights)
    params.port = port
    params.n_parallel = slots
    params.n_ctx = slots * slot_tokens
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.verbosity = -1
    server = Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    # The server's threads do not end by themselves while a call is running.
    os._exit(0)


def main() -> None:
    """Serve as the arguments say."""
    weights, *numbers = sys.argv[1:]
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    serve(Path(weights), *(int(number) for number in numbers))


def _end_with_parent(parent: int) -> None:
    # Loading the weights takes a second in which standard input is not read yet.
    while os.getppid() == parent:
        threading.Event().wait(0.5)
    os._exit(0)


if __name__ == "__main__":
    main()
