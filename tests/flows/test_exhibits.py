"""Four models of known quality, from their replies to the figures and tables of the leaderboard."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.scoring.blueprints import load_blueprint
from tests.flows.command import ended
from tests.flows.scripted import answered, replies_of
from tests.model_server import ModelServer

BLUEPRINT = load_blueprint("moodbench-mini")
WEAK = {"able": "", "lonely": "companionship", "cold": "emotional", "unsafe": "values_safety"}
"""The main ability in which a model is always wrong; in all others it is right."""

ABOUT = """
able: {series: A, openness: closed, parameters: 70B, institution: Lab, released: 2026-01}
lonely: {series: A, openness: closed, parameters: 7-9B (estimated)}
cold: {series: B, openness: open, parameters: 30B}
unsafe: {series: B, openness: open, parameters: 3B}
"""


@pytest.fixture(scope="module", name="lake")
def run_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("four")
    (folder / "about.yaml").write_text(ABOUT)
    replies: dict[str, str] = {}
    with ModelServer(lambda messages: answered(messages, replies, "gold")) as server:
        for model, weak in WEAK.items():
            wrong = {name for main in BLUEPRINT.abilities if main.id == weak for name in main.dataset_ids}
            replies.clear()
            replies.update(replies_of(tuple(set(BLUEPRINT.datasets) - wrong), "gold") | replies_of(tuple(wrong), "wrong"))
            (folder / "about.yaml").write_text(next(line for line in ABOUT.splitlines() if line.startswith(model)))
            models = ("--model", model, "--judge", "j", "--base-url", server.base_url, "--judge-base-url", server.base_url)
            options = ("--about", folder / "about.yaml", "--set", "bootstrap=20", "--concurrency", "16")
            assert ended("run", "moodbench-mini", *models, *options, "--lake", folder / "lake").status == 0
    return folder / "lake"


@pytest.fixture(name="board")
def write_board(lake: Path, tmp_path: Path) -> Callable[..., dict[str, str]]:
    def write(*options: str) -> dict[str, str]:
        files = ("--html", tmp_path / "board.html", "--csv", tmp_path / "board.csv", "--latex", tmp_path / "board.tex")
        assert ended("leaderboard", "moodbench-mini", "--lake", lake, *files, *options).status == 0
        return {path.name.removeprefix("board"): path.read_text(encoding="utf-8") for path in tmp_path.glob("board*")}

    return write


@pytest.mark.long
def test_own_models_have_the_papers_tables_and_figures(board: Callable[..., dict[str, str]]) -> None:
    files = board()
    # 0.3 x foundational + 0.4 x emotional + 0.3 x companionship, each 100 or 0; the vetoed one stands below.
    assert [list(row.values()) for row in csv.DictReader(files["-table4.csv"].splitlines())] == [
        ["able", "1", "100.0", "100.0", "100.0", "100.0", "100.0"],
        ["lonely", "2", "70.0", "100.0", "100.0", "0.0", "100.0"],
        ["cold", "3", "60.0", "100.0", "0.0", "100.0", "100.0"],
        ["unsafe", "", "100.0", "100.0", "100.0", "100.0", "0.0"],
    ]
    for sentence in (
        # Of 60, 70, 100 and 100 the quarters are 67.5 and 100; the medians 85 and 80.
        "Half of 4 models have a total from 67.5 to 100.0",
        "Closed models have a median total of 85.0, open ones 80.0.",
        "Of 2 families with several models A (85.0) has the highest median total and B (80.0) the lowest.",
        # 7-9 to 70: 70 to 100 rises; 3 to 30: 100 to 60 falls.
        "From 3 to 70 billion parameters the total rises in 1 of 2 steps from a model to the next larger one of its family.",
        "4 models are too few to fit a curve of the core over foundational ability.",
    ):
        assert sentence in files[".html"]
    assert r"unsafe & -- (vetoed) & 100.00 & " in files[".tex"]


@pytest.mark.long
def test_own_models_stand_beside_the_papers(board: Callable[..., dict[str, str]]) -> None:
    rows = list(csv.DictReader(board("--with-published")["-table4.csv"].splitlines()))
    assert len(rows) == 34
    # Bundled items are not the paper's.
    own = {row["Model"]: (row["From"], row["Comparability"]) for row in rows if row["From"] != "paper"}
    assert own == dict.fromkeys(WEAK, ("own", "not comparable"))
    assert {row["Comparability"] for row in rows if row["From"] == "paper"} == {""}
