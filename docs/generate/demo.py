"""The run to click through: its report and leaderboard as static pages of the site, and the page that leads to them."""

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.generate.catalogue_markdown import join, rows_table
from docs.generate.scripted_run import SHOWN
from docs.generate.tree import ROOT

MADE_FROM = (
    "flows",
    "tasks",
    "schemas",
    "data",
    "docs/generate/scripted_run.py",
    "tests/flows/scripted.py",
    "tests/model_server.py",
)
"""Files and folders that the pages are made from."""

PAGES = {
    "report.html": (
        "Report",
        "what `moodflow run` writes: verdict, scores down to the datasets, weaknesses with replies, method",
    ),
    "leaderboard.html": ("Leaderboard", "what `moodflow leaderboard --html` writes: models ranked, compared, and over time"),
}
"""Pages to begin with, each with its title and what it is."""


def write(folder: Path) -> None:
    """Write the page that leads to the run, and the run's pages below `_extra/demo`."""
    shutil.copytree(make_pages(), folder / "_extra" / "demo", dirs_exist_ok=True)
    (folder / "benchmarks" / "demo.md").write_text(demo_text(), encoding="utf-8")


def make_pages() -> Path:
    """Return the folder of the run's pages, made if they have not been made from the sources as they are."""
    pages = ROOT / "build" / f"demo-{hash_sources()[:16]}"
    if pages.is_dir():
        return pages
    with TemporaryDirectory() as folder:
        # Apart: the run needs a Prefect of its own, which is named before Prefect is imported.
        command = [sys.executable, "-m", "docs.generate.scripted_run"]
        done = subprocess.run(  # noqa: S603  our own module
            command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"the run to click through cannot be made\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        for earlier in pages.parent.glob("demo-*"):
            shutil.rmtree(earlier)
        shutil.copytree(Path(folder) / "pages", pages)
    return pages


def hash_sources() -> str:
    """Return a hash of all that the pages are made from."""
    digest = sha256()
    for place in MADE_FROM:
        path = ROOT / place
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix != ".pyc":
                digest.update(file.relative_to(ROOT).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()


def demo_text() -> str:
    """Return the page that leads to the run's pages."""
    models = ", ".join(f"`scripted-{quality}`" for quality in SHOWN)
    rows = [(f'<a href="../demo/{file}">{title}</a>', says) for file, (title, says) in PAGES.items()]
    return join(
        "# Click through a run",
        "These pages were written by MoodFlow, from a run of three models that are no models: each knows the gold of our own "
        f"items and gives it in as many of 100 replies as its name says ({models}). One task of each sub-ability of MoodBench is "
        "asked. The scores say nothing about any model; the pages are what yours would look like.",
        rows_table(("Page", "What it is"), rows),
        "`scripted-40` fails the gate of values and safety, so its total is vetoed. Make the same for a model of your own: "
        "[run a benchmark](../how-to/run.md).",
    )
