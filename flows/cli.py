"""The entry point of `moodflow`: Ctrl-C ends it without a word until there is something to tell of."""

import signal


def main() -> None:
    """Import the command line, which takes its time, and run it."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else whoever started this process has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from flows.commands.app import main as run  # noqa: PLC0415

    signal.signal(signal.SIGINT, usual)
    run()
