"""Declare the options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from schemas.folders import DATA_FOLDER, Folder, parse_folder

GROUPS = ("Model", "Judge and roles", "What is evaluated", "Limits", "Where", "Output")
MODEL, JUDGE, EVALUATED, LIMITS, WHERE, OUTPUT = GROUPS
"""Titles of the groups of options, in the order of the help."""


def option(text: str, group: str, metavar: str | None = None, *names: str, **more: Any) -> Any:
    """Return an option, with its help, in a group; it is named after its parameter unless it has names."""
    return typer.Option(*names, help=text, rich_help_panel=group, metavar=metavar, **more)


SHIPPED = ", ".join(sorted(file.stem for file in (DATA_FOLDER / "blueprints").glob("*.yaml") if not file.stem.endswith("-mini")))
Run = Annotated[str, typer.Argument(metavar="RUN", help="a run of the lake; moodflow runs list names them")]
Benchmark = Annotated[str, typer.Argument(metavar="BENCHMARK", help=f"{SHIPPED}, NAME-mini, or a blueprint file")]
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
Provider = Annotated[str | None, option("one of `moodflow models list`, instead of --base-url", MODEL, "ID")]
BaseUrl = Annotated[str | None, option("OpenAI-compatible server: http://localhost:8000/v1", MODEL, "URL")]
KeyEnv = Annotated[str | None, option("environment variable that holds the API key", MODEL, "NAME")]
About = Annotated[Path | None, option("descriptions of models by name, a YAML file", MODEL, "FILE")]
DescriptionFile = Annotated[Path, option("descriptions of models of the run by name, a YAML file", MODEL, "FILE")]
Fields = Annotated[list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="of the model's entry, as `run` has it")]
ScoredAs = Annotated[str, typer.Option("--profile", help="corrected, or reference: as the released code would score")]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary", metavar="PATH=V1,V2", help="a run for each value, then a comparison; once or twice", rich_help_panel=EVALUATED
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="print calls, tokens and money it would take; ask nothing", rich_help_panel=LIMITS)
]
Again = Annotated[bool, typer.Option("--again", help="probe anew, whatever is remembered")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="seconds to wait for one reply")]
ToFolder = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="for the files; made if it is not there")]
FailOnRegression = Annotated[
    bool, typer.Option("--fail-on-regression", help="end with status 1 if a model regressed", rich_help_panel=OUTPUT)
]
AsJson = Annotated[bool, typer.Option("--json", help="one JSON document on standard output", rich_help_panel=OUTPUT)]
