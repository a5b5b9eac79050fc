"""The command `moodflow explain`."""

import typer

from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from schemas.folders import DEFAULT_LAKE


def explain(
    run: str = typer.Argument(metavar="RUN", help="a run of the lake; moodflow runs list names them"),
    model: str | None = typer.Option(None, "--model", help="only this model; needed for rows if there are several"),
    setting: str | None = typer.Option(None, "--setting", help="only this setting; needed for rows if there are several"),
    ability: str | None = typer.Option(None, "--ability", help="how this ability, of any tier, came about"),
    task: str | None = typer.Option(None, "--task", help="how this task came about"),
    dataset: str | None = typer.Option(None, "--dataset", help="how this dataset came about, and its rows"),
    item: str | None = typer.Option(None, "--item", help="one row whole: messages sent, reply, reading, ratings, files"),
    worst: int | None = typer.Option(None, "--worst", min=1, help="of a dataset, so many rows that earn least"),
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """How a number of a past run came about: from the total down to the rows, replies and prompts behind it.

    Ends with 1 if stored numbers do not add up, or a prompt is not the one that was stored.
    """
    from flows.commands.explain_document import explain_run  # noqa: PLC0415
    from tasks.analysis.selection import Selection  # noqa: PLC0415

    wanted = Selection(model, setting, ability, task, dataset, item, worst)
    found = explain_run(lake or DEFAULT_LAKE, run, wanted)
    if as_json:
        print_json(found.document)
    else:
        terminal().print(*found.shown, sep="\n", highlight=False)
    raise typer.Exit(found.status)
