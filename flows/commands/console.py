"""Print what a command found: to the terminal, or as one JSON document."""

import json
import sys
from typing import Any

from rich.console import Console

PIPE_WIDTH = 140


def terminal() -> Console:
    """Standard output; wide where it is a file or a pipe, since nobody can widen that."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
