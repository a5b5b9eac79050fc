"""Write a leaderboard as a folder of pages for any web server or page host, or to be opened as files."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from schemas.documents.leaderboard import AcrossModels, RankedSystems
from schemas.errors import UsageError
from tasks.lake.seal import REPORT, page_of
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting.leaderboard_files import write_leaderboard
from tasks.reporting.page import render_leaderboard, write_file, write_report, write_text
from tasks.runs.run_tables import ReportData

INDEX, DOCUMENT, TABLES, REPORTS = "index.html", "leaderboard.json", "leaderboard.csv", "runs"


def write_site(
    folder: Path,
    data: LeaderboardData,
    across: Sequence[AcrossModels],
    document: RankedSystems,
    reports: Iterable[ReportData],
) -> None:
    """Write the leaderboard's page, its JSON and CSV, and for each run its report with a page for each model.

    Pages load nothing and lead to nothing but files of the folder. The JSON is written first: a folder with it holds an earlier
    site, which is replaced. UsageError: the folder holds other files; LakeError: the disk refuses one.

    `document` is written as JSON. `reports`: of the ranked runs, without texts that may not be passed on.
    """
    _empty(folder)
    write_file(folder / DOCUMENT, document.model_dump_json(indent=1).encode())
    links, scores = {}, {}
    for report in reports:
        run = report.manifest.run
        links[run] = f"{REPORTS}/{run}/{REPORT}"
        for entry in write_report(report, folder / REPORTS / run, most=0).systems:
            model, setting = entry.verdict.system
            scores[run, model, setting] = f"{REPORTS}/{run}/{page_of(entry.anchor)}"
    write_leaderboard("csv", folder / TABLES, data, across)
    files = (DOCUMENT, *sorted(path.name for path in folder.glob("leaderboard*.csv")))
    write_text(folder / INDEX, render_leaderboard(replace(data, links=links, scores=scores), across, files))


def _empty(folder: Path) -> None:
    """Remove an earlier site; UsageError: the folder holds files of another kind."""
    held = [*folder.iterdir()] if folder.exists() else []
    own = {path for path in held if path.name in {REPORTS, DOCUMENT, INDEX} or path.match("leaderboard*.csv")}
    own = own if folder / DOCUMENT in own else set()
    if foreign := [path for path in held if path not in own and not path.name.startswith(".")]:
        raise UsageError(
            "the site cannot go into this folder",
            where=f"--site {folder}",
            expected="a new or empty folder, or one that this command wrote",
            got=f"it holds {foreign[0].name}",
            next_step="name another folder",
        )
    for path in own - {folder / DOCUMENT}:
        rmtree(path) if path.is_dir() else path.unlink()
