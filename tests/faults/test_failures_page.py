"""docs/failures.md says what the code does."""

import pytest

from schemas.vocabulary import FAILURES, REMARKS, Remark
from tests.faults.failures_page import PAGE, with_table

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_table_is_that_of_the_code() -> None:
    assert with_table(TEXT) == TEXT, "the table is out of date; write it anew: python -m tests.faults.failures_page"


def test_every_failure_has_its_row() -> None:
    assert all(f"\n| `{failure}` | " in TEXT for failure in FAILURES)


@pytest.mark.parametrize("remark", REMARKS)
def test_every_remark_is_explained(remark: Remark) -> None:
    assert f"\n| `{remark}` | " in TEXT
