"""What no column and no reader can hold is refused where a document enters."""

import pytest

from schemas.json_yaml import LARGEST_INTEGER, read_json, read_yaml


@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 400, str(LARGEST_INTEGER), str(-LARGEST_INTEGER)])
def test_a_number_that_no_column_holds_is_refused(digits: str) -> None:
    with pytest.raises(ValueError, match=f"a whole number of {len(digits):,} characters"):
        read_json(f'{{"n": [{digits}]}}')


@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_a_number_of_5000_digits_is_refused(read: object) -> None:
    with pytest.raises(ValueError, match="a whole number of 5,000 characters, more than a column holds"):
        read('{"n": %s}' % ("1" * 5000))  # type: ignore[operator]


def test_the_largest_number_is_read() -> None:
    assert read_json(f"[{LARGEST_INTEGER - 1}, {1 - LARGEST_INTEGER}]") == [LARGEST_INTEGER - 1, 1 - LARGEST_INTEGER]
