"""Judges' stored replies read again."""

import pytest

from tasks.judging.contract import reparse_judgements
from tasks.judging.rubrics import load_rubric
from tests.tasks.judging.rows import judgement, judgements

RUBRIC = load_rubric("mc_stage1")
FIRST, SECOND, THIRD = RUBRIC.names
SAID = f'{{"{FIRST}": 2, "{SECOND}": 3, "{THIRD}": 5}}'


def test_ratings_are_those_of_the_raw_reply_whatever_the_rows_say() -> None:
    stored = judgements(*(judgement(RUBRIC, name, "a", 1, raw_reply=SAID) for name in RUBRIC.names))
    again = reparse_judgements(stored, RUBRIC)
    assert {row["dimension"]: row["rating"] for row in again.iter_rows(named=True)} == {FIRST: 2, SECOND: 3, THIRD: 5}
    assert set(again["parse_status"]) == {"parsed"}
    assert again.drop("rating").equals(stored.drop("rating"))


@pytest.mark.parametrize(
    ("raw", "status"), [("no object at all", "unparsed"), (SAID.replace("5", "6"), "unparsed"), (None, "failed")]
)
def test_what_cannot_be_read_has_no_rating(raw: str | None, status: str) -> None:
    stored = judgements(*(judgement(RUBRIC, name, "a", 1, raw_reply=raw) for name in RUBRIC.names))
    again = reparse_judgements(stored, RUBRIC)
    assert set(again["parse_status"]) == {status}
    assert again["rating"].null_count() == len(RUBRIC.names)


def test_each_repetition_and_judge_is_read_by_itself() -> None:
    rows = [
        judgement(RUBRIC, name, item, 1, judge=judge, judge_repetition=repetition, raw_reply=SAID.replace("2", str(rating)))
        for rating, (item, judge, repetition) in enumerate([("a", "j", 0), ("a", "j", 1), ("a", "k", 0), ("b", "j", 0)], start=1)
        for name in RUBRIC.names
    ]
    again = reparse_judgements(judgements(*rows), RUBRIC).filter(dimension=FIRST)
    assert again.select("item_id", "judge", "judge_repetition", "rating").rows() == [
        ("a", "j", 0, 1),
        ("a", "j", 1, 2),
        ("a", "k", 0, 3),
        ("b", "j", 0, 4),
    ]


def test_a_dimension_that_was_left_out_comes_back() -> None:
    stored = judgements(judgement(RUBRIC, FIRST, "a", 2, raw_reply=SAID))
    assert set(reparse_judgements(stored, RUBRIC)["dimension"]) == set(RUBRIC.names)
