"""The entry point of `moodflow`: Ctrl-C ends it without a word until there is something to tell of."""

import signal
import sys

from flows.commands.process import imports
from flows.runtime.local_server import configure_prefect, silence_console, start_early

RUN_FLOWS = frozenset({"run", "build", "infer", "score", "report", "demo"})
"""Commands that need a Prefect server, unless they are asked what they do."""


def main() -> None:
    """Import the command line, which takes its time, and run it."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else whoever started this process has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    configure_prefect()
    if RUN_FLOWS.intersection(sys.argv[1:2]) and "--help" not in sys.argv:
        start_early()  # it starts while this process imports
        silence_console()  # before Prefect sets up its log lines, which takes 0.05 s each time
    with imports():
        from flows.commands.app import main as run  # noqa: PLC0415

    signal.signal(signal.SIGINT, usual)
    run()
