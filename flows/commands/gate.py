"""`moodflow gate RUN --against RUN|FILE --fail-if CONDITION`: fail a job of CI by the differences between two runs."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult, bold, terminal_table
from schemas.documents.comparison import GateResult, RunComparison
from schemas.errors import UsageError, summarize
from schemas.folders import DEFAULT_LAKE, Folder
from schemas.json_yaml import read_json
from schemas.table import Column, Interval, Table
from tasks.compare.gate import FORM, check_gate, parse_condition
from tasks.compare.runs import compare_runs
from tasks.reporting.page import write_file
from tasks.runs.past_run import reopen
from tasks.runs.run_tables import System
from tasks.text.number_format import counted
from tasks.text.tables import escape, to_markdown

COLUMNS = (
    *(Column("System"), Column("Fails if", "code"), Column("Score of"), Column("Difference", "difference")),
    *(Column("95 % interval", "change"), Column("Items", "count"), Column("Verdict", "verdict"), Column("Reason")),
)

Undecided = Annotated[bool, typer.Option("--undecided-fails", help="end with status 1 also if a condition is undecided")]

app = typer.Typer(add_completion=False)


@app.command()
def gate(
    run: opt.Run,
    against: Annotated[str, typer.Option(metavar="RUN|FILE", help="a run, or a file that run or compare --json wrote")],
    fail_if: Annotated[list[str], typer.Option(metavar="CONDITION", help=f"{FORM}; may be repeated")],
    undecided_fails: Undecided = False,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="write the table as Markdown too")] = None,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Fail a job of CI if a run fell behind another by more than its conditions allow.

    A condition is failed if the whole interval of the difference lies beyond its limit, and undecided if only a part does or the
    items are too few. Ends with status 1 if one is failed.
    """
    conditions = [parse_condition(text) for text in fail_if]
    result = check_gate(_compare(lake or DEFAULT_LAKE, run, against), conditions)
    title, runs = f"Gate {result.verdict}", f"{result.run} against {result.against}, {result.benchmark}"
    speaks = f"It speaks of {result.compared} of {counted(result.systems, 'system')} of the run."
    lines = [runs, speaks, *result.remarks, *(f"Compare with care: {warning}" for warning in result.warnings)]
    table = _table(result)
    if markdown:
        write_file(markdown, "\n\n".join([f"## {title}", *map(escape, lines), to_markdown(table), ""]).encode())
    fails = result.verdict in ({"failed", "undecided"} if undecided_fails else {"failed"})
    CommandResult(int(fails), result, [bold(title), *lines, "", terminal_table(table)]).finish(as_json=as_json)


def _compare(folder: Folder, run: str, against: str) -> RunComparison:
    """Compare a run with another of the lake, or with that of a file; or take the comparison that the file has."""
    if not (path := Path(against)).is_file():
        return compare_runs(folder, (against, run), 0)
    try:
        document = read_json(path.read_bytes())
        earlier = document.get("run") if isinstance(document, dict) else None
        comparison = None if earlier else RunComparison.model_validate(document)
    except ValueError as error:
        expected = "what moodflow run --json or moodflow compare --json printed"
        got, step = summarize(error), "name a run of the lake instead"
        raise UsageError("the file holds no run", where=against, expected=expected, got=got, next_step=step) from error
    if comparison is None:
        return compare_runs(folder, (str(earlier), run), 0)
    if comparison.after != (name := reopen(folder, run).name):
        step = "compare the two runs again"
        raise UsageError("the comparison is of another run", where=against, expected=name, got=comparison.after, next_step=step)
    return comparison


def _table(result: GateResult) -> Table:
    rows = [
        (
            *(System(check.model, check.setting).label, check.condition, check.score, check.difference),
            *(Interval.of(check.ci_low, check.ci_high), check.n_items, check.verdict, check.reason),
        )
        for check in result.checks
    ]
    return Table(COLUMNS, rows).without_empty("Reason")
