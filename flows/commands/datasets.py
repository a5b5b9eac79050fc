"""`moodflow datasets`: list and show the datasets of the catalogue, and check their files."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType
from rich.table import Table

from flows.commands import options as opt
from flows.commands.console import CommandResult, detail_lines, numbers, text_table, unbroken
from schemas.benchmark import benchmarks
from schemas.dataset import DatasetSpec, PinnedFile, SourceFile
from schemas.errors import UsageError
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.scoring.blueprints import list_blueprints, load_blueprint
from tasks.sources.checksums import name_source
from tasks.sources.locating import Locator, choose_source, needs, sources
from tasks.verify.dataset_check import DatasetCheck, check_dataset

FETCHES_AT_ONCE = 4
FIRST = next(benchmark.name for _, benchmark in benchmarks() if benchmark.datasets)
"""The benchmark that `--all` stands for, in their order."""

SHOWN = (
    *("record_format", "question_types", "languages", "licence", "redistributable", "canary", "paper", "expected_rows"),
    *("evaluation_version", "ambiguous", "differences"),
)
"""Fields of a catalogue entry that are shown as they are."""

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command("list")
def list_datasets(mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """Every dataset of the catalogue and whether its files are here."""
    locator, rows = Locator.for_mirror(mirror), []
    table = text_table(unbroken("Dataset"), "Ready", "Languages", "Source or what is needed")
    for entry in CATALOGUE.values():
        spec, lacking = choose_source(entry, locator), needs(entry, locator)
        source = None if lacking else _describe_sources(spec)
        named = {name: getattr(spec, name) for name in ("id", "title", "languages", "licence")}
        rows.append({**named, "ready": not lacking, "needs": lacking, "source": source})
        table.add_row(spec.id, "no" if lacking else "yes", ", ".join(spec.languages), source or "; ".join(lacking))
    CommandResult(0, {"datasets": rows}, [table]).finish(as_json=as_json)


@app.command("show")
def show_dataset(name: str = typer.Argument(metavar="ID"), mirror: opt.Mirror = None, as_json: opt.AsJson = False) -> None:
    """One catalogue entry: source, licence, gold, differences from the paper."""
    entry = find_dataset(name)
    spec = choose_source(entry, Locator.for_mirror(mirror))
    row = {
        "id": spec.id,
        "title": spec.title,
        "used_here": _describe_sources(spec),
        "files": [_describe_file(file) for file in spec.files],
        "other_sources": [_describe_file(file) for other in sources(entry) if other is not spec for file in other.files],
        **{name: getattr(spec, name) for name in SHOWN},
    }
    CommandResult(0, row, [*detail_lines(row)]).finish(as_json=as_json)


@app.command("check")
def check_datasets(
    name: str | None = typer.Argument(None, metavar="[ID]"),
    every: bool = typer.Option(False, "--all", help=f"every dataset of {FIRST}"),
    offline: bool = typer.Option(False, "--offline", help="use what is here, fetch nothing"),
    mirror: opt.Mirror = None,
    as_json: opt.AsJson = False,
) -> None:
    """Fetch or find the files, verify, read and validate them; print what is in them and which scores they allow."""
    checks = _run_checks(name, mirror, every=every, offline=offline)
    ready = sum(found.ready for found in checks)
    document: dict[str, Any] = {"ready": ready, "total": len(checks), "datasets": [_check_document(found) for found in checks]}
    summary = f"{ready} of {len(checks)} datasets ready"
    view: list[RenderableType] = (
        [_check_table(document["datasets"]), summary] if every else [*detail_lines(document["datasets"][0])]
    )
    CommandResult(int(ready < len(checks)), document, view).finish(as_json=as_json)


def _describe_sources(spec: DatasetSpec) -> str:
    """Name the repositories a dataset's files come from."""
    repositories = dict.fromkeys(file.repository for file in spec.files if isinstance(file, PinnedFile))
    return ", ".join(repositories) or "bundled"


def _describe_file(file: SourceFile) -> str:
    """Describe where a file comes from and what pins it."""
    if not isinstance(file, PinnedFile):
        return name_source(file)
    member = f", member {file.member}" if file.member else ""
    pin = f"sha256 {file.sha256}" if file.sha256 else f"md5 {file.md5}" if file.md5 else "not pinned by content"
    return f"{file.repository}/{file.path}{member} at {file.revision}, {pin}"


def _run_checks(name: str | None, mirror: Path | None, *, every: bool, offline: bool) -> list[DatasetCheck]:
    """Check one dataset, or every dataset of the first benchmark, in the order of the catalogue."""
    if every == (name is not None):
        raise UsageError(
            "which dataset is to be checked is not clear",
            where="moodflow datasets check",
            expected="ID or --all",
            got=f"{name} and --all" if every else "neither",
            next_step="moodflow datasets list shows the names",
        )
    blueprints = [load_blueprint(shipped) for shipped in dict.fromkeys((FIRST, *list_blueprints()))]
    named = [find_dataset(name)] if name else [spec for spec in CATALOGUE.values() if spec.id in blueprints[0].datasets]
    locator = Locator(mirror=mirror, cache=Locator.for_mirror(None).cache) if offline else Locator.for_mirror(mirror)

    def check(spec: DatasetSpec) -> DatasetCheck:
        blueprint = next((blueprint for blueprint in blueprints if spec.id in blueprint.datasets), None)
        return check_dataset(spec, blueprint, locator)

    with ThreadPoolExecutor(FETCHES_AT_ONCE) as pool:
        return list(pool.map(check, named))


def _check_document(check: DatasetCheck) -> dict[str, Any]:
    """Return one dataset as a JSON object."""
    spec, content, reachable = check.spec, check.content, check.reachable
    return {
        "id": spec.id,
        "title": spec.title,
        "ready": check.ready,
        "needs": list(check.needs),
        "sources": check.sources,
        "pinned": check.pinned,
        "licence": spec.licence,
        "redistributable": spec.redistributable,
        "rows_read": check.rows_read,
        **(asdict(content) if content else {}),
        "ceiling": reachable.ceiling if reachable else None,
        "constant": reachable.constant if reachable else {},
        "ambiguous": list(spec.ambiguous),
    }


def _check_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return many checks for a terminal, one line each; what else is in a dataset, its own check shows."""
    counts = numbers("Rows", "Good", "Repeats", "Ceiling")
    table = text_table(unbroken("Dataset"), "Ready", *counts, "Needs")
    for row in rows:
        known = [row[name] for name in ("rows_read", "good", "duplicates", "ceiling")] if "good" in row else [None] * 4
        shown = ("" if value is None else f"{value:g}" for value in known)
        table.add_row(row["id"], "yes" if row["ready"] else "no", *shown, "; ".join(row["needs"]))
    return table
