"""Check datasets: files, records, gold, and the scores they allow."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Column, Table

from flows.commands.boards import detail_lines
from schemas.blueprint import Blueprint
from schemas.dataset import DatasetSpec
from schemas.errors import UsageError
from tasks.analysis.dataset_check.checking import DatasetCheck, check_dataset
from tasks.datasets.catalogue import CATALOGUE, find_dataset
from tasks.scoring.blueprints import load_blueprint
from tasks.sources.locating import Locator

SHIPPED = ("moodbench", "moodbench-mini", "longemotion", "longemotion-released", "longemotion-mini")
FETCHES_AT_ONCE = 4


def run_checks(name: str | None, mirror: Path | None, *, every: bool, offline: bool) -> list[DatasetCheck]:
    """Check one dataset, or every dataset of MoodBench, in the order of the catalogue.

    Args:
        name: of the dataset; null with `every`.
        mirror: folder with source files.
        every: check all.
        offline: use what is here, fetch nothing.

    Raises:
        UsageError: neither or both of name and `every`, or no such dataset.
    """
    if every == (name is not None):
        raise UsageError(
            "which dataset is to be checked is not clear",
            where="moodflow datasets check",
            expected="ID or --all",
            got=f"{name} and --all" if every else "neither",
            next_step="moodflow datasets list shows the names",
        )
    blueprints = [load_blueprint(shipped) for shipped in SHIPPED]
    named = [find_dataset(name)] if name else [spec for spec in CATALOGUE if spec.id in blueprints[0].datasets]
    locator = Locator(mirror=mirror, cache=Locator.for_mirror(None).cache) if offline else Locator.for_mirror(mirror)
    with ThreadPoolExecutor(FETCHES_AT_ONCE) as pool:
        return list(pool.map(lambda spec: check_dataset(spec, _blueprint_of(spec, blueprints), locator), named))


def _blueprint_of(spec: DatasetSpec, blueprints: Sequence[Blueprint]) -> Blueprint | None:
    return next((blueprint for blueprint in blueprints if spec.id in blueprint.datasets), None)


def check_document(check: DatasetCheck) -> dict[str, Any]:
    """One dataset as a JSON object."""
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


def check_table(checks: Sequence[DatasetCheck]) -> Table:
    """Many checks for a terminal, one line each."""
    numbers = [
        Column(name, justify="right") for name in ("Rows", "Good", "Rejected", "Repeats", "Ceiling", "Always A", "Best letter")
    ]
    table = Table(Column("Dataset", no_wrap=True), "Ready", "Languages", *numbers, "Gold", "Needs", box=SIMPLE)
    for check in checks:
        document = check_document(check)
        table.add_row(document["id"], "yes" if check.ready else "no", *_cells(check), "; ".join(check.needs))
    return table


def check_lines(check: DatasetCheck) -> list[str]:
    """One check in full, for a terminal."""
    return detail_lines(check_document(check))


def _cells(check: DatasetCheck) -> list[str]:
    content, reachable = check.content, check.reachable
    if content is None or reachable is None:
        return [""] * 9
    best = max(reachable.constant.items(), key=lambda entry: entry[1], default=None)
    return [
        ", ".join(f"{language} {count}" for language, count in content.languages.items()),
        str(check.rows_read),
        str(content.good),
        str(content.items_read - content.good),
        str(content.duplicates),
        "judged" if reachable.ceiling is None else f"{reachable.ceiling:.1f}",
        f"{reachable.constant['A']:.1f}" if reachable.constant else "",
        f"{best[0]} {best[1]:.1f}" if best else "",
        " ".join(f"{letter}{count}" for letter, count in list(content.gold.items())[:6]),
    ]


def summary(checks: Sequence[DatasetCheck]) -> str:
    """How many are ready."""
    return f"{sum(check.ready for check in checks)} of {len(checks)} datasets ready"
