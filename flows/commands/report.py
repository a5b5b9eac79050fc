"""The command `moodflow runs report`."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from schemas.folders import DEFAULT_LAKE


def rewrite(
    run: str = typer.Argument(metavar="RUN", help="a run of the lake; moodflow runs list names them"),
    out: Annotated[Path | None, typer.Option("--out", help="folder for report.md and report.html")] = None,
    redact: bool = typer.Option(False, "--redact", help="leave texts out whose licence forbids passing them on"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Write the report of a past run again, from the lake alone: no sources, no models, no journal.

    Without --out it goes where it was; with --redact, unless the run is redacted itself, into a folder `redacted` in there.
    """
    from flows.commands.rewrite_report import rewrite_report  # noqa: PLC0415

    found = rewrite_report(lake or DEFAULT_LAKE, run, out, redact=redact)
    if as_json:
        print_json(found.document)
    else:
        terminal().print(*found.shown, sep="\n", highlight=False)
    raise typer.Exit(found.status)
