"""Exhibits as files: CSV whose numbers are numbers, LaTeX that a TeX takes, a page with the same."""

import csv
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.documents.leaderboard import PublishedRow
from schemas.model_description import ModelDescription
from schemas.table import Cell, Column, Table, columns
from tasks.leaderboard.ranking import LeaderboardData, published_leaderboard, with_published
from tasks.reporting.leaderboard_files import write_leaderboard
from tasks.scoring.blueprints import load_blueprint
from tasks.text.tables import to_latex
from tests.tasks.reporting.content.test_leaderboard import NEW, data
from tests.tasks.reporting.pages import section

ENGINES = ("tectonic", "pdflatex")
DOCUMENT = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}\\begin{document}\n%s\n\\end{document}\n"
WORDS = {
    "Model",
    "Series",
    "Institution",
    "Type",
    "Parameters",
    "Family",
    "Estimated",
    "Score",
    "Models",
    "Language",
    "On average",
}
WORDS |= {"Ability", "Sub-ability", "From", "Comparability"}
"""Titles of columns without numbers."""


def written(form: str, folder: Path, board: LeaderboardData) -> dict[str, str]:
    """Texts of the files of a leaderboard, by the ending of their name."""
    write_leaderboard(form, folder / "board.x", board, ())
    return {path.stem.removeprefix("board"): path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_cells_of_numbers_are_numbers(tmp_path: Path) -> None:
    files = written("csv", tmp_path, published_leaderboard("moodbench"))
    exhibits = {name: list(csv.DictReader(text.splitlines())) for name, text in files.items() if name not in {"", "-ranks"}}
    assert sorted(exhibits) == [
        *("-abilities", "-core", "-families", "-openness", "-sizes"),
        *("-table1", "-table1-2", "-table1-3", "-table3", "-table4"),
    ]
    cells = [cell for rows in exhibits.values() for row in rows for title, cell in row.items() if title not in WORDS and cell]
    assert len(cells) > 30 * 6
    assert all(float(cell) >= 0 for cell in cells)
    first = exhibits["-table4"][0]
    assert (first["Model"], float(first["Rank"]), float(first["Emotional"])) == ("gpt-5-mini-2025-08-07", 1.0, 68.9)


def test_own_models_stand_beside_the_papers(tmp_path: Path) -> None:
    beside = with_published(data(), published_leaderboard("moodbench")).beside
    assert (len(beside), {type(row) for row in beside}) == (30, {PublishedRow})
    board = with_published(data(), published_leaderboard("moodbench"))
    files = written("csv", tmp_path, replace(board, blueprint=published_leaderboard("moodbench").blueprint))
    rows = list(csv.DictReader(files["-table4"].splitlines()))
    # Of three own models one has nothing scored.
    assert [row["From"] for row in rows].count("own") == 2
    assert {row["Model"] for row in rows if row["From"] == "own"} == {"alpha", "beta"}


def faults(latex: str) -> Iterator[str]:
    """What a TeX would not take: environments and braces that do not close, rows of another length, bare specials."""
    opened: list[str] = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if what == "begin":
            opened.append(name)
        elif not opened or opened.pop() != name:
            yield f"end of {name}"
    yield from opened
    for places, body in re.findall(r"\\begin\{tabular\}\{([lr]+)\}(.*?)\\end\{tabular\}", latex, re.DOTALL):
        for line in (line for line in body.splitlines() if line.endswith(r"\\")):
            cells = re.split(r"(?<!\\)&", line)
            width = sum(int(match[1]) if (match := re.match(r"\s*\\multicolumn\{(\d+)\}", cell)) else 1 for cell in cells)
            plain = re.sub(r"\\[a-zA-Z]+|\\[{}$&#%_\\]|\$-\$|\$\\(approx|bigtriangledown)\$", "", line)
            if width != len(places) or plain.count("{") != plain.count("}") or re.search(r"[$#%_^~\\]", plain):
                yield line


def test_latex_of_exhibits_is_well_formed(tmp_path: Path) -> None:
    (latex,) = written("latex", tmp_path, published_leaderboard("moodbench")).values()
    assert latex.count(r"\begin{table}") == 11
    assert list(faults(latex)) == []
    assert r"Model & Rank & Overall & Foundational & Emotional & Companionship & Values \& Safety \\" in latex
    bold = r"\textbf{71.19}"
    assert rf"gpt-4o & 4 & \textbf{{69.09}} & 78.07 & {bold} & 57.31 & 92.02 \\" in latex
    assert r"abab6.5t-chat & -- (vetoed) & 37.53 & 42.77 & 36.36 & 33.85 & 51.93 \\" in latex


def test_latex_says_what_chinese_needs(tmp_path: Path) -> None:
    board = replace(data(about={NEW: {"alpha": ModelDescription(institution="智谱")}}), blueprint=load_blueprint("moodbench"))
    (latex,) = written("latex", tmp_path, board).values()
    assert "alpha & -- & 智谱 & -- & -- " in latex
    assert r"Chinese needs xelatex or lualatex, and \usepackage{ctex} in place of fontenc." in latex.splitlines()[0]


@pytest.mark.parametrize("bad", [r"a & b & c \\", r"a_b & 1 \\", r"a & {1 \\", r"\end{table}"])
def test_planted_fault_of_latex_is_seen(bad: str) -> None:
    assert list(faults(f"\\begin{{tabular}}{{lr}}\n{bad}\n\\end{{tabular}}"))


GROUPED = Table(
    (
        Column("Model & co_", "name"),
        *columns("score", "EC #1", "QA", group="Base 50 %"),
        Column("~^\\", "difference", group="{R}"),
    ),
    [("[x] $y$", Cell(1.0, mark="best"), Cell(2.0, "≈ ▼", "second"), -3.0)],
    "A_B & C",
)


def test_grouped_heads_are_well_formed() -> None:
    assert list(faults(to_latex(GROUPED))) == []
    assert r"\underline{2.00} ($\approx$ $\bigtriangledown$)" in to_latex(GROUPED)


def test_a_tex_compiles_the_tables(tmp_path: Path) -> None:
    engine = next((name for name in ENGINES if shutil.which(name)), None)
    if engine is None:
        pytest.skip(f"none of {', '.join(ENGINES)} is here")
    (latex,) = written("latex", tmp_path, published_leaderboard("moodbench")).values()
    (tmp_path / "paper.tex").write_text(DOCUMENT % f"{latex}\n{to_latex(GROUPED)}", encoding="utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if engine == "pdflatex" else []
    done = subprocess.run([engine, *options, "paper.tex"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[-2000:] if done.returncode else "") == (0, "")
    assert (tmp_path / "paper.pdf").stat().st_size > 0


def test_the_page_says_what_figures_show(tmp_path: Path) -> None:
    (html,) = written("html", tmp_path, published_leaderboard("moodbench")).values()
    words = section(html, "exhibits")
    for sentence in (
        "Half of 30 models have a total from 64.5 to 68.3; Values & Safety has the highest median (90.5)",
        "Closed models have a median total of 67.1, open ones 66.5.",
        "Of 8 families with several models GPT (68.6) has the highest median total and GLM (64.3) the lowest.",
        "From 0.6 to 1800 billion parameters the total rises in 9 of 13 steps",
    ):
        assert sentence in words
    assert html.count('<figure class="') >= 5
