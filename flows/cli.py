"""The entry point of `moodflow`: Ctrl-C ends it without a word until there is something to tell of."""

import gc
import os
import signal
import sys

from flows.runtime.local_server import API_URL, configure_prefect, ends_process, start_early

RUN_FLOWS = frozenset({"build", "infer", "score", "report", "demo"})
"""Commands that need a Prefect server, unless they are asked what they do; `run` first looks whether anything is left to do."""

THRESHOLDS = (50_000, 20, 20)
"""Of the garbage collector: imports make objects by the hundred thousand that stay, calls make millions that go by themselves."""


def main() -> None:
    """Import the command line, which takes its time, and run it."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else whoever started this process has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(*THRESHOLDS)
    # What each run of `moodflow serve` does is in the UI, and errors of commands are reported once, by the command line.
    configure_prefect("WARNING" if sys.argv[1:2] == ["serve"] else "CRITICAL")
    if RUN_FLOWS.intersection(sys.argv[1:2]) and not {"--help", "-h"}.intersection(sys.argv) and API_URL not in os.environ:
        start_early()  # while this process imports
    from flows.commands.app import main as run  # noqa: PLC0415

    signal.signal(signal.SIGINT, usual)
    ends_process.set(True)
    run()
