"""What no column and no reader can hold is refused where a document enters."""

from collections.abc import Callable

import pytest

from schemas.json_yaml import LARGEST_INTEGER, read_json, read_yaml

LARGE = ("9" * 5000, "9" * 400, str(LARGEST_INTEGER), str(-LARGEST_INTEGER))


@pytest.mark.parametrize(("read", "digits"), [*((read_json, digits) for digits in LARGE), (read_yaml, LARGE[0])])
def test_a_number_that_no_column_holds_is_refused(read: Callable[[str], object], digits: str) -> None:
    with pytest.raises(ValueError, match=f"a whole number of {len(digits):,} characters, more than a column holds"):
        read(f'{{"n": [{digits}]}}')


def test_the_largest_number_is_read() -> None:
    assert read_json(f"[{LARGEST_INTEGER - 1}, {1 - LARGEST_INTEGER}]") == [LARGEST_INTEGER - 1, 1 - LARGEST_INTEGER]
