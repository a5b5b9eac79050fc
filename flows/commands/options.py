"""Declare the options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from schemas.errors import UsageError
from schemas.folders import Folder, parse_folder
from schemas.vocabulary import Profile

MODEL, JUDGE, EVALUATED, LIMITS, WHERE, OUTPUT = GROUPS = (
    "Model",
    "Judge and roles",
    "What is evaluated",
    "Limits",
    "Where",
    "Output",
)
"""Titles of the groups of options, in the order of the help."""

Benchmark = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="moodbench, longemotion, either with -mini, or a blueprint file")
]
Mirror = Annotated[Path | None, typer.Option(envvar="MOODFLOW_MIRROR", help="folder with source files, host/owner/repo/path")]
LakeFolder = Annotated[
    Folder | None,
    typer.Option(
        "--lake",
        parser=parse_folder,
        metavar="FOLDER",
        help="of the layers, or s3://BUCKET/PREFIX; default parquet",
        rich_help_panel=WHERE,
    ),
]
Provider = Annotated[
    str | None,
    typer.Option(help="one of `moodflow models list`, instead of --base-url", metavar="ID", rich_help_panel=MODEL),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(help="OpenAI-compatible server: http://localhost:8000/v1", metavar="URL", rich_help_panel=MODEL),
]
KeyEnv = Annotated[
    str | None, typer.Option(help="environment variable that holds the API key", metavar="NAME", rich_help_panel=MODEL)
]
ScoredAs = Annotated[Profile, typer.Option("--profile", help="corrected, or reference: as the released code would score")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="print calls, tokens and money it would take; ask nothing", rich_help_panel=LIMITS)
]
Again = Annotated[bool, typer.Option("--again", help="probe anew, whatever is remembered")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="seconds to wait for one reply")]


AsJson = Annotated[bool, typer.Option("--json", help="one JSON document on standard output", rich_help_panel=OUTPUT)]


def require_asking(stage: str) -> None:
    """Refuse --dry-run for what calls no model.

    Raises:
        UsageError: the stage asks nothing.
    """
    if stage not in {"run", "infer"}:
        raise UsageError(
            f"moodflow {stage} calls no model, so there is nothing to estimate",
            where="--dry-run",
            expected="moodflow run or moodflow infer",
            next_step="leave --dry-run out",
        )
