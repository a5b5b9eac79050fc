"""The process of the embedded model server; a script that `tasks.models.embedded.serving` starts, never imported.

It ends with its parent: its standard input closes, and on Linux the kernel kills it even if it hangs. It imports nothing of ours,
so that it starts fast and from any folder.
"""

import ctypes
import os
import signal
import sys
from threading import Thread

from xllamacpp import CommonParams, Server

PR_SET_PDEATHSIG = 1
WARNINGS = 2

CACHE_MIB_PER_SLOT = 128
"""For states of conversations that lost their slot, 5,800 tokens; taken when needed."""


def start(weights: str, name: str, slots: int, slot_tokens: int, threads: int, port: int) -> Server:
    """Start the server on a loopback port; it stops when the object returned is let go.

    Without the name of the model its answers would have the path of the weights, a GGUF file. A slot answers a call at a time,
    whose prompt and reply together have `slot_tokens` at most.
    """
    params = CommonParams()
    params.model.path = weights
    params.model_alias = {name}
    params.port = port
    params.n_parallel = slots
    params.n_ctx = slots * slot_tokens
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    # The template in the weights adds a system message about itself to every conversation without one: 21 tokens more, and worse
    # answers (measured: asked for the capital of France, the model then writes French). The built-in form adds nothing.
    params.use_jinja = False
    # A conversation may go on, or another begin as it did, after others have had its slot: reading it again costs seconds.
    # With one slot memory is short.
    params.cache_ram_mib = CACHE_MIB_PER_SLOT * slots if slots > 1 else 0
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = WARNINGS
    return Server(params)


def end_with_parent() -> Thread:
    """End this process as soon as its parent is gone; the thread returned ends with the parent's end of the pipe."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    watch = Thread(target=_wait_for_end_of_input, daemon=True)
    watch.start()
    return watch


def _wait_for_end_of_input() -> None:
    while os.read(0, 1):
        pass
    # The server's threads do not end by themselves while a call is running.
    os._exit(0)


def main() -> None:
    """Serve with the arguments of the command."""
    weights, name, *numbers = sys.argv[1:]
    watch = end_with_parent()
    slots, slot_tokens, threads, port = (int(number) for number in numbers)
    server = start(weights, name, slots, slot_tokens, threads, port)
    watch.join()
    del server


if __name__ == "__main__":
    main()
