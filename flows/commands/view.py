"""`moodflow view`: show the runs of a lake in a browser, or write the pages of one into a folder."""

import signal
from pathlib import Path
from secrets import token_urlsafe
from threading import Event
from typing import Annotated
from urllib.parse import urlencode

import typer

from flows.commands import options as opt
from flows.commands.console import CommandResult, print_json, terminal
from flows.runtime.local_server import listen
from schemas.documents.serve import ServedPages
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE, Folder
from tasks.lake.manifest import resolve_run
from tasks.reporting.view.addresses import Address, served

Runs = Annotated[list[str] | None, typer.Argument(metavar="RUN...", help=f"{opt.HANDLES}; default: all of the lake")]
To = Annotated[Path | None, typer.Option("--to", metavar="DIR", help="write the pages of one run into this folder instead")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="wrong rows that have a page with --to, those of the gate first")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 = any free port")]

app = typer.Typer(add_completion=False)


@app.command()
def view(
    run: Runs = None,
    host: opt.Host = "127.0.0.1",
    port: Port = 0,
    to: To = None,
    limit: Limit = 200,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show runs in a browser, from the leaderboard down to every reply, until Ctrl-C."""
    folder = lake or DEFAULT_LAKE
    runs = tuple(resolve_run(folder, handle) for handle in run or ())
    if to is not None:
        write_pages(folder, runs, to, limit, as_json=as_json)
    else:
        serve_pages(folder, runs, host, port, as_json=as_json)


def write_pages(lake: Folder, runs: tuple[str, ...], to: Path, limit: int, *, as_json: bool) -> None:
    """Write the pages of a run into a folder; print where the first one is."""
    from flows.service.static_view import write_view  # noqa: PLC0415  with the pages, which take their time
    from tasks.runs.past_run import reopen  # noqa: PLC0415

    if len(runs) != 1:
        got = ", ".join(runs) or "none"
        raise UsageError("pages are written of one run", where="RUN", expected="one run with --to", got=got, next_step="name one")
    document = ServedPages(address=str(write_view(reopen(lake, runs[0]), to, limit)), runs=runs, lake=str(lake))
    CommandResult(0, document, [f"Open {document.address}"]).finish(as_json=as_json)


def serve_pages(lake: Folder, runs: tuple[str, ...], host: str, port: int, *, as_json: bool) -> None:
    """Serve the pages until a signal comes; print the address, of the page of a single run or of the first page."""
    from flows.service.report_server import serve_reports  # noqa: PLC0415  with the pages, which take their time

    token, stopped = token_urlsafe(24), Event()
    with listen(host, port, "--port") as listening, serve_reports(listening, [lake], token) as origin:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        path = served(Address("run", runs[0])) if len(runs) == 1 else "/"
        query = urlencode([*(("run", run) for run in runs if len(runs) > 1), ("token", token)])
        document = ServedPages(address=f"{origin}{path}?{query}", runs=runs, lake=str(lake))
        if as_json:
            print_json(document)
        else:
            terminal().print(f"Open {document.address}", "Ctrl-C stops it.", sep="\n", highlight=False, soft_wrap=True)
        stopped.wait()
