"""Numbers as readers see them."""

import pytest

from tasks.text import number_format as formats


def test_null_is_a_dash_and_zero_a_zero() -> None:
    assert [formats.number(None), formats.count(None), formats.percent(None), formats.seconds(None)] == ["–"] * 4
    assert formats.interval(None, 3.0) == "–"
    assert [formats.number(0.0), formats.count(0), formats.percent(0.0)] == ["0.0", "0", "0\u00a0%"]
    assert formats.interval(0.0, 1.5) == "0.0 to 1.5"
    assert [formats.number(-0.004, 2), formats.interval(-0.004, -0.006, 2)] == ["0.00", "0.00 to -0.01"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0001, "under 1\u00a0%"), (0.005, "under 1\u00a0%"), (0.5, "50\u00a0%"), (0.996, "over 99\u00a0%"), (1.0, "100\u00a0%")],
)
def test_near_total_share_is_not_100_percent(share: float, text: str) -> None:
    assert formats.percent(share) == text


def test_lists_and_counts_read_as_english() -> None:
    assert formats.listed(["a"]) == "a"
    assert formats.listed(["a", "b", "c"]) == "a, b and c"
    assert [formats.counted(1, "call"), formats.counted(1200, "call")] == ["1 call", "1,200 calls"]
    assert formats.counted(2, "reply", "replies") == "2 replies"


def test_a_moment_is_in_utc_to_the_minute() -> None:
    assert formats.moment("2026-11-26T19:02:45+00:00") == "26 November 2026, 19:02 UTC"
    # Half past midnight two hours east of Greenwich is 22:30 of the day before.
    assert formats.moment("2026-03-01T00:30:00+02:00") == "28 February 2026, 22:30 UTC"


def test_shorten_keeps_one_line_within_the_limit() -> None:
    assert formats.shorten("a\n  b", 9) == "a b"
    assert formats.shorten("abcdefghij", 5) == "abcd…"
    assert formats.share_of(1, 0) is None
