"""Dependencies point one way: flows -> tasks -> schemas; Prefect only where steps and flows are."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = {"flows", "tasks", "schemas"}
SHARED_IN_TASKS = {"tasks.lineage", "tasks.steps"}
"""Imported by every stage: the lake and the step decorator."""

STAGES = {
    "sources",
    "datasets",
    "contexts",
    "retrieval",
    "inference",
    "judging",
    "metrics",
    "reference",
    "scoring",
    "reporting",
    "checking",
}
STAGE_MAY_READ = {
    ("datasets", "sources"),
    ("datasets", "contexts"),
    ("reference", "metrics"),
    ("reporting", "datasets"),
    *(("checking", stage) for stage in ("sources", "datasets", "inference", "metrics", "scoring")),
}
"""Building items starts from files: the datasets stage calls the sources stage, and for long contexts the
contexts stage. The reference profile measures with our metrics
what it reads in its own way. The report says what constant answers earn, which is known of a dataset's items. Checking a dataset
takes imagined replies through every stage. Nothing else crosses."""


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imports(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def breaches(path: Path, source: str) -> list[str]:
    """Imports of `source` that a module at `path` (relative to the root) may not have."""
    layer, found = path.parts[0], list(imports(source))
    bad = []
    if layer == "schemas":
        bad += [name for name in found if name.split(".")[0] in {"flows", "tasks", "prefect", "httpx", "sqlite3", "os"}]
    if layer == "tasks":
        bad += [name for name in found if name.split(".")[0] == "flows"]
        bad += [name for name in found if name.split(".")[0] == "prefect" and path.name != "steps.py"]
        bad += [name for name in found if crosses_stages(path, name)]
    return bad


def crosses_stages(path: Path, name: str) -> bool:
    parts = name.split(".")
    if parts[0] != "tasks" or len(parts) < 2 or parts[1] not in STAGES or len(path.parts) < 3:
        return False
    stage = path.parts[1]
    return parts[1] != stage and (stage, parts[1]) not in STAGE_MAY_READ


@pytest.mark.parametrize("path", modules("schemas") + modules("tasks"), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_module_keeps_the_direction(path: Path) -> None:
    assert breaches(path.relative_to(ROOT), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("schemas/a.py", "from tasks.lineage import lake", ["tasks.lineage"]),
        ("tasks/metrics/a.py", "import flows.score", ["flows.score"]),
        ("tasks/metrics/a.py", "from prefect import task", ["prefect"]),
        ("tasks/metrics/steps.py", "from prefect import task", []),
        ("tasks/metrics/a.py", "from tasks.judging.contract import x", ["tasks.judging.contract"]),
        ("tasks/datasets/building.py", "from tasks.sources.reading import x", []),
        ("tasks/metrics/a.py", "from tasks.lake.lake import Lake", []),
    ],
)
def test_the_gate_itself(path: str, source: str, expected: list[str]) -> None:
    assert breaches(Path(path), source) == expected


def test_only_the_client_speaks_http_to_models() -> None:
    calls = ("client", "transport", "http2", "preflight")
    names = (*(f"calls/{name}" for name in calls), "embedded/serving", "embedded/supervision")
    allowed = {f"tasks/inference/{name}.py" for name in names}
    allowed |= {path.relative_to(ROOT).as_posix() for path in modules("tasks/sources")}
    users = {
        path.relative_to(ROOT).as_posix()
        for path in modules("tasks")
        if any(name.split(".")[0] in {"httpx", "aiohttp"} for name in imports(path.read_text(encoding="utf-8")))
    }
    assert users <= allowed


@pytest.mark.parametrize("path", [*modules("flows"), *modules("tasks"), *modules("schemas")], ids=lambda path: path.name)
def test_module_stays_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
