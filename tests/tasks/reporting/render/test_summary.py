"""The summary of a run on one page."""

import re

import pytest

from tasks.reporting.render.summary import write_summary
from tasks.reporting.report import build_report
from tests.tasks.reporting.example_long import long_data
from tests.tasks.reporting.example_run import empty_data, example_data, headlined_data


@pytest.fixture(scope="module")
def text() -> str:
    return write_summary(build_report(example_data()))


def test_totals_of_all_states(text: str) -> None:
    plain = text.replace("\u00a0", " ")
    assert "| – | alpha | Base | 25.00 | 15.00 to 35.50 | scored (not ranked: coverage is 75 %) | 75 % | 6 of 6 |" in plain
    assert "| – | beta | Base | 0.00 (100.00 before the veto) | – | vetoed (not ranked: vetoed) | 50 % | 2 of 3 |" in plain
    assert "| – | gamma | Base | – | – | unscored (not ranked: unscored) | 0 % | 0 of 4 |" in plain


def test_sections_of_the_summary_are_in_order(text: str) -> None:
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Result", "Abilities", "Weakest tasks", "What is missing"]
    assert "| Model | Values \\& Safety | Emotional Ability |" in text
    assert "| alpha | 100.0 | 25.0 |" in text
    assert "| gamma | – | – |" in text
    assert "| alpha | Moods | Emotional Ability › Emotion Recognition | 25.0 |" in text
    assert "| Lost | all | all | its data is not published | bring the file with --mirror |" in text
    assert "report.html" in text


def test_scores_with_a_headline_come_first() -> None:
    text = write_summary(build_report(headlined_data()))
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[:3] == ["Scores side by side: Mood", "Scores side by side: Lost", "Result"]
    assert "| alpha | 25.00 (10.00 to 60.00; 4) |\n| beta | 100.00 (1) |\n| gamma | – (0 of 4) |" in text


def test_the_summary_holds_no_text_of_items(text: str) -> None:
    assert len(text.splitlines()) < 60
    assert "pick" not in text
    long = write_summary(build_report(long_data()))
    assert "alpha (CoEM)" in long
    assert "Mara" not in long


def test_an_empty_run() -> None:
    assert "| – | alpha | Base | – | – | unscored (not ranked: unscored) |" in write_summary(build_report(empty_data()))
