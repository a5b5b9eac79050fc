"""Define the command line.

Exit status: 0 done, 1 finished with failures that lower coverage, 2 wrong usage, bad input or a server that cannot be called,
130 interrupted.
"""

import re
import sys
from collections.abc import Callable, Set
from dataclasses import replace
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from flows.commands import ablate as ablation
from flows.commands import options as opt
from flows.commands.cards import cards_app
from flows.commands.compare import compare
from flows.commands.datasets import datasets_app
from flows.commands.demo import SAMPLE, announce, demo_plans
from flows.commands.explain.command import explain
from flows.commands.gc import gc
from flows.commands.journal import journal_app
from flows.commands.judges import judges_app
from flows.commands.leaderboard import leaderboard
from flows.commands.lineage import lineage
from flows.commands.models import models_app
from flows.commands.plan_fields import list_options
from flows.commands.plan_options import PlanCommand, read_plan
from flows.commands.process import leave, refused_by_system, require_certificates, require_prefect_settings
from flows.commands.runs import runs_app
from flows.commands.serve import automations, serve
from flows.commands.verify import verify
from flows.runtime.local_server import INTERRUPTED, INTERRUPTION, temporary_server
from schemas.errors import MoodflowError, UsageError
from schemas.printing import printable

NO_TEXT = re.compile("[\0\ud800-\udfff]")


class Commands(TyperGroup):
    """The command line, which takes arguments that are text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; bytes that are no UTF-8 come in as halves of characters, which no file of ours can hold."""
        if wrong := [argument for argument in args if NO_TEXT.search(argument)]:
            raise UsageError(
                "an argument is not UTF-8", where="the command line", got=wrong[0][:80], next_step="rename what it names"
            )
        return super().parse_args(ctx, args)


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
app.add_typer(datasets_app, name="datasets")
app.add_typer(models_app, name="models")
app.add_typer(runs_app, name="runs")
app.add_typer(journal_app, name="journal")
app.add_typer(judges_app, name="judges")
app.add_typer(cards_app, name="cards")
app.command()(leaderboard)
app.command()(verify)
app.command()(compare)
app.command()(gc)
app.command()(explain)
app.command()(serve)
app.command()(automations)
app.command()(lineage)
app.command("options")(list_options)

STAGES = {
    "run": "Build, infer, score, report.",
    "build": "Build only: sample and validate the items.",
    "infer": "Infer only: ask the models (items must be built).",
    "score": "Score only: stored replies to totals, no model call.",
    "report": "Report only: manifest and report of stored scores.",
}


def _stage_command(
    context: typer.Context,
    benchmark: opt.Benchmark,
    dry_run: opt.DryRun = False,
    fail_on_regression: opt.FailOnRegression = False,
    as_json: opt.AsJson = False,
) -> None:
    stage = context.info_name or "run"
    if fail_on_regression:
        opt.require_comparison(stage)
    if dry_run:
        opt.require_asking(stage)
    plan = read_plan(benchmark, context.obj, needs_model=stage != "build")
    fails_if = {"instrument failed", *(["Regressed"] if fail_on_regression else [])}
    _execute("dry-run" if dry_run else stage, plan, as_json=as_json, fails_if=fails_if)


for _name, _help in STAGES.items():
    app.command(_name, cls=PlanCommand, help=_help)(_stage_command)


@app.command("ablate", cls=PlanCommand, help="One or two factors varied, everything else equal: a layer and a table.")
def _ablation_command(
    context: typer.Context,
    name: ablation.Name,
    benchmark: opt.Benchmark,
    vary: ablation.Vary = None,
    as_json: opt.AsJson = False,
) -> None:
    request = ablation.make_request(name, read_plan(benchmark, context.obj), vary)
    _execute("ablate", request, as_json=as_json)


@app.command()
def demo(
    sample: Annotated[int | None, typer.Option(help=f"items per task of MoodBench; default: {SAMPLE}")] = None,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """The main job on a model that comes with the install: all 41 tasks of MoodBench and all of LongEmotion, on bundled items."""
    plans = demo_plans(lake, sample)
    announce(plans[0])
    _execute("run", *plans, as_json=as_json)  # that most replies of so small a model cannot be read is no failure of the demo


def _execute(stage: str, *requests: Any, as_json: bool, fails_if: Set[str] = frozenset()) -> None:
    require_prefect_settings()
    temporary_server()
    from flows.commands.run import run_command  # noqa: PLC0415  takes seconds that a misspelt option need not wait

    result = run_command(stage, *requests)
    if fails_if & {result.document.get("state"), *(row.get("verdict") for row in result.document.get("models", ()))}:
        result = replace(result, status=1)
    result.finish(as_json=as_json)


def _with_settings(command: Callable[[], Any]) -> None:
    try:
        command()
    except Exception:
        # Prefect may have been imported just then, and its parsers raise anything over damaged settings.
        if "prefect" in sys.modules:
            require_prefect_settings()
        raise


def guarded(command: Callable[[], Any]) -> int:
    """Run a command; turn an expected failure into one message and its exit status."""
    status = 0
    try:
        require_certificates()
        _with_settings(command)
    except SystemExit as end:  # Typer turns Ctrl-C into one too
        status = end.code if isinstance(end.code, int) else 2
    except KeyboardInterrupt:
        status = INTERRUPTED
    except MoodflowError as error:
        sys.stderr.write(f"Error: {printable(str(error))}\n")
        status = 2
    except BrokenPipeError:
        status = 0  # whoever read the output, such as `head`, has enough
    except OSError as error:
        sys.stderr.write(f"Error: {printable(str(refused_by_system(error)))}\n")
        status = 2
    if status == INTERRUPTED:
        sys.stderr.write(INTERRUPTION)
    return status


def main() -> None:
    """Run `moodflow`, then end its process."""
    leave(guarded(app))
