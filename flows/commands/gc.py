"""`moodflow gc`: list what no run needs, ask, remove it."""

import sys
from typing import Annotated

import typer

from flows.commands import options as opt
from flows.commands.console import print_json, terminal
from schemas.errors import UsageError
from schemas.folders import DEFAULT_LAKE

DryRun = Annotated[bool, typer.Option("--dry-run", help="list only")]
Yes = Annotated[bool, typer.Option("--yes", help="remove without asking")]
OlderThan = Annotated[
    float, typer.Option("--older-than", metavar="HOURS", min=0, help="keep what is younger; a run in progress lists nothing yet")
]


def gc(
    *,
    dry_run: DryRun = False,
    yes: Yes = False,
    older_than: OlderThan = 24.0,
    lake: opt.LakeFolder = None,
    as_json: opt.AsJson = False,
) -> None:
    """Remove partitions that no run lists, and what killed writers left. Journal, embeddings and reports stay."""
    from flows.commands import collecting  # noqa: PLC0415

    collector = collecting.Collector(lake or DEFAULT_LAKE, older_than)
    unused = collector.find()
    if not as_json:
        terminal().print(*collecting.unused_shown(collector, unused), sep="\n")
    removing = bool(unused) and not dry_run and (yes or _confirmed(as_json=as_json))
    if removing:
        unused = collector.remove(unused)
    if as_json:
        print_json(collecting.unused_document(collector, unused, removed=removing))
    elif removing:
        freed = f"{len(unused.files)} files and {len(unused.folders)} folders removed"
        terminal().print(f"{freed}, {collecting.said_size(unused.size)} freed.")
    elif unused:
        terminal().print("Nothing was removed.")


def _confirmed(*, as_json: bool) -> bool:
    """The user's answer.

    Raises:
        UsageError: if nobody can be asked.
    """
    if as_json or not sys.stdin.isatty():
        raise UsageError(
            "files would be removed, and nobody can be asked",
            where="moodflow gc",
            expected="--yes to remove them, or --dry-run to list them only",
            got="no terminal" if not as_json else "--json, which asks nothing",
            next_step="moodflow gc --dry-run, then moodflow gc --yes",
        )
    return typer.confirm("Remove them?", default=False)
