"""`moodflow compare`: two runs of a benchmark, or both profiles over one plan; what its options say."""

from collections.abc import Mapping
from typing import Annotated, Any, NoReturn

import typer

from flows.commands.console import print_json, terminal
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE

HELP = (
    "RUN RUN: two runs of a benchmark, the earlier one first: scores over common items with intervals, items that flipped. "
    "BENCHMARK --model ...: both profiles over the same stored replies, ours and as the released code would score."
)
OF_TWO_RUNS = ("lake", "as_json", "bootstrap")
"""Options that two runs have; all others are of a plan."""

ENVIRONMENT = ("mirror", "prices")
"""Options that a variable of the environment may have given: of no meaning here, and no mistake."""

NOT_COMPARED = ("dry_run", "redact")
"""Parameters of a stage that a comparison does not have: it asks nothing and writes no report."""

First = Annotated[str, typer.Argument(metavar="RUN|BENCHMARK", help="the earlier run, or a benchmark as moodflow run takes it")]
Second = Annotated[str | None, typer.Argument(metavar="RUN", help="the later run; without it both profiles are compared")]
Flips = Annotated[
    int, typer.Option("--flips", min=0, help="of two runs: show so many flipped items of each direction with both replies")
]


def print_runs(names: tuple[str, str], flips: int, given: Mapping[str, Any]) -> NoReturn:
    """Compare two runs and end with the status of that.

    Args:
        names: of the runs, the earlier one first.
        flips: items that changed to be shown, of each direction.
        given: every other option of the command, by its parameter.

    Raises:
        UsageError: an option is given that two runs do not have, or they cannot be compared.
        LakeError: a partition is gone or changed.
    """
    from flows.commands.compare_view import comparison_shown  # noqa: PLC0415
    from tasks.analysis.compare_runs import compare_runs  # noqa: PLC0415

    plain = (*OF_TWO_RUNS, *ENVIRONMENT)
    if unfit := sorted(name for name, value in given.items() if value not in (None, False) and name not in plain):
        raise UsageError(
            "two runs are compared as they are",
            where=", ".join(f"--{name.replace('_', '-')}" for name in unfit),
            expected="no option but --lake, --bootstrap, --flips and --json",
            got=", ".join(unfit),
            next_step="leave these options out; moodflow compare BENCHMARK --model NAME compares both profiles",
        )
    document = compare_runs(given["lake"] or DEFAULT_LAKE, names, flips, given["bootstrap"])
    if given["as_json"]:
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
