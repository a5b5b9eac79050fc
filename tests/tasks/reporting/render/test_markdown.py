"""The report in markdown."""

import re

import pytest

from tasks.reporting.render.markup import cell, fence, table
from tasks.reporting.render.page import render_markdown
from tests.tasks.reporting.example_run import empty_data, example_data


@pytest.fixture(scope="module")
def text() -> str:
    return render_markdown(example_data())


def test_totals_of_all_states(text: str) -> None:
    plain = text.replace("\u00a0", " ")
    assert "| alpha | base | 25.00 | 15.00 to 35.50 | not ranked: coverage is 75 % | gate passed | 75 % | 6 of 6 |" in plain
    assert "| beta | base | 0 (100.00 before the veto) | – | not ranked: vetoed | vetoed | 50 % | 2 of 3 |" in plain
    assert "| gamma | base | – (no score) | – | not ranked: no score | no score | 0 % | 0 of 4 |" in plain


def test_headings_in_order(text: str) -> None:
    after = ["Coverage and calls", "Tokens and cost", "Data and licences", "Lineage"]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Result", "alpha", "beta", "gamma", *after]
    weak = re.findall(r"^#### (.*: .*)$", text, re.MULTILINE)
    assert weak == ["Moods: 25.0", "Tales: 25.0", "Kindness: 0.0"]


def test_raw_scores_stand_under_their_ability(text: str) -> None:
    groups = text.split("\n### Raw scores\n")[1].split("\n### ", maxsplit=1)[0]
    assert re.findall(r"^#### (.*)$", groups, re.MULTILINE) == ["Values \\& Safety", "Emotional Ability › Emotion Recognition"]
    assert "| mood | choice | accuracy | 0.250 |" in groups.split("####")[2]
    assert "| 0.750 (B) | 0.750 (angry) |" in groups


def test_levels_say_why_there_is_no_score(text: str) -> None:
    assert (
        "| Emotion Recognition | 100.0 (1 of 2) | – (0 of 1) | no tasks at this level | 100.0 | nothing scored: 1 judge failure |"
        in text
    )


def test_a_model_without_score_shows_no_zero_points(text: str) -> None:
    gamma = text.split("\n## gamma\n")[1].split("\n## Coverage", maxsplit=1)[0]
    assert not re.search(r"\b0\.0+\b", gamma)
    assert "No task has a score below 100." in gamma


def test_replies_cannot_leave_their_block(text: str) -> None:
    # The reply holds three backticks, so its block needs four.
    assert "````text\n" in text
    block = text.split("````text\n")[1].split("\n````", maxsplit=1)[0]
    assert "Reply: <script>alert('x')</script> I pick ```B``` | or *C*" in block


def test_coverage_and_lineage(text: str) -> None:
    assert "Calls: 1,234 sent, 1,200 answered, 5 from the journal, 34 failed." in text
    assert "| lost | all | all | its data is not published | bring the file with --mirror |" in text
    assert "| gamma | timeout\\_total | 4 | 1 | no answer within 9 s |" in text
    assert "| responses | 2 | 6 | 1 |" in text


def test_an_empty_run() -> None:
    assert "| alpha | base | – (no score) |" in render_markdown(empty_data())


def test_markup_in_cells_is_inert() -> None:
    assert cell("a|b\n<i> *c* [d](e)") == "a\\|b \\<i\\> \\*c\\* \\[d\\](e)"


@pytest.mark.parametrize(("text", "marks"), [("plain", "```"), ("a ``` b", "````"), ("`````", "``````")])
def test_fence_is_longer_than_any_run_inside(text: str, marks: str) -> None:
    assert fence(text) == f"{marks}text\n{text}\n{marks}"


def test_table() -> None:
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
