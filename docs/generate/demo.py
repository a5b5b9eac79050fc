"""The run to click through: its report and leaderboard as static pages of the site, and the page that leads to them."""

import os
import re
import shutil
import subprocess
import sys
from os.path import relpath
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.generate.markdown import joined, table, write_page
from docs.generate.scripted_run import SHOWN
from docs.generate.tree import ROOT, hash_sources

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

ALONE = {"PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
"""The run finds our packages, and asks servers of this machine only, which no proxy reaches."""

PAGES = {
    "report.html": (
        "Report",
        "what `moodflow run` writes: the verdict, scores down to the datasets, the weakest tasks with replies",
    ),
    "leaderboard.html": ("Leaderboard", "what `moodflow leaderboard --html` writes: models ranked and compared"),
    "view/index.html": (
        "View",
        "what `moodflow view RUN --to DIR` writes: from the models down to a dataset, its rows, and a reply",
    ),
    "view/unread-*.html": (
        "Unread replies",
        "grouped by their shape; `scripted-40` has some: where to look when a dataset scores 0",
    ),
    "view/failed-*.html": ("Failed calls", "grouped by what the server said; this run has none"),
    "view/hard-*.html": ("Hard items", "which all models fail: the first place to look for wrong gold"),
    "view/flips-*.html": ("Flips", "items whose answer depends on the order of their options, where a run asks in several"),
    "view/map-*.html": ("Map", "tasks by models, at a glance"),
}
"""Pages to begin with, by the name of their file, each with its title and what it is."""


def write(folder: Path) -> None:
    """Write the page that leads to the run, and the run's pages below `_extra/demo`."""
    pages, copy = make_pages(), folder / "_extra" / "demo"
    shutil.copytree(pages, copy, dirs_exist_ok=True)
    for page in copy.rglob("*.html"):
        page.write_text(
            with_way_back(page.read_text(encoding="utf-8"), relpath(folder / "_extra", page.parent)), encoding="utf-8"
        )
    write_page(folder / "benchmarks" / "demo.md", demo_text(pages))


def with_way_back(html: str, root: str) -> str:
    """Return a page of the run with a link to the documentation at its top."""
    way = f'<p class="meta"><a href="{root}/benchmarks/demo.html">MoodFlow documentation: click through a run</a></p>'
    return re.sub(r"<header class=\"top wrap\">", lambda header: f"{header[0]}\n{way}", html, count=1)


def make_pages() -> Path:
    """Return the folder of the run's pages, made if they have not been made from the sources as they are."""
    pages = ROOT / "build" / f"demo-{hash_sources(MADE_FROM)[:16]}"
    if pages.is_dir():
        return pages
    with TemporaryDirectory() as folder:
        # Apart: the run needs a Prefect of its own, which is named before Prefect is imported.
        command = [sys.executable, "-m", "docs.generate.scripted_run"]
        done = subprocess.run(  # noqa: S603  our own module
            command, cwd=folder, env={**os.environ, **ALONE}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"the run to click through cannot be made\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        for earlier in pages.parent.glob("demo-*"):
            shutil.rmtree(earlier)
        shutil.copytree(Path(folder) / "pages", pages)
    return pages


def demo_text(pages: Path) -> str:
    """Return the page that leads to the run's pages."""
    models = ", ".join(f"`scripted-{quality}`" for quality in SHOWN)
    rows = [
        (f'<a href="../demo/{file.relative_to(pages).as_posix()}">{title}</a>', says)
        for pattern, (title, says) in PAGES.items()
        for file in pages.glob(pattern)
    ]
    return joined(
        "# Click through a run",
        "These pages were written by MoodFlow, from a run of three scripted stand-ins for models: each knows the gold of our own "
        f"items and gives it in as many of 100 replies as its name says ({models}). Half of what `scripted-40` gets wrong "
        "cannot be read. One task each of seven sub-abilities of MoodBench is asked. The scores say nothing about any model; the "
        "pages are what yours would look like.",
        table(("Page", "What it is"), rows),
        "Too many replies of `scripted-40` cannot be read, so it has no total. Make the same for a model of your own: "
        "[run a benchmark](../how-to/run.md).",
    )
