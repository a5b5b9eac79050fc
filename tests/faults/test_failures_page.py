"""docs/failures.md says what the code does."""

import pytest

from schemas.vocabulary import FAILURES, REMARKS, Remark
from tasks.text.backoff import Retry
from tests.faults.failures_page import PAGE, pauses, with_table

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_table_is_that_of_the_code() -> None:
    assert with_table(TEXT) == TEXT, "the table is out of date; write it anew: python -m tests.faults.failures_page"


def test_every_failure_has_its_row() -> None:
    assert all(f"\n| `{failure}` | " in TEXT for failure in FAILURES)


@pytest.mark.parametrize("remark", REMARKS)
def test_every_remark_is_explained(remark: Remark) -> None:
    assert f"\n| `{remark}` | " in TEXT


@pytest.mark.parametrize(
    ("retry", "text"),
    [(Retry(1), "-"), (Retry(4, 0.5, 4), "0.5, 1, 2"), (Retry(8, 1, 60), "1, 2, 4, 8, 16, 32, 60"), (Retry(3, 3, 2), "2, 2")],
)
def test_pauses_double_up_to_the_longest(retry: Retry, text: str) -> None:
    assert pauses(retry) == text
