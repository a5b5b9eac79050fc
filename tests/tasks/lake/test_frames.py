"""Frames from rows are those that Polars makes of the same values; frames that are kept count 8 bytes a number."""

import polars as pl
import pyarrow as pa
import pytest

from tasks.lake.frames import KeptFrames, frame_of_rows

SIDES = pl.Enum(["left", "right"])
SCHEMA = pl.Schema(
    {
        "name": pl.String(),
        "side": SIDES,
        "share": pl.Float64(),
        "places": pl.List(pl.Int64()),
        "sides": pl.List(SIDES),
        "groups": pl.List(pl.Struct({"name": pl.String(), "side": SIDES})),
    }
)


def test_nested_values_and_words_keep_their_types() -> None:
    group = {"name": "a", "side": "right"}
    rows = [
        {"name": "a", "side": "right", "share": 1, "places": [2, 0], "sides": ["left", "right"], "groups": [group]},
        {"name": "b", "side": "left", "share": 0.5, "places": [], "sides": [], "groups": []},
    ]
    found = frame_of_rows(rows, SCHEMA)
    assert found.schema == SCHEMA
    assert found.equals(pl.DataFrame(rows, schema=SCHEMA, orient="row"))


NOTHING = dict.fromkeys(SCHEMA)


def test_null_stays_and_foreign_columns_go() -> None:
    assert frame_of_rows([{**NOTHING, "unknown": 1}], SCHEMA).to_dicts() == [NOTHING]


def test_a_row_without_a_column_is_refused() -> None:
    with pytest.raises(KeyError, match="side"):
        frame_of_rows([NOTHING, {"name": "a"}], SCHEMA)


def test_no_rows_have_the_columns_too() -> None:
    found = frame_of_rows([], SCHEMA)
    assert found.schema == SCHEMA
    assert found.is_empty()


@pytest.mark.parametrize("row", [{"name": 1}, {"share": "half"}, {"places": ["first"]}, {"places": 1}])
def test_a_value_of_another_type_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(pa.ArrowException):
        frame_of_rows([{**NOTHING, **row}], SCHEMA)


@pytest.mark.parametrize("row", [{"side": "up"}, {"sides": ["up"]}, {"groups": [{"name": "a", "side": "up"}]}])
def test_word_that_is_none_of_them_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(pl.exceptions.InvalidOperationError):
        frame_of_rows([{**NOTHING, **row}], SCHEMA)


def numbers(first: int) -> pl.DataFrame:
    return pl.DataFrame({"number": range(first, first + 10)}, schema={"number": pl.Int64})


def test_longest_unused_frame_makes_room() -> None:
    kept = KeptFrames(limit=160)
    kept.put("a", numbers(0))
    kept.put("b", numbers(10))
    assert kept.get("a") is not None
    kept.put("c", numbers(20))
    found = {name: frame["number"][0] for name in "abc" if (frame := kept.get(name)) is not None}
    assert found == {"a": 0, "c": 20}
    assert all(name in kept for name in "abc")
    assert "d" not in kept


def test_who_changes_frame_changes_no_other_reader_s() -> None:
    kept, written = KeptFrames(limit=1000), numbers(0)
    kept.put("a", written)
    for frame in (written, kept.get("a")):
        assert frame is not None
        frame.insert_column(0, pl.Series("other", range(10)))
    found = kept.get("a")
    assert found is not None
    assert found.columns == ["number"]
