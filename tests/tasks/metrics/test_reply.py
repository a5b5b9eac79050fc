import unicodedata

import pytest

from tasks.metrics.reply import FIRST, fold_text, keep_end, level_text, mask_options, match_text
from tests.rows import each_row


def test_invisible_characters_are_taken_out() -> None:
    invisible = [chr(number) for number in range(0x3000) if unicodedata.category(chr(number)) == "Cf"] + ["\ufe0f", "\ufeff"]
    assert len(invisible) > 20
    assert level_text("B".join(invisible)) == "B" * (len(invisible) - 1)


def test_end_of_long_text_begins_with_line() -> None:
    assert keep_end("A. joy\nB. grief\nC", 10) == "...\n\nC"
    assert keep_end("A. joy", 10) == "A. joy"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Same meaning!", "samemeaning"), ("３．５ %", "3.5%"), ("x > -5", "x>-5"), ("It's 5.", "its5"), ("“好的。”", "好的")],
)
def test_folding_keeps_what_changes_a_number(text: str, expected: str) -> None:
    assert fold_text(text) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("same-meaning", ("same meaning", "other"), 0),
        ("ab", ("AB", "ab"), 1),
        ("Ab", ("AB", "ab"), None),
        ("stop", ("Stop.", "Stop!"), None),
        ("Stop!", ("Stop.", "Stop!"), 1),
        ("...", ("a", "b"), None),
    ],
)
def test_text_matches_one_option_or_none(text: str, options: tuple[str, ...], expected: int | None) -> None:
    assert match_text(text, options) == expected


ONE, TWO = chr(FIRST), chr(FIRST + 1)
IRONY = ("not ironic", "ironic")


@each_row(
    ("reply", "options", "expected"),
    [
        ("It is not ironic.", IRONY, f"It is {ONE}."),
        ("It is IRONIC.", IRONY, f"It is {TWO}."),
        ("It is unironic.", IRONY, "It is unironic."),
        ("我不同意", ("不同意", "同意"), f"我{ONE}"),
        ("B. M: Why? I'd say no.", ("M: Yes.", "M: Why? I'd say no."), f"B. {TWO}."),
        ("B. ｓａｍｅ  ｍｅａｎｉｎｇ", ("different meaning", "same meaning"), f"B. {TWO}"),
        ("same\nmeaning", ("different meaning", "same meaning"), "same\nmeaning"),
        # case matters where nothing else differs
        ("DdRr", ("Ddrr", "DdRr", "ddrr"), TWO),
        # single characters, short words and small numbers stay
        ("no, 12 x", ("no", "12", "x"), "no, 12 x"),
        ("-7", ("7", "-7"), TWO),
        # what a reply holds of the private area is taken out
        (f"B{TWO}", ("longer text", "other text"), "B"),
    ],
)
def test_option_texts_are_masked(reply: str, options: tuple[str, ...], expected: str) -> None:
    assert mask_options(reply, options) == expected
