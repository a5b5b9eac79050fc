"""`moodflow compare`: two runs of a benchmark, or both profiles over one plan; what its options say."""

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from flows.commands.console import print_json, terminal
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE

if TYPE_CHECKING:
    from flows.commands.plan_options import PlanOptions

HELP = (
    "RUN RUN: two runs of a benchmark, the earlier one first: scores over common items with intervals, items that flipped. "
    "BENCHMARK --model ...: both profiles over the same stored replies, ours and as the released code would score."
)
OF_TWO_RUNS = ("--lake", "--set bootstrap")
"""Options of a plan that two runs have."""

First = Annotated[str, typer.Argument(metavar="RUN|BENCHMARK", help="the earlier run, or a benchmark as moodflow run takes it")]
Second = Annotated[str | None, typer.Argument(metavar="RUN", help="the later run; without it both profiles are compared")]
Flips = Annotated[
    int, typer.Option("--flips", min=0, help="of two runs: show so many flipped items of each direction with both replies")
]


def print_runs(names: tuple[str, str], flips: int, options: "PlanOptions", *, as_json: bool) -> NoReturn:
    """Compare two runs and end with the status of that.

    Args:
        names: of the runs, the earlier one first.
        flips: items that changed to be shown, of each direction.
        options: those of a plan.
        as_json: print the JSON document.

    Raises:
        UsageError: an option is given that two runs do not have, or they cannot be compared.
        LakeError: a partition is gone or changed.
    """
    from flows.commands.compare_view import comparison_shown  # noqa: PLC0415
    from tasks.analysis.compare_runs import compare_runs  # noqa: PLC0415

    if unfit := [name for name in options.given if name not in OF_TWO_RUNS]:
        raise UsageError(
            "two runs are compared as they are",
            where=", ".join(unfit),
            expected="no option but --lake, --set bootstrap=N, --flips and --json",
            got=", ".join(unfit),
            next_step="leave these options out; moodflow compare BENCHMARK --model NAME compares both profiles",
        )
    document = compare_runs(options.lake or DEFAULT_LAKE, names, flips, options.bootstrap)
    if as_json:
        print_json(document)
    else:
        terminal().print(*comparison_shown(document), sep="\n", highlight=False)
    raise typer.Exit(int(bool(document["warnings"])))


def require_runs(flips: int) -> None:
    """Refuse --flips where profiles are compared.

    Raises:
        UsageError: it is given.
    """
    if flips:
        raise UsageError(
            "only two runs have items that flipped",
            where="--flips",
            expected="moodflow compare RUN RUN --flips N",
            got=str(flips),
        )
