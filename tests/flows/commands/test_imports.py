"""What commands may not import, so that they start fast: libraries that take long, and that only others need."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.flows.commands.past_runs import PastRuns

ROOT = Path(__file__).parents[3]

HEAVY = (
    *("prefect", "openlineage", "fastapi", "uvicorn", "aiohttp", "httpx", "scipy.stats", "sklearn", "jieba", "sacrebleu"),
    *("torch", "transformers", "sentence_transformers", "huggingface_hub", "xllamacpp"),
)
"""What no command needs that only reads."""

FRAMES = ("polars", "pyarrow", "numpy", "dataframely", "sqlalchemy", "jinja2", "tokenizers")
"""What no command needs that reads no rows."""

PROGRAM = """
import json, sys
from flows.commands.app import app, guarded

heavy, commands = json.loads(sys.argv[1])
seen = set()
for command in commands:
    status = guarded(lambda: app(command))
    new = {name for name in heavy if name in sys.modules} - seen
    seen |= new
    print(json.dumps([command, status, sorted(new)]), file=sys.stderr)
"""


def breaches(heavy: tuple[str, ...], *commands: tuple[str, ...], folder: Path) -> list[tuple[str, int, list[str]]]:
    """Run commands in one new process; return each that was refused, or was the first to import something heavy."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([heavy, commands])],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    told = [json.loads(line) for line in done.stderr.splitlines()]
    assert [command for command, *_ in told] == [list(command) for command in commands]
    return [(" ".join(command), status, new) for command, status, new in told if status > 1 or new]


def test_commands_that_read_no_rows(runs: PastRuns, tmp_path: Path) -> None:
    lake = ("--lake", str(runs.lake))
    commands = ("--help",), ("--version",), (), ("runs", "list", *lake), ("runs", "list", *lake, "--json"), ("schema",)
    # Once: the totals are judged by reading rows when the runs are first listed, and kept.
    subprocess.run(
        [sys.executable, "-c", "from flows.cli import main; main()", "runs", "list", *lake],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    assert breaches(HEAVY + FRAMES, *commands, folder=tmp_path) == []


def test_commands_that_read(runs: PastRuns, tmp_path: Path) -> None:
    lake = ("--lake", str(runs.lake))
    commands = (
        ("options",),
        ("datasets", "list"),
        ("datasets", "show", "mini_eq_test"),
        ("lineage", runs.after, *lake),
        ("explain", runs.after, *lake),
        ("explain", runs.after, "--dataset", "mini_text_classification", "--worst", "2", *lake),
        ("leaderboard", "moodbench-mini", *lake),
        ("compare", runs.before, runs.after, *lake),
        ("export", runs.after, "--to", "results.csv", *lake),
        ("runs", "show", runs.after, *lake),
        ("judges", "certificates", *lake),
        ("journal", "show", *lake),
    )
    drawing = ("figure", runs.after, "--to", "figure.svg", *lake)
    # What draws is imported by the command that draws, and nothing else by any.
    found = breaches((*HEAVY, "vl_convert"), *commands, drawing, folder=tmp_path)
    assert found == [(" ".join(drawing), 0, ["vl_convert"])]
    assert (tmp_path / "figure.svg").exists()


def test_an_import_is_found(tmp_path: Path) -> None:
    found = breaches(("polars", "flows.commands.docs"), ("schema",), ("options",), folder=tmp_path)
    assert found == [("schema", 0, ["flows.commands.docs"]), ("options", 0, ["polars"])]
