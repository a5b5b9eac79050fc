"""Write a leaderboard as a file (a page, CSV or LaTeX), or as a folder of pages for any web server, or to be opened as files."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from schemas.documents.leaderboard import AcrossModels, RankedSystems
from schemas.table import Column, Table
from tasks.lake.files import own_pages
from tasks.lake.seal import REPORT, page_of
from tasks.leaderboard.ranking import LeaderboardData
from tasks.reporting.content.leaderboard import pairs_table, ranking_table, ranks_table, tasks_table
from tasks.reporting.page import render_leaderboard, write_file, write_report, write_text
from tasks.runs.exhibits import lay_out_exhibits, origin_of
from tasks.runs.run_tables import ReportData, Row
from tasks.text.tables import to_csv, to_latex, worded_table

LATEX_HEAD = (
    "% Needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}. Bold: best, or clear; underlined: second; italic: lowest;"
    " \\approx: the best is not clearly better. Chinese needs xelatex or lualatex,"
    " and \\usepackage{ctex} in place of fontenc."
)
_COLUMNS = 6
"""Models beside each other in a table of LaTeX."""

INDEX, DOCUMENT, TABLES, REPORTS = "index.html", "leaderboard.json", "leaderboard.csv", "runs"
_OWN = re.compile(rf"{re.escape(INDEX)}|{re.escape(DOCUMENT)}|{REPORTS}|leaderboard.*\.csv")


def write_leaderboard(form: str, file: Path, data: LeaderboardData, across: Sequence[AcrossModels]) -> None:
    """Write a leaderboard as `html`, `csv` or `latex`.

    In CSV the file has a row per model; `-tasks`, `-pairs` and `-ranks` (by other weights) stand beside it, and each table of
    an exhibit below the exhibit's name, numbered from the second. LakeError: the disk refuses a file.
    """
    if form == "csv":
        tables = {ending: _table(rows) for ending, rows in _rows(data, across).items()}
        for ending, table in (tables | _exhibited(data)).items():
            write_text(file.with_stem(file.stem + ending), to_csv(table))
    elif form == "latex":
        write_text(file, "\n\n".join((LATEX_HEAD, *map(_to_latex, _tables(data, across)))))
    else:
        write_text(file, render_leaderboard(data, across))


def _exhibited(data: LeaderboardData) -> dict[str, Table]:
    """Return the tables of exhibits and the numbers of their figures, by the ending of their file."""
    tables: dict[str, Table] = {}
    counts, word = Counter[str](), data.blueprint.ability_word
    for _, name, block in lay_out_exhibits(data.models, data.groups):
        for table in (*block.tables, *(chart.numbers for chart in block.charts)):
            counts[name] += 1
            tables[f"-{name}-{counts[name]}" if counts[name] > 1 else f"-{name}"] = worded_table(table, word)
    return tables


def _rows(data: LeaderboardData, across: Sequence[AcrossModels]) -> dict[str, list[Row]]:
    """Return the rows of each file that has any, by its ending."""
    tables: dict[str, list[Row]] = {"": [], "-tasks": [], "-pairs": [], "-ranks": []}
    of_model: dict[tuple[int | None, str | None, str], Row] = {}
    for group in across:
        keys = {"group": group.group, "setting": group.setting}
        ranks = ((each.title, *pair) for each in group.variations for pair in zip(group.models, each.ranks, strict=True))
        tables["-tasks"] += [keys | {"task": task.id} | score.model_dump() for task in group.tasks for score in task.scores]
        tables["-pairs"] += [keys | pair.model_dump() for pair in group.pairs]
        tables["-ranks"] += [keys | {"variation": title, "model": model, "rank": rank} for title, model, rank in ranks]
        for score, name in ((score, task.id) for task in group.tasks for score in task.scores):
            of_model.setdefault((group.group, group.setting, score.model), {})[name] = score.score
    for row in data.rows:
        tasks = of_model.get((row.group, row.setting, row.model), {})
        about = row.about.cells if row.about else {}
        plain = row.model_dump(exclude={"abilities", "about"}) | {"comparability": origin_of(row)[1]} | about
        tables[""].append(plain | row.abilities | tasks)
    return {ending: rows for ending, rows in tables.items() if rows}


def _table(rows: Sequence[Row]) -> Table:
    """Return rows below their ids, for programs."""
    names = dict.fromkeys(name for row in rows for name in row)
    return Table(tuple(map(Column, names)), [[row.get(name) for name in names] for row in rows])


def _tables(data: LeaderboardData, across: Sequence[AcrossModels]) -> Iterator[Table]:
    yield ranking_table(data)
    for group in across:
        chunks = [slice(start, start + _COLUMNS) for start in range(0, len(group.models), _COLUMNS)]
        title = f"{data.blueprint.title}, setting {group.setting}, group {group.group}" if group.group else data.blueprint.title
        for table in (*(tasks_table(group, models) for models in chunks), pairs_table(group), ranks_table(group)):
            if table.rows:
                yield replace(table, title=f"{title}: {table.title}")
    yield from _exhibited(data).values()


def _to_latex(table: Table) -> str:
    """Return a table with two decimals, as papers print them."""
    return to_latex(replace(table, columns=tuple(column._replace(digits=2) for column in table.columns)))


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
    for path in (folder / name for name in own_pages(folder, "--site", _OWN, DOCUMENT) - {DOCUMENT}):
        rmtree(path) if path.name == REPORTS else path.unlink()
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
