"""docs/failures.md says what the code does."""

import pytest

from schemas.vocabulary import REMARKS, Remark
from tests.faults.failures_page import PAGE, with_table

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_table_is_that_of_the_code() -> None:
    assert with_table(TEXT) == TEXT, "the table is out of date; write it anew: python -m tests.faults.failures_page"


@pytest.mark.parametrize("remark", REMARKS)
def test_every_remark_is_explained(remark: Remark) -> None:
    assert f"\n| `{remark}` | " in TEXT
