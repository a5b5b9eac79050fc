"""The summary of a run on one page."""

import re

import pytest

from tasks.reporting.render.summary import escape, table, write_summary
from tasks.reporting.report import build_report
from tests.tasks.reporting.example_long import long_data
from tests.tasks.reporting.example_run import empty_data, example_data, headlined_data


@pytest.fixture(scope="module")
def text() -> str:
    return write_summary(build_report(example_data()))


def test_totals_of_all_states(text: str) -> None:
    plain = text.replace("\u00a0", " ")
    assert "| alpha | base | 25.00 | 15.00 to 35.50 | not ranked: coverage is 75 % | scored | 75 % | 6 of 6 |" in plain
    assert "| beta | base | 0 (100.00 before the veto) | – | not ranked: vetoed | vetoed | 50 % | 2 of 3 |" in plain
    assert "| gamma | base | – | – | not ranked: unscored | unscored | 0 % | 0 of 4 |" in plain


def test_sections_of_the_summary_are_in_order(text: str) -> None:
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Result", "Abilities", "Weakest tasks", "What is missing"]
    assert "| Model | Values \\& Safety | Emotional Ability |" in text
    assert "| alpha | 100.0 | 25.0 |" in text
    assert "| gamma | – | – |" in text
    assert "| alpha | Moods | Emotional Ability › Emotion Recognition | 25.0 |" in text
    assert "| lost | all | all | its data is not published | bring the file with --mirror |" in text
    assert "report.html" in text


def test_scores_with_a_headline_come_first() -> None:
    text = write_summary(build_report(headlined_data()))
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[:3] == ["Scores side by side: Mood", "Scores side by side: Lost", "Result"]
    assert "| alpha | 25.00 |\n| beta | 100.00 |\n| gamma | – |" in text


def test_the_summary_holds_no_text_of_items(text: str) -> None:
    assert len(text.splitlines()) < 60
    assert "pick" not in text
    long = write_summary(build_report(long_data()))
    assert "alpha (CoEM)" in long
    assert "Mara" not in long


def test_an_empty_run() -> None:
    assert "| alpha | base | – | – | not ranked: unscored | unscored |" in write_summary(build_report(empty_data()))


def test_markup_in_cells_is_inert() -> None:
    assert escape("a|b\n<i> *c* [d](e)") == "a\\|b \\<i\\> \\*c\\* \\[d\\](e)"


def test_table() -> None:
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
