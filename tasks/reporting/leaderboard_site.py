"""Write a leaderboard as a folder of pages for any web server or page host, or to be opened as files."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from schemas.documents.leaderboard import AcrossModels, RankedSystems
from tasks.lake.files import own_pages
from tasks.lake.seal import REPORT, page_of
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting.leaderboard_files import write_leaderboard
from tasks.reporting.page import render_leaderboard, write_file, write_report, write_text
from tasks.runs.run_tables import ReportData

INDEX, DOCUMENT, TABLES, REPORTS = "index.html", "leaderboard.json", "leaderboard.csv", "runs"
_OWN = re.compile(rf"{re.escape(INDEX)}|{re.escape(DOCUMENT)}|{REPORTS}|leaderboard.*\.csv")


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

    Args:
        folder: new, empty, or one that this function wrote.
        data: the leaderboard.
        across: its tables across models.
        document: what is written as JSON.
        reports: of the ranked runs, without texts that may not be passed on.
    """
    for name in own_pages(folder, "--site", _OWN, DOCUMENT) - {DOCUMENT}:
        rmtree(folder / name) if name == REPORTS else (folder / name).unlink()
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
