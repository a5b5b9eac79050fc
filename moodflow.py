"""MoodFlow from Python: evaluate models, and read what past runs found.

    import moodflow

    run = moodflow.evaluate("moodbench-mini", model="my-model", base_url="http://localhost:8000/v1")
    run.total
    run.scores()

The functions do what the commands of `moodflow` do, by the same path, and return the same documents. Frames are polars
DataFrames. What cannot be done raises MoodflowError, which has the fields what, where, expected, got and next_step. All of it
works while an event loop is running, as in a notebook. Warnings and progress go to standard error.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOMS = ("flows", "schemas", "tasks")
"""MoodFlow's own packages. A module or package of a user may have such a name, and may come first on `sys.path`."""


def _obstacle() -> str | None:
    """Return a sentence about what keeps MoodFlow from running here: Windows, or what hides a package; null = nothing does."""
    if sys.platform == "win32":
        return "MoodFlow runs on Linux and macOS: on Windows, install and start it in WSL (Windows Subsystem for Linux)"
    for room in ROOMS:
        spec = find_spec(room)
        path = spec.origin or next(iter(spec.submodule_search_locations or ()), None) if spec else None
        if path is None or Path(path).resolve() != Path(__file__).resolve().parent / room / "__init__.py":
            return (
                f"MoodFlow needs its own package {room!r}, and Python finds {path or 'none'} in its place: rename that, or start "
                "from another folder, without that one in PYTHONPATH"
            )
    return None


if _message := _obstacle():
    if Path(sys.argv[0]).stem == "moodflow":  # the command line, which tells an error in one message
        sys.stderr.write(f"Error: {_message}\n")
        raise SystemExit(2)
    raise ImportError(_message, name=__name__)

if TYPE_CHECKING:
    from flows.commands.python_api import evaluate, run, runs
    from flows.commands.python_run import Run, Runs
    from schemas.errors import MoodflowError

ROOM_OF = {"MoodflowError": "schemas.errors", "Run": "flows.commands.python_run", "Runs": "flows.commands.python_run"}

__all__ = ["MoodflowError", "Run", "Runs", "evaluate", "run", "runs"]


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for: `import moodflow` is quick."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(ROOM_OF.get(name, "flows.commands.python_api")), name)


def __dir__() -> list[str]:
    return __all__


def main() -> None:
    """Run the command line."""
    import_module("flows.cli").main()


if __name__ == "__main__":  # python -m moodflow, as cron calls it
    main()
