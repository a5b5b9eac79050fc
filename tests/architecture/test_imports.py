"""Imports go one way, through one ordered tuple of rooms; Prefect only where steps and flows are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.rows import each_row

ROOT = Path(__file__).resolve().parents[2]

ORDER = (
    "schemas",
    "tasks.text",
    "tasks.statistics",
    "tasks.lake",
    "tasks.lineage",
    "tasks.sources",
    "tasks.steps",
    "tasks.models",
    "tasks.retrieval",
    "tasks.datasets",
    "tasks.ratings",
    "tasks.solvers",
    "tasks.judging",
    "tasks.metrics",
    "tasks.scoring",
    "tasks.runs",
    "tasks.benchmarks",
    "tasks.certificates",
    "tasks.explain",
    "tasks.compare",
    "tasks.verify",
    "tasks.leaderboard",
    "tasks.interchange",
    "tasks.rows",
    "tasks.reporting",
    "flows.planning",
    "flows.runtime",
    "flows",
    "flows.service",
    "flows.commands",
    "flows.cli",
)
"""Rooms of the project: a module imports from its own room and from those that stand before it, and from no other."""

SIDE_BY_SIDE = ("tasks.explain", "tasks.compare", "tasks.verify")
"""Rooms in a row of which none imports from another."""

OURS = ("schemas", "tasks", "flows")
NO_INPUT_OR_OUTPUT = {"prefect", "httpx", "sqlite3", "os"}


def modules(*folders: str) -> list[Path]:
    return sorted(path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.py"))


def imports(source: str) -> Iterator[str]:
    """Every imported module, and every imported name as if it were one: `from flows import cli` names a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(name: str) -> str | None:
    """The longest room that holds a module; null for a package that is none, such as `tasks` itself."""
    return max((room for room in ORDER if f"{name}.".startswith(f"{room}.")), key=len, default=None)


def breaches(path: Path, source: str) -> list[str]:
    """Imports of `source` that a module at `path` (relative to the root) may not have."""
    room, found = room_of(".".join(path.with_suffix("").parts)), set(imports(source))
    if room is None:
        return [f"{path.as_posix()} stands in no room"]
    above = {*ORDER[ORDER.index(room) + 1 :], *(SIDE_BY_SIDE if room in SIDE_BY_SIDE else ())} - {room}
    bad = {name for name in found if name.split(".")[0] in OURS and room_of(name) in above}
    if room == "schemas":
        bad |= {name for name in found if name.split(".")[0] in NO_INPUT_OR_OUTPUT}
    if path.parts[0] == "tasks" and path.name != "steps.py":
        bad |= {name for name in found if name.split(".")[0] == "prefect"}
    return sorted(bad)


@each_row("path", [path for path in modules(*OURS) if path.name != "__init__.py" or (ROOT / path).read_text().strip()])
def test_module_imports_only_from_rooms_before_its_own(path: Path) -> None:
    assert breaches(path, (ROOT / path).read_text(encoding="utf-8")) == []


@each_row(
    ("path", "source", "expected"),
    [
        ("schemas/a.py", "from tasks.lake import lake", ["tasks.lake", "tasks.lake.lake"]),
        ("schemas/a.py", "import os", ["os"]),
        ("tasks/metrics/a.py", "import flows.score", ["flows.score"]),
        ("tasks/metrics/a.py", "from flows import score", ["flows", "flows.score"]),
        ("tasks/metrics/a.py", "from prefect import task", ["prefect", "prefect.task"]),
        ("tasks/metrics/steps.py", "from prefect import task", []),
        ("tasks/metrics/a.py", "from tasks.judging.contract import x", []),
        (
            "tasks/judging/a.py",
            "def f():\n    from tasks.metrics.item_scores import x",
            ["tasks.metrics.item_scores", "tasks.metrics.item_scores.x"],
        ),
        ("tasks/compare/a.py", "from tasks.explain.rows import x", ["tasks.explain.rows", "tasks.explain.rows.x"]),
        ("tasks/leaderboard/a.py", "from tasks.compare.scores import x", []),
        ("tasks/lake/a.py", "from tasks.steps import step", ["tasks.steps", "tasks.steps.step"]),
        ("flows/a.py", "from flows.planning.jobs import x", []),
        ("flows/planning/a.py", "from flows import score", ["flows", "flows.score"]),
        ("flows/score.py", "from flows.commands.options import x", ["flows.commands.options", "flows.commands.options.x"]),
        ("flows/commands/a.py", "from flows.cli import x", ["flows.cli", "flows.cli.x"]),
        ("tasks/misc/a.py", "", ["tasks/misc/a.py stands in no room"]),
    ],
)
def test_the_gate_itself(path: str, source: str, expected: list[str]) -> None:
    assert breaches(Path(path), source) == expected


def test_every_room_is_there() -> None:
    rooms = {room_of(".".join(path.with_suffix("").parts)) for path in modules(*OURS)}
    assert set(ORDER) <= rooms


def test_picture_in_docs_shows_rooms_in_this_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = re.search(r"^```rooms\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    assert picture is not None
    shown = [line.lstrip(" │├└─").split()[0] for line in picture[1].splitlines() if line.strip(" │")]
    groups = {room.rpartition(".")[0] for room in ORDER if "." in room}
    # `tasks` and `flows` head their rooms in the picture; `flows` is a room besides, in its place among the others.
    assert [name for place, name in enumerate(shown) if not (name in groups and name not in shown[:place])] == [
        room.rpartition(".")[2] for room in ORDER
    ]


def test_only_the_client_speaks_http_to_models() -> None:
    users = {
        path.as_posix()
        for path in modules("tasks")
        if any(name.split(".")[0] in {"httpx", "aiohttp"} for name in imports((ROOT / path).read_text(encoding="utf-8")))
    }
    speaking = {"tasks/models/http", "tasks/models/embedded", "tasks/models/batches", "tasks/sources"}
    assert {path.rpartition("/")[0] for path in users} <= speaking


def test_no_class_is_defined_twice() -> None:
    places: dict[str, list[str]] = {}
    for path in modules(*OURS):
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path.as_posix())
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


@each_row("path", modules(*OURS))
def test_module_stays_small(path: Path) -> None:
    assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= 300
