"""Define the command line.

Exit status: 0 done, 1 finished with failures that lower coverage, 2 wrong usage, bad input or a server that cannot be called,
130 interrupted.
"""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from flows.commands.process import leave, refused_by_system, require_certificates, require_prefect_settings
from flows.runtime.local_server import INTERRUPTED, INTERRUPTION
from schemas.errors import MoodflowError, UsageError
from schemas.printing import printable

COMMANDS = {
    "leaderboard": ("leaderboard", "Models of a benchmark, ranked."),
    "verify": ("lake_files", "Hash every file of a run and compute its scores again from the stored replies."),
    "compare": ("compare", "Two runs of a benchmark, the earlier one first: scores over common items, items that flipped."),
    "export": ("export", "Write the results of runs as one table: Parquet, CSV, SQLite or Excel."),
    "gc": ("lake_files", "Remove partitions that no run lists, and what killed writers left."),
    "explain": ("explain", "How a number of a past run came about, down to the rows, replies and prompts behind it."),
    "serve": ("serve", "Run Prefect server, UI, schedules and reports on this machine, until Ctrl-C."),
    "automations": ("serve", "Make or mend the automations of `moodflow serve` on the server that PREFECT_API_URL names."),
    "lineage": ("lineage", "Show what a run or a file was computed from, up to source files and their hashes."),
    "options": (
        "plan_fields",
        "Every field of a plan that `--set PATH=VALUE` and `--config FILE` reach, with its type and default.",
    ),
    "schema": ("schema", "JSON schemas of the documents that `--json` prints."),
    "run": ("stages", "Build, infer, score, report."),
    "build": ("stages", "Build only: sample and validate the items."),
    "infer": ("stages", "Infer only: ask the models (items must be built)."),
    "score": ("stages", "Score only: stored replies to totals, no model call."),
    "report": ("stages", "Report only: manifest and report of stored scores."),
    "demo": (
        "demo",
        "The main job on a model that comes with the install: MoodBench, LongEmotion and ESC-Eval, on bundled items.",
    ),
    "datasets": ("datasets", "Datasets of the catalogue."),
    "models": ("models", "Models and their providers."),
    "runs": ("runs", "Runs in the lake."),
    "journal": ("journal", "The replies a lake keeps, to be shared and taken in."),
    "judges": ("judges", "Judges, and how far they agree with people."),
    "cards": ("cards", "Role cards of people who seek support."),
}
"""Every command: the module beside this one whose `app` has it, and the sentence that its own help begins with."""

NO_TEXT = re.compile("[\0\ud800-\udfff]")


def load_command(name: str) -> Any:
    """Import the module of a command and return the command."""
    module = import_module(f"flows.commands.{COMMANDS[name][0]}")
    command: Any = typer.main.get_command(module.app)
    command = getattr(command, "commands", {}).get(name, command)
    command.help = command.help or COMMANDS[name][1]
    return command


class Commands(TyperGroup):
    """The command line: it takes arguments that are text, and imports a command when it is called."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; bytes that are no UTF-8 come in as halves of characters, which no file of ours can hold."""
        if wrong := [argument for argument in args if NO_TEXT.search(argument)]:
            raise UsageError(
                "an argument is not UTF-8", where="the command line", got=wrong[0][:80], next_step="rename what it names"
            )
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command that is called, the command itself and the arguments after it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name else command, rest


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(lambda: None)  # stands for the command in the list of all


def guarded(command: Callable[[], Any]) -> int:
    """Run a command; turn an expected failure into one message and its exit status."""
    status = 0
    try:
        require_certificates()
        try:
            command()
        except Exception:
            # Prefect may have been imported just then, and its parsers raise anything over damaged settings.
            if "prefect" in sys.modules:
                require_prefect_settings()
            raise
    except SystemExit as end:  # Typer turns Ctrl-C into one too
        status = end.code if isinstance(end.code, int) else 2
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:
        status = 0  # whoever read the output, such as `head`, has enough
    except (MoodflowError, OSError) as error:
        told = refused_by_system(error) if isinstance(error, OSError) else error
        sys.stderr.write(f"Error: {printable(str(told))}\n")
        status = 2
    if status == INTERRUPTED:
        sys.stderr.write(INTERRUPTION)
    return status


def main() -> None:
    """Run `moodflow`, then end its process."""
    leave(guarded(app))
