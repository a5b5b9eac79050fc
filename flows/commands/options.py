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
HANDLES = "the number of a run in `moodflow runs list`, latest, latest~1, or the beginning of its name"
Run = Annotated[str, typer.Argument(metavar="RUN", help=HANDLES)]
NAMES = f"{SHIPPED}, NAME-mini, or a blueprint file"
Benchmark = Annotated[str, typer.Argument(metavar="BENCHMARK", help=NAMES)]
Planned = Annotated[str | None, typer.Argument(metavar="BENCHMARK", help=f"{NAMES}; may stand in --config FILE")]
Mirror = Annotated[Path | None, typer.Option(envvar="MOODFLOW_MIRROR", help="folder with source files, host/owner/repo/path")]
LakeFolder = Annotated[
    Folder | None, option("folder of results, or s3://BUCKET/PREFIX; default parquet", WHERE, "FOLDER", parser=parse_folder)
]
Host = Annotated[str, typer.Option("--host", help="address of this machine to listen on")]
Provider = Annotated[str | None, option("provider that `moodflow models list` shows, instead of a URL", MODEL, "ID")]
BaseUrl = Annotated[str | None, option("OpenAI-compatible server, such as http://localhost:8000/v1", MODEL, "URL")]
KeyEnv = Annotated[str | None, option("environment variable that holds the API key", MODEL, "NAME")]
About = Annotated[Path | None, option("YAML file that describes the models, by name", MODEL, "FILE")]
DescriptionFile = Annotated[Path, option("YAML file that describes models of the run, by name", MODEL, "FILE")]
Fields = Annotated[
    list[str] | None, typer.Option("--set", metavar="FIELD=VALUE", help="field of the model; see moodflow options")
]
ScoredAs = Annotated[str, typer.Option("--profile", help="corrected, or reference: score as the released code would")]
Vary = Annotated[list[str] | None, option("one run per value, then a comparison; once or twice", EVALUATED, "PATH=V1,V2")]
DryRun = Annotated[bool, option("print the calls, tokens and money it would take; call no model", LIMITS, None, "--dry-run")]
Again = Annotated[bool, typer.Option("--again", help="probe again, even if results are remembered")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="seconds to wait for one reply")]
ToFolder = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="folder for the files; created if needed")]
FailOnRegression = Annotated[bool, option("end with status 1 if a model regressed", OUTPUT, None, "--fail-on-regression")]
Replies = Annotated[Path | None, option("file with replies to score, in place of a model's server", MODEL, "FILE")]
AsJson = Annotated[bool, option("print one JSON document", OUTPUT, None, "--json")]
