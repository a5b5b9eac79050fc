"""`moodflow datasets`: list and show the datasets of the catalogue, and check their files."""

from collections.abc import Iterable

import typer
from rich.console import RenderableType

from flows.commands import options as opt
from flows.commands.console import CommandResult, detail_lines, terminal_table
from schemas.benchmark import GENERAL, benchmarks
from schemas.documents.datasets import DatasetCheck
from schemas.errors import UsageError
from schemas.table import Column, Table
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.scoring.blueprints import list_blueprints, load_blueprint
from tasks.sources.locating import Locator
from tasks.verify.dataset_check import check_datasets, describe_entry, list_datasets

FIRST = next(benchmark.name for _, benchmark in benchmarks() if benchmark.datasets and benchmark is not GENERAL)
"""The benchmark that `--all` stands for, in their order."""

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command("list")
def list_command(mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """List every dataset and whether its files are here."""
    document = list_datasets(Locator.for_mirror(mirror))
    columns = (Column("Dataset", "name"), Column("Ready"), Column("Languages"), Column("Source or what is needed"))
    rows = [(row.id, row.ready, ", ".join(row.languages), row.source or "; ".join(row.needs)) for row in document.datasets]
    CommandResult(0, document, [terminal_table(Table(columns, rows))]).finish(as_json=as_json)


@app.command("show")
def show_command(name: str = typer.Argument(metavar="ID"), mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """Show one dataset: source, licence, gold answers, differences from the paper."""
    CommandResult(0, describe_entry(find_dataset(name), Locator.for_mirror(mirror))).finish(as_json=as_json)


@app.command("check")
def check_command(
    name: str | None = typer.Argument(None, metavar="[ID]"),
    every: bool = typer.Option(False, "--all", help=f"check every dataset of {FIRST}"),
    offline: bool = typer.Option(False, "--offline", help="use the files that are here, fetch none"),
    mirror: opt.Mirror = None,
    as_json: opt.AsJson = False,
) -> None:
    """Fetch or find the files, verify and read them, and show what is in them and which scores they allow."""
    if every == (name is not None):
        raise UsageError(
            "it is unclear which dataset to check",
            where="moodflow datasets check",
            expected="ID or --all",
            got=f"{name} and --all" if every else "neither",
            next_step="moodflow datasets list shows the names",
        )
    blueprints = [load_blueprint(shipped) for shipped in dict.fromkeys((FIRST, *list_blueprints()))]
    specs = [find_dataset(name)] if name else [spec for spec in CATALOGUE.values() if spec.id in blueprints[0].datasets]
    locator = Locator(mirror=mirror, cache=Locator.for_mirror(None).cache) if offline else Locator.for_mirror(mirror)
    document = check_datasets(specs, blueprints, locator)
    summary = f"{document.ready} of {document.total} datasets ready"
    view: list[RenderableType] = [*detail_lines(document.datasets[0])]
    if every:
        view = [terminal_table(_check_table(document.datasets)), summary]
    CommandResult(int(document.ready < document.total), document, view).finish(as_json=as_json)


def _check_table(checks: Iterable[DatasetCheck]) -> Table:
    """Return a row per check; what else is in a dataset, its own check shows."""
    counts = [Column(title, "count") for title in ("Rows", "Good", "Repeats")]
    columns = (Column("Dataset", "name"), Column("Ready"), *counts, Column("Ceiling", "score"), Column("Needs"))
    rows = [
        (check.id, check.ready, check.rows_read, check.good, check.duplicates, check.ceiling, "; ".join(check.needs))
        for check in checks
    ]
    return Table(columns, rows)
