"""Classes of options in several languages, written out."""

import polars as pl
import pytest

from tasks.metrics.classes import name_classes

ENGLISH, CHINESE = ["no", "yes"], ["否", "是"]


def named(*rows: tuple[str, str, list[str] | None]) -> list[list[str] | None]:
    return name_classes(pl.DataFrame(rows, ["dataset", "language", "options"], orient="row")).to_list()


def test_options_of_two_languages_are_one_class_each() -> None:
    both = ["no / 否", "yes / 是"]
    assert named(("d", "zh", CHINESE), ("d", "en", ENGLISH), ("d", "en", ENGLISH), ("d", "en", None)) == [both, both, both, None]


def test_equal_texts_are_named_once() -> None:
    assert named(("d", "en", ["A+", "yes"]), ("d", "zh", ["A+", "是"])) == [["A+", "yes / 是"]] * 2


@pytest.mark.parametrize(
    "rows",
    [
        [("d", "en", ENGLISH), ("d", "en", ["no", "maybe"])],
        [("d", "en", ENGLISH), ("d", "en", ["no", "maybe"]), ("d", "zh", CHINESE)],
        [("d", "en", ENGLISH), ("d", "zh", ["否", "是", "不清楚"])],
        [("d", "en", ENGLISH), ("other", "zh", CHINESE)],
    ],
    ids=["one language", "options of single items", "more options in one language", "two datasets"],
)
def test_other_options_keep_their_texts(rows: list[tuple[str, str, list[str] | None]]) -> None:
    assert named(*rows) == [options for _, _, options in rows]
