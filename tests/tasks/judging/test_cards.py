"""What people say of cards is read from either kind of file."""

from pathlib import Path
from typing import Any

import pytest

from schemas.errors import RecordError, UsageError
from tasks.judging.cards import Card, read_annotations
from tests.tasks.ratings.files import ROW, written

CATEGORIES, GRADES = ("work", "family"), ("high", "low")


def said(file: Path) -> list[Card]:
    return read_annotations(file, [{"card_id": "a"}, {"card_id": "b"}], CATEGORIES, GRADES)


def rating(dimension: str, word: str, scale: tuple[str, ...], **change: Any) -> dict[str, Any]:
    return {**ROW, "dimension": dimension, "scale": [*scale], "rating": word, **change}


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_ratings_on_words_annotate_cards(ending: str, tmp_path: Path) -> None:
    rows = [rating("category", "family", CATEGORIES), rating("grade", "high", GRADES)]
    by_ratings = said(written(tmp_path, *rows, ending=ending))
    columns = tmp_path / "people.csv"
    columns.write_text("annotator,card_id,category,grade\nann,a,family,high\n", encoding="utf-8")
    assert by_ratings == said(columns)
    assert by_ratings[0]["annotations"] == [{"annotator": "ann", "category": "family", "grade": "high"}]
    assert by_ratings[1]["annotations"] == []


def test_ratings_of_no_card_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="row is no rating of a card") as caught:
        said(written(tmp_path, rating("grade", "high", GRADES), rating("grade", "huge", GRADES, unit_id="b")))
    assert "line 2" in str(caught.value)
    with pytest.raises(UsageError, match="no dimension grades"):
        said(written(tmp_path, rating("grades", "high", GRADES)))
    with pytest.raises(RecordError, match="row is not an annotation of a card"):
        said(written(tmp_path, rating("category", "work", CATEGORIES, unit_id="c"), rating("grade", "high", GRADES, unit_id="c")))
