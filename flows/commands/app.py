"""Define the command line.

Exit status: 0 done, 1 finished with failures that lower coverage, 2 wrong usage, bad input or a server that cannot be called,
3 calls wait in a batch, 130 interrupted.
"""

import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from flows.commands.process import leave, refused_by_system, require_certificates, require_prefect_settings
from flows.runtime.local_server import INTERRUPTED, INTERRUPTION
from schemas.errors import MoodflowError, UsageError
from schemas.printing import printable

EVALUATE, LOOK, CHECK, SERVE, DATA = "Evaluate", "Look", "Check", "Serve", "Data"
"""Groups of commands, in the order of the help."""

COMMANDS = {
    "demo": (
        "demo",
        "Try it out: evaluate the small model that comes with the install on LongEmotion and MoodBench.",
        EVALUATE,
    ),
    "run": ("stages", "Evaluate models on a benchmark: build the items, ask the models, score the replies, report.", EVALUATE),
    "build": ("stages", "Only sample and validate the items of a benchmark.", EVALUATE),
    "infer": ("stages", "Only ask the models; the items must have been built.", EVALUATE),
    "score": ("stages", "Only score stored replies; no model is called.", EVALUATE),
    "report": ("stages", "Only write the manifest and the report of stored scores.", EVALUATE),
    "options": (
        "plan_fields",
        "List every field of a plan that --set PATH=VALUE and --config FILE can set, with its type and default.",
        EVALUATE,
    ),
    "runs": ("runs", "List runs, show one, rewrite its report.", LOOK),
    "view": ("view", "Show runs in a browser, from the leaderboard down to every reply, until Ctrl-C.", LOOK),
    "explain": ("explain", "Explain a score of a run, down to the items, replies and prompts behind it.", LOOK),
    "leaderboard": ("leaderboard", "Rank the models of a benchmark.", LOOK),
    "figure": ("figure", "Write a figure of a run or a leaderboard as a picture for a slide or a paper.", LOOK),
    "compare": ("compare", "Compare two runs of a benchmark over the items that both scored.", LOOK),
    "export": ("export", "Write the results of runs as one table, or as files that other tools read.", LOOK),
    "docs": ("docs", "Print the path of a page of the documentation, which comes with the install.", LOOK),
    "gate": ("gate", "Fail a job of CI if a run fell behind another by more than its conditions allow.", CHECK),
    "verify": ("lake_files", "Hash every file of a run and recompute its scores from the stored replies.", CHECK),
    "lineage": ("lineage", "Show what a run or a file was computed from, back to the source files and their hashes.", CHECK),
    "models": ("models", "Check whether a model can be called, and list the known providers.", CHECK),
    "judges": ("judges", "Measure how well judges agree with people, and have people rate answers.", CHECK),
    "serve": ("serve", "Run the Prefect server, schedules and reports on this machine until Ctrl-C.", SERVE),
    "automations": ("serve", "Create or repair the automations of `moodflow serve` on the server at PREFECT_API_URL.", SERVE),
    "datasets": ("datasets", "List the datasets and check their files.", DATA),
    "journal": ("journal", "Show, share and import the stored replies of models.", DATA),
    "batches": ("batches", "Show, collect, cancel and give up calls that providers answer as batches.", DATA),
    "replies": ("replies", "Score replies that exist; `moodflow docs replies-by-file` says how.", DATA),
    "cards": ("cards", "Build role cards of people who seek support.", DATA),
    "gc": ("lake_files", "Delete partitions that no run uses and what interrupted runs left behind.", DATA),
    "schema": ("docs", "Print the JSON schemas of the documents that --json prints.", DATA),
}
"""Every command: the module beside this one whose `app` has it, the sentence that its own help begins with, and its group."""

ALONE = {"runs list": "runs_list"}
"""Commands of a group that need little of what the group imports: the module whose `app` is the command."""

FIRST_STEPS = """MoodFlow evaluates language models as emotional companions.

  moodflow demo                                       try it without any setup
  moodflow run BENCHMARK --model NAME --base-url URL  evaluate your own model
  moodflow runs list                                  list the runs so far
  moodflow explain latest                             explain the newest run
  moodflow leaderboard BENCHMARK                      rank the models

moodflow --help lists all commands, moodflow COMMAND --help explains one.
"""


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
        if wrong := [argument for argument in args if re.search("[\0\ud800-\udfff]", argument)]:
            raise UsageError(
                "an argument is not UTF-8",
                where="the command line",
                got=wrong[0][:80],
                next_step="rename the file or folder, using UTF-8 characters",
            )
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command that is called, the command itself and the arguments after it."""
        if (words := " ".join(args[:2])) in ALONE:
            return words, typer.main.get_command(import_module(f"flows.commands.{ALONE[words]}").app), args[2:]
        name, command, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name else command, rest


app = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback()
def overview(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    """Evaluate language models as emotional companions.

    Exit status: 0 done, 1 done but something failed or a check did not hold, 2 wrong usage, 3 calls wait in a batch,
    130 interrupted.
    """
    if version:
        from tasks.lake.manifest import read_code_version  # noqa: PLC0415

        sys.stdout.write(f"moodflow {read_code_version().package}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        sys.stdout.write(FIRST_STEPS)


for _name, (_, _help, _group) in COMMANDS.items():
    app.command(_name, help=_help, rich_help_panel=_group)(lambda: None)  # stands for the command in the list of all


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
    leave(guarded(partial(app, prog_name="moodflow")))  # also where `python -m moodflow` started it
