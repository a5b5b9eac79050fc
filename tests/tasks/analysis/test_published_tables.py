"""Tables of papers in each form they come in."""

import polars as pl
import pytest

from tasks.analysis.published_tables import TOTAL, PublishedRange, read_table
from tests.tasks.reporting.example_run import published

WIDE = pl.DataFrame(
    [("one", "base", 50.0, 40.0, 60.0), ("two", "base", 80.0, 80.0, None), ("one", "rag", 55.0, 45.0, 65.0)],
    schema=["model", "setting", "overall", "summary", "detection"],
    orient="row",
)


def test_columns_per_ability_with_a_setting() -> None:
    table = read_table(WIDE)
    assert table.settings == ("base", "rag")
    assert table.scores("detection", "base") == [60.0]
    assert (table.scores(TOTAL, "base"), table.scores(TOTAL, "rag"), table.scores(TOTAL, "coem")) == ([50.0, 80.0], [55.0], [])
    assert table.range_of("summary", "base") == PublishedRange(40.0, 60.0, 80.0)
    assert table.range_of("summary", "coem") is None
    assert table.vetoed == 0
    assert table.scores(TOTAL, "rag", ranked=True) == [55.0]


def test_columns_per_ability_without_a_setting_are_of_base_and_keep_who_is_ranked() -> None:
    table = read_table(published())
    assert table.settings == ("base",)
    assert (table.scores(TOTAL, "base"), table.scores(TOTAL, "base", ranked=True)) == ([70.0, 20.0, 10.0], [70.0, 20.0])
    assert table.vetoed == 1


@pytest.mark.parametrize("nothing", [None, pl.DataFrame(), published().clear()])
def test_no_table(nothing: pl.DataFrame | None) -> None:
    table = read_table(nothing)
    assert (table.settings, table.scores(TOTAL, "base")) == ((), [])
