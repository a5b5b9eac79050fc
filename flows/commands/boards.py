"""What the commands that only read show: datasets and runs."""

from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Column, Table

from flows.commands.tables import ablation_document, run_document
from schemas.dataset import DatasetSpec, PinnedFile, SourceFile
from schemas.folders import Folder
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.lake.lake import Lake
from tasks.lake.manifest import list_runs, read_code_version, read_manifest
from tasks.sources.choosing import choose_source, needs, sources
from tasks.sources.locating import Locator, name_source


def dataset_rows(mirror: Path | None) -> list[dict[str, Any]]:
    """One row per dataset of the catalogue: is it ready here, from which source, and if not, what it needs."""
    locator = Locator.for_mirror(mirror)
    return [_dataset_row(choose_source(spec, locator), needs(spec, locator)) for spec in CATALOGUE]


def _dataset_row(spec: DatasetSpec, lacking: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": spec.id,
        "title": spec.title,
        "ready": not lacking,
        "needs": list(lacking),
        "source": None if lacking else ", ".join(describe_sources(spec)),
        "languages": list(spec.languages),
        "licence": spec.licence,
    }


def describe_sources(spec: DatasetSpec) -> list[str]:
    """Repositories a dataset's files come from."""
    files = [file for file in spec.files if isinstance(file, PinnedFile)]
    return list(dict.fromkeys(file.repository for file in files)) or ["bundled"]


def dataset_table(rows: list[dict[str, Any]]) -> Table:
    """The datasets for a terminal."""
    table = Table(Column("Dataset", no_wrap=True), "Ready", "Languages", "Source or what is needed", box=SIMPLE)
    for row in rows:
        place = row["source"] if row["ready"] else "; ".join(row["needs"])
        table.add_row(row["id"], "yes" if row["ready"] else "no", ", ".join(row["languages"]), place)
    return table


def dataset_details(name: str, mirror: Path | None) -> dict[str, Any]:
    """One catalogue entry, readable: that of the source which is used on this machine, and what the other ones are."""
    entry = find_dataset(name)
    spec = choose_source(entry, Locator.for_mirror(mirror))
    return {
        "id": spec.id,
        "title": spec.title,
        "used_here": ", ".join(describe_sources(spec)),
        "files": [describe_file(file) for file in spec.files],
        "other_sources": [describe_file(file) for other in sources(entry) if other is not spec for file in other.files],
        "record_format": spec.record_format,
        "question_types": list(spec.question_types),
        "languages": list(spec.languages),
        "licence": spec.licence,
        "redistributable": spec.redistributable,
        "canary": spec.canary,
        "paper": spec.paper,
        "expected_rows": spec.expected_rows,
        "evaluation_version": spec.evaluation_version,
        "ambiguous": list(spec.ambiguous),
        "differences": list(spec.differences),
    }


def detail_lines(row: dict[str, Any]) -> list[str]:
    """A JSON object for a terminal: one line per key, or per entry of a list."""
    lines = []
    for key, value in row.items():
        if isinstance(value, list) and value:
            lines += [f"[bold]{key}[/bold]:", *(f"  {escape(str(entry))}" for entry in value)]
        elif value not in (None, []):
            lines.append(f"[bold]{key}[/bold]: {escape(str(value))}")
    return lines


def describe_file(file: SourceFile) -> str:
    """Where a file comes from and what pins it."""
    if not isinstance(file, PinnedFile):
        return name_source(file)
    member = f", member {file.member}" if file.member else ""
    pin = f"sha256 {file.sha256}" if file.sha256 else f"md5 {file.md5}" if file.md5 else "not pinned by content"
    return f"{file.repository}/{file.path}{member} at {file.revision}, {pin}"


def run_rows(folder: Folder) -> list[dict[str, Any]]:
    """One row per run, newest first."""
    manifests = [read_manifest(folder, run) for run in list_runs(folder)]
    return [
        {
            "run": manifest.run,
            "benchmark": manifest.benchmark,
            "started_at": manifest.started_at,
            "partitions": len(manifest.partitions),
            "missing": len(manifest.missing),
            "calls_sent": manifest.calls.sent,
            "report": str(folder / manifest.report) if manifest.report else None,
        }
        for manifest in manifests
    ]


def run_table(rows: list[dict[str, Any]]) -> Table:
    """The runs for a terminal."""
    table = Table(Column("Run", overflow="fold"), "Benchmark", "Calls sent", "Missing", box=SIMPLE)
    for row in rows:
        table.add_row(row["run"], row["benchmark"], str(row["calls_sent"]), str(row["missing"]))
    return table


def run_details(folder: Folder, run: str) -> dict[str, Any]:
    """The JSON document of one run, rebuilt from the lake."""
    manifest, lake = read_manifest(folder, run), Lake(folder, read_code_version())
    return ablation_document(manifest, lake) if manifest.ablation else run_document(manifest, lake)
