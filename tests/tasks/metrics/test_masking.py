import pytest

from tasks.metrics.reply import FIRST, drop_texts, mask_options, masked_option

ONE, TWO, THREE = (chr(FIRST + index) for index in range(3))
IRONY = ("not ironic", "ironic")


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TWO, 1),
        (f' "{TWO}". ', 1),
        (f"The {TWO}", 1),
        (f"A) {TWO}", None),
        (f"{ONE}, {TWO}", None),
        (f"{ONE} again", None),
        ("x", None),
    ],
)
def test_piece_is_an_option_if_it_says_nothing_else(text: str, expected: int | None) -> None:
    assert masked_option(text) == expected


def test_letters_lose_only_their_own_texts() -> None:
    labels, options = ("A", "B", "C"), ("first thing", "second thing", "joy")
    assert drop_texts(f"A. {ONE} and B ({TWO})", labels, options) == ("A and B", 2)
    assert drop_texts("C: joy", labels, options) == ("C", 1)
    assert drop_texts(f"A. {TWO}", labels, options) == (f"A. {TWO}", 0)
