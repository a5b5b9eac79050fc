"""The leaderboard's page in a browser: figures and tables fit a desk and a phone, and can be read."""

from pathlib import Path

import pytest

from tasks.leaderboard.ranking import published_leaderboard, with_published
from tasks.reporting.page import render_leaderboard
from tests.browser.conftest import Open, Opened
from tests.browser.test_report import CONTRASTS, WIDEST
from tests.flows.test_exhibits import FOUR, rank_four
from tests.tasks.reporting.content.test_leaderboard import data

pytestmark = pytest.mark.long

BESIDE = """() => [...document.querySelectorAll('#exhibits .beside')].map(node => node.getBoundingClientRect())
  .filter(box => box.left < 0 || box.right > window.innerWidth || box.height < 150).length"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["published", "own and published"])
def test_figures_and_tables_fit_the_page(open_page: Open, tmp_path: Path, width: int, name: str) -> None:
    paper, path = published_leaderboard("moodbench"), tmp_path / "board.html"
    path.write_text(render_leaderboard(paper if name == "published" else with_published(data(), paper)), encoding="utf-8")
    assert_fits(open_page(path, width=width), path, 4)


@pytest.mark.parametrize("benchmark", FOUR)
def test_pages_of_scripted_models_fit(open_page: Open, tmp_path: Path, benchmark: str) -> None:
    rank_four(benchmark, tmp_path)
    for width in (1280, 390):
        assert_fits(open_page(tmp_path / "board.html", width=width), tmp_path / "board.html", 1)


def assert_fits(opened: Opened, path: Path, fewest: int) -> None:
    """Nothing scrolls sideways, and the figures, so many at least, say what they show, with their numbers on demand."""
    assert (opened.messages, opened.requests) == ([], [path.as_uri()])
    wide, window = opened.page.evaluate(WIDEST)
    assert wide <= window
    figures = opened.page.locator("#exhibits figure")
    assert figures.count() >= fewest
    assert opened.page.evaluate(BESIDE) == 0
    labels = [figures.nth(index).get_attribute("aria-label") or "" for index in range(figures.count())]
    assert all(label.endswith("The table below holds the numbers.") for label in labels)
    numbers = opened.page.locator("#exhibits details:has(> summary:text-is('Numbers'))").first
    assert not numbers.locator("table").is_visible()
    numbers.locator("summary").click()
    assert numbers.locator("table").is_visible()
    assert opened.page.evaluate(CONTRASTS) == []
