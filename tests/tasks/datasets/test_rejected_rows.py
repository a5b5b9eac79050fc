"""What is said of rows that break a rule, and how many of them mean another layout."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from schemas.errors import LayoutError
from tasks.datasets.building import build_items
from tasks.datasets.own_items import adapt_item_record
from tasks.datasets.rejected_rows import describe_rejected, require_layout
from tests.rows import each_row
from tests.tasks.datasets.test_building import adapt_pair, row, spec_with, write

SPEC = spec_with(adapt_pair)


def rejected(folder: Path, broken: int, rows: int, sample: int | None = None) -> pl.DataFrame:
    """What is rejected of so many rows, the first of which have no gold."""
    made = [row(number, gold=None if number < broken else 0) for number in range(rows)]
    return build_items(SPEC, write(folder, made), sample, 0).rejected


# Three of 30 are a tenth, of 29 they are 10.3 %; of one row it is all. The size of the sample does not change the share.
@each_row(("broken", "rows", "sample", "stops"), [(0, 1, None, 0), (3, 30, None, 0), (3, 30, 1, 0), (3, 29, 1, 1), (1, 1, 5, 1)])
def test_more_than_a_tenth_is_another_layout(tmp_path: Path, broken: int, rows: int, sample: int | None, stops: int) -> None:
    found = rejected(tmp_path, broken, rows, sample)
    if not stops:
        require_layout(SPEC, found)
        return
    with pytest.raises(LayoutError) as caught:
        require_layout(SPEC, found)
    assert str(caught.value).startswith("the files do not have the layout that the adapter expects\n  where: pairs: ")
    assert "\n  expected: at most a tenth of the rows rejected\n" in str(caught.value)
    assert f" of {rows} break a rule, gold_indices_point_at_options ({broken}: row 0" in str(caught.value)


def test_rows_in_format_of_items_have_no_limit(tmp_path: Path) -> None:
    require_layout(replace(SPEC, adapter=adapt_item_record), rejected(tmp_path, 9, 10))


def test_the_sentence_counts_and_names_rows(tmp_path: Path) -> None:
    rules = "gold_indices_point_at_options (4: row 0, 1, 2, ...); single_choice_has_one_gold (4: row 0, 1, 2, ...)"
    found = rejected(tmp_path, 4, 1200, 300)
    said = f"that break a rule and are left out: {rules}; the first row is row 0"
    assert describe_rejected(SPEC, found) == f"has 4 rows of 1,200 {said}"
