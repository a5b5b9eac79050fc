"""What cannot be seen in a text is shown, and what joins emoji stays."""

import pytest

from schemas.printing import appearance, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\x9b\x00\x7f", r"a\u001b[31mb\u009b\u0000\u007f"),
        ("a\u202eb\u2066c\u2069\u200f", r"a\u202eb\u2066c\u2069\u200f"),
        ("a\u200bb\ufeff\u2060\u00ad\u2028\u061c", r"a\u200bb\ufeff\u2060\u00ad\u2028\u061c"),
        ("a\u200db", r"a\u200db"),
        ("a\u3164\u034f\u115f\uffa0", r"a\u3164\u034f\u115f\uffa0"),
        # Variation selectors carry a byte each behind any sign.
        ("😀\ufe01\U000e0101", r"😀\ufe01\udb40\udd01"),
        ("over\rwritten", r"over\u000dwritten"),
        ("\udcff", r"\udcff"),
        # A tag character hides letters; JSON writes it as two halves.
        ("\U000e0041", r"\udb40\udc41"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("text", ["你好，世界！\n\t", "👩‍⚕️ 👨‍👩‍👧 ❤️‍🔥 🏳️‍🌈", "1\ufe0f\u20e3", "one\r\ntwo", "naïve\u00a0café"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert printable(text) == text


def test_appearance_is_what_can_be_seen() -> None:
    assert appearance(" a\u200b  cafe\u0301\ufeff ") == appearance("a café") == "a caf\u00e9"
    assert appearance("m\u3164\U000e0101") == "m"
