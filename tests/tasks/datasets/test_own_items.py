from typing import Any

import pytest

from schemas.errors import RecordError
from schemas.item import Item, Record
from tasks.datasets.own_items import adapt_item_record

CHOICE = {"language": "en", "question_type": "single_choice", "question": "Which is warmer?"}


def adapt(**fields: Any) -> Item:
    return adapt_item_record(Record(fields=fields, file="mine.csv", row=4))


def test_all_fields_arrive() -> None:
    item = adapt(
        **CHOICE,
        item_id="w-001",
        context=None,
        options=["ice", "tea"],
        gold_indices=[1],
        references=None,
        option_points=None,
        subset="a",
        groups={"drink": "tea"},
    )
    assert item == Item(**CHOICE, item_id="w-001", options=("ice", "tea"), gold_indices=(1,), subset="a", groups={"drink": "tea"})


def test_points_may_be_whole_numbers_and_fillers_null() -> None:
    item = adapt(language="zh", question_type="questionnaire", question="我常笑。", options=["是", "否"], option_points=[2, None])
    assert item.option_points == (2.0, None)


def test_cells_of_a_csv_file() -> None:
    item = adapt(
        **CHOICE,
        item_id="",
        context="",
        subset="",
        options='["ice", "tea"]',
        gold_indices="[1]",
        references="",
        fixed_order="true",
        groups='{"drink": "tea"}',
    )
    assert item == Item(**CHOICE, options=("ice", "tea"), gold_indices=(1,), fixed_order=True, groups={"drink": "tea"})
    asked = {"language": "en", "question_type": "open_ended", "question": "Why?", "option_points": "", "fixed_order": ""}
    assert adapt(**asked, wrong_references='["Rain rises."]').wrong_references == ("Rain rises.",)


def test_unknown_field_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RecordError, match="a field that items do not have") as caught:
        adapt(**CHOICE, gold_indexes=[1])
    error = caught.value
    assert (error.where, error.got) == ("mine.csv, row 4 (0-based)", "gold_indexes")
    assert str(error.expected).startswith("did you mean gold_indices? fields: language, ")


@pytest.mark.parametrize(
    ("fields", "what", "got"),
    [
        ({"language": "fr"}, "a wrong value in language", "'fr'"),
        ({"question": 5}, "a wrong value in question", "5"),
        ({"options": "ice; tea"}, "a wrong value in options", "'ice; tea'"),
        ({"options": '{"a": "ice"}'}, "a wrong value in options", "{'a': 'ice'}"),
        ({"gold_indices": 1}, "a wrong value in gold_indices", "1"),
        ({"gold_indices": ["1"]}, "a wrong value in gold_indices.0", "'1'"),
        ({"groups": "[]"}, "a wrong value in groups", "[]"),
        ({"groups": {"drink": 5}}, "a wrong value in groups.drink", "5"),
        ({"option_points": [float("nan")]}, "a wrong value in option_points.0", "nan"),
    ],
)
def test_values_are_never_bent_into_shape(fields: dict[str, Any], what: str, got: str) -> None:
    with pytest.raises(RecordError, match="the record has") as caught:
        adapt(**{**CHOICE, **fields})
    assert what in caught.value.what
    assert caught.value.got == got
    assert caught.value.where == "mine.csv, row 4 (0-based)"


@pytest.mark.parametrize(
    "options",
    [
        *(["A. tea", "B) milk", "C: ice"], ["（A）热茶", "（B）冰水"], ["a) tea", "b) ice"], ["B. tea", "A. ice"]),
        *(["1. tea", "2. ice"], ["0) tea", "1) ice"], ["i. tea", "ii. ice"], ["① tea", "② ice"], ["甲、热茶", "乙、冰水"]),
        *(
            ["A.", "B."],
            ["**A.** tea", "**B.** ice"],
            ["Option A: tea", "Option B: ice"],
            ["Ａ．热茶", "Ｂ．冰水"],
            ["A - tea", "B – ice"],
        ),
    ],
)
def test_options_with_their_own_letters_are_refused(options: list[str]) -> None:
    with pytest.raises(RecordError, match="options with letters or numbers of their own") as caught:
        adapt(**CHOICE, options=options, gold_indices=[0])
    assert "remove them" in str(caught.value.next_step)
    assert adapt(**CHOICE, options=options, gold_indices=[0], fixed_order=True).options == tuple(options)


@pytest.mark.parametrize(
    "options", [["1", "2"], ["A", "B"], ["1.5", "2.5"], ["A dog", "B cat"], ["E-mail", "T-shirt"], ["A: hi", "C: ho"]]
)
def test_options_that_only_resemble_letters_stay(options: list[str]) -> None:
    assert adapt(**CHOICE, options=options, gold_indices=[0]).options == tuple(options)


@pytest.mark.parametrize("sign", " *_(")
def test_a_long_option_is_looked_at_once(sign: str) -> None:
    # Where each sign were tried as the end of the ones before, this would take minutes.
    options = (sign * 500_000 + "tea", "ice")
    assert adapt(**CHOICE, options=list(options), gold_indices=[0]).options == options


@pytest.mark.parametrize("options", [["tea", "tea "], ["tea", "te\u200ba"], ["caf\u00e9", "cafe\u0301"], ["tea", "\u200b"]])
def test_options_that_look_the_same_are_refused(options: list[str]) -> None:
    with pytest.raises(RecordError, match="options that look the same or empty"):
        adapt(**CHOICE, options=options, gold_indices=[0])


@pytest.mark.parametrize("gold", ["B", "ice", ["B"], 1])
def test_gold_that_is_no_position_is_explained(gold: Any) -> None:
    with pytest.raises(RecordError, match="gold_indices") as caught:
        adapt(**CHOICE, options=["tea", "ice"], gold_indices=gold)
    assert "counted from 0: [0] is A, the first option, and [1] is B" in str(caught.value.next_step)
