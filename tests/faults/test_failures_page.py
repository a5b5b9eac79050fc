"""docs/failures.md says what the code does; `python -m tests.faults.test_failures_page` writes its table."""

from pathlib import Path

import pytest

from docs.generate.reference_failures import pauses
from schemas.vocabulary import REMARKS, Remark
from tasks.models.http.failures import FAILURE_KINDS

PAGE = Path(__file__).parents[2] / "docs" / "failures.md"
BEGIN = "<!-- table: python -m tests.faults.test_failures_page writes it -->\n"
END = "<!-- end of table -->\n"


def table() -> str:
    rows = [
        f"| `{name}` | {kind.meaning} | {kind.retry.attempts} | {pauses(kind.retry)} | {kind.remedy} |"
        for name, kind in FAILURE_KINDS.items()
    ]
    head = ["| Failure | When | Attempts | Pauses (s) | What to do |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


def with_table(page: str) -> str:
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}{table()}{END}{after}"


def test_the_table_is_that_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "the table is out of date; write it anew: python -m tests.faults.test_failures_page"


@pytest.mark.parametrize("remark", REMARKS)
def test_every_remark_is_explained(remark: Remark) -> None:
    assert f"\n| `{remark}` | " in PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
