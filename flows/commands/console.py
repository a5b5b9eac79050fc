"""What every command shares: its default lake, and how it prints."""

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

DEFAULT_LAKE = Path("parquet")
PIPE_WIDTH = 140

REPORTS_URL = "MOODFLOW_REPORTS_URL"
"""Environment variable: address under which the lake's `runs` folder is served. Browsers open no file from a page of the UI."""


def terminal() -> Console:
    """Standard output; wide where it is a file or a pipe, since nobody can widen that."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
