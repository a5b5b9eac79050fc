"""What the commands that only read show: leaderboards, datasets, runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Column, Table

from flows.outcome import ablation_document, layer_of, leaderboard_rows, run_document
from schemas.dataset import DatasetSpec, PinnedFile, SourceFile
from schemas.errors import UsageError
from schemas.lineage import RunManifest
from schemas.tables.scores import AbilityScores, Totals
from schemas.vocabulary import Profile
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.lineage.lake import Lake
from tasks.lineage.manifest import list_runs, read_code_version, read_manifest
from tasks.reference.methods import reference_blueprint
from tasks.scoring.blueprints import load_blueprint
from tasks.scoring.published import load_published_for, published_abilities, score_published
from tasks.scoring.veto import rank_models
from tasks.sources.choosing import choose_source, needs, sources
from tasks.sources.locating import Locator, name_source


def published_rows(benchmark: str) -> list[dict[str, Any]]:
    """The paper's models through the aggregation and veto the runs use; rows of all settings are ranked together.

    Raises:
        UsageError: if no paper has published scores of the benchmark's abilities.
    """
    blueprint = load_blueprint(benchmark)
    published = load_published_for(benchmark)
    if published is None:
        raise UsageError(
            f"there is no published table for {blueprint.name}",
            expected="a benchmark of a paper, such as moodbench or longemotion",
            got=f"the main abilities {', '.join(ability.id for ability in blueprint.abilities)}",
            next_step="leave out --published to see your own runs",
        )
    return leaderboard_rows(score_published(published, blueprint), published_abilities(published))


def stored_rows(benchmark: str, folder: Path, run: str | None, profile: Profile = "corrected") -> list[dict[str, Any]]:
    """Models of one run, or the newest result of each model and setting over all runs of the benchmark, ranked together.

    Runs scored in one profile and in the other are never ranked together.

    Raises:
        UsageError: if the lake holds no such run.
    """
    lake = Lake(folder, read_code_version())
    blueprint = load_blueprint(benchmark)
    if profile == "reference":
        blueprint = reference_blueprint(blueprint)
    runs = (
        [run] if run else list_runs(folder, lambda manifest: manifest.benchmark == blueprint.name and manifest.ablation is None)
    )
    if not runs:
        raise UsageError(
            f"no run of {blueprint.name} is in the lake",
            where=str(folder),
            next_step=f"moodflow run {benchmark} --model NAME makes one, or show the paper's table with --published",
        )
    manifests = [read_manifest(folder, name) for name in runs]
    if varied := next((manifest.run for manifest in manifests if manifest.ablation is not None), None):
        raise UsageError(
            f"run {varied} is an ablation: it has scores of its variants and none of the run",
            where="--run",
            expected="a run of moodflow run or moodflow report",
            next_step=f"moodflow runs show {varied}",
        )
    totals = _newest([lake.read(layer_of(manifest, "totals"), Totals) for manifest in manifests])
    abilities = pl.concat([_of_models(manifest, lake, totals) for manifest in manifests])
    newest = abilities.unique(["model", "setting", "ability"], keep="first", maintain_order=True)
    return leaderboard_rows(rank_models(totals, blueprint), newest)


def _newest(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).unique(["model", "setting"], keep="first", maintain_order=True)


def _of_models(manifest: RunManifest, lake: Lake, totals: pl.DataFrame) -> pl.DataFrame:
    abilities = lake.read(layer_of(manifest, "ability_scores"), AbilityScores)
    return abilities.join(totals, on=["model", "setting"], how="semi")


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


def run_rows(folder: Path) -> list[dict[str, Any]]:
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


def run_details(folder: Path, run: str) -> dict[str, Any]:
    """The JSON document of one run, rebuilt from the lake."""
    manifest, lake = read_manifest(folder, run), Lake(folder, read_code_version())
    return ablation_document(manifest, lake) if manifest.ablation else run_document(manifest, lake)
