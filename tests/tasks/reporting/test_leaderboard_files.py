"""A leaderboard as files: every model and pair, no formula, no command."""

import csv
import re
from pathlib import Path

import pytest

from schemas.documents.leaderboard import AcrossModels, ModelScore, PairDifference, TaskAcross, VariedRanks
from tasks.reporting.leaderboard_files import write_leaderboard
from tests.tasks.reporting.content.test_leaderboard import renamed

FORMULA = '=HYPERLINK("http://x", 1)'
COMMAND = r"a_b & 100 % \input{x} $y^2$ ~#"
ACROSS = AcrossModels(
    group=1,
    setting="base",
    models=(FORMULA, COMMAND),
    variations=(VariedRanks(title="Veto below 50", ranks=(1, None), rank_correlation=None, moved=1),),
    tasks=(
        TaskAcross(
            id="moods",
            title="Moods",
            scores=(
                ModelScore(model=FORMULA, score=90.0, mark="best", tied=True),
                ModelScore(model=COMMAND, score=80.0, mark="second", tied=True),
            ),
            quartiles=(80.0, 82.5, 85.0, 87.5, 90.0),
            weakest_of=2,
        ),
    ),
    weakest=("Moods",),
    pairs=(PairDifference(first=FORMULA, second=COMMAND, difference=-1.5, ci_low=-3.0, ci_high=0.5, n_items=200, differs=False),),
    told_apart=0.0,
)


def written(form: str, folder: Path) -> str:
    """The leaderboard of models with such names, with what is set side by side."""
    file = folder / "board"
    write_leaderboard(form, file, renamed(alpha=FORMULA, beta=COMMAND), [ACROSS])
    return file.read_text(encoding="utf-8")


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    written("csv", tmp_path)
    tables = {path.stem: list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) for path in tmp_path.iterdir()}
    assert sorted(tables) == ["board", "board-pairs", "board-ranks", "board-tasks"]
    first = tables["board"][0]
    assert (first["model"], first["rank"], first["total"], first["emotional"]) == (f"'{FORMULA}", "", "25.0", "25.0")
    assert [row["model"] for row in tables["board"]][1:] == [COMMAND, "gamma"]
    # A number may be negative.
    assert tables["board-pairs"][0] | {"setting": "base", "difference": "-1.5", "n_items": "200"} == tables["board-pairs"][0]
    assert [(row["model"], row["mark"], row["tied"]) for row in tables["board-tasks"]] == [
        (f"'{FORMULA}", "best", "True"),
        (COMMAND, "second", "True"),
    ]
    cells = [cell for rows in tables.values() for row in rows for cell in row.values()]
    assert not [cell for cell in cells if re.match(r"[=+@\t\r]|-(?![\d.])", cell)]


def test_names_are_texts_in_latex(tmp_path: Path) -> None:
    text = written("latex", tmp_path)
    escaped = r"a\_b \& 100 \% \textbackslash{}input\{x\} \$y\textasciicircum{}2\$ \textasciitilde{}\#"
    assert text.count(escaped) == 4
    assert COMMAND not in text
    # The second ties with the best, which needs no mark for it.
    assert r"Moods & \textbf{90.00} & \underline{80.00} ($\approx$) & 2 \\" in text
    assert rf"{escaped} & $-$1.50 & $-$3.00 to +0.50 & 200 \\" in text
    # Every row of a table has as many cells as its head.
    for table in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, re.DOTALL):
        assert len({len(re.findall(r"(?<!\\)&", line)) for line in table.splitlines() if "&" in line}) == 1


def test_the_page_sets_them_side_by_side(tmp_path: Path) -> None:
    html = written("html", tmp_path)
    for told in (
        "0 % of the 1 pair of models",
        "Among the five weakest tasks of every model: Moods",
        "<b>90.0</b>",
        "<u>80.0</u>&nbsp;≈",
        '−1.5<small class="range">−3.0 to +0.5</small>',
        "Veto below 50",
    ):
        assert told in html.replace("\u00a0", " "), told


@pytest.mark.parametrize(("form", "shown"), [("html", r"a\u202eb"), ("csv", r"a\u202eb"), ("latex", r"a\textbackslash{}u202eb")])
def test_unseen_characters_of_a_name_are_shown(tmp_path: Path, form: str, shown: str) -> None:
    write_leaderboard(form, tmp_path / "board", renamed(alpha="a\u202eb", beta="a\x1b[31m\u200bb"), [])
    text = (tmp_path / "board").read_text(encoding="utf-8")
    assert shown in text
    assert not re.search("[\u202e\u200b\x1b]", text)
