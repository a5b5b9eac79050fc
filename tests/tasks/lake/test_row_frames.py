"""Frames from rows: the expected frames are those that Polars makes of the same values column by column."""

import polars as pl
import pyarrow as pa
import pytest

from tasks.lake.row_frames import frame_of_rows

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
    expected = pl.DataFrame(
        {
            "name": pl.Series(["a", "b"], dtype=pl.String),
            "side": pl.Series(["right", "left"], dtype=SIDES),
            "share": pl.Series([1.0, 0.5], dtype=pl.Float64),
            "places": pl.Series([[2, 0], []], dtype=pl.List(pl.Int64)),
            "sides": pl.Series([["left", "right"], []], dtype=pl.List(SIDES)),
            "groups": pl.Series([[group], []], dtype=SCHEMA["groups"]),
        }
    )
    found = frame_of_rows(rows, SCHEMA)
    assert found.schema == SCHEMA
    assert found.equals(expected)


NOTHING = dict.fromkeys(SCHEMA)


def test_null_stays_null_and_what_the_schema_lacks_is_left_out() -> None:
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
def test_a_word_that_is_none_of_them_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(pl.exceptions.InvalidOperationError):
        frame_of_rows([{**NOTHING, **row}], SCHEMA)
