"""A book as a haystack: its prose, its sentences, its layouts, and that it goes on from its start."""

import pytest

from tasks.benchmarks.longemotion.datasets.emotion_classification import read_prose
from tasks.benchmarks.longemotion.needle.haystacks import Haystack, lay_out, leaves_open, paragraph_starts, sentence_starts
from tasks.text.tokens import count_tokens

FILE = """
Licence of the file.

CHAPTER I.

A START

It was a _very_ cold morning in the valley, and nobody had lit the
fires yet. Dr. Hill slept.

  A line of verse,
  and another one.

A short line here
and then another one that looks like verse as well

"Are you up?" asked Tom Gray. He was not.

THE END.

Other books by the same house.
""".strip().splitlines()

PARAGRAPHS = (
    "CHAPTER I.",
    "A START",
    "It was a very cold morning in the valley, and nobody had lit the fires yet. Dr. Hill slept.",
    '"Are you up?" asked Tom Gray. He was not.',
)


def test_prose_is_unwrapped_and_all_else_left_out() -> None:
    assert read_prose(FILE) == PARAGRAPHS


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("One. Two! Three? Four", [0, 5, 10, 17]),
        ("Mr. Hill and Mrs. Hill met. They sat.", [0, 28]),
        ("Dr. A. B. Hill came. He sat.", [0, 21]),
        ('"Go on." She went.', [0, 9]),
        ("He paid 3.50 dollars. no capital.", [0]),
        ("(It rained.) We stayed.", [0, 13]),
    ],
)
def test_sentences_begin_after_marks_not_initials(text: str, starts: list[int]) -> None:
    assert sentence_starts(text) == starts


@pytest.mark.parametrize(
    ("text", "goes_on", "is_open"),
    [
        ("One. Two.", False, [True, True]),
        ("One. Two.", True, [False, True]),
        # Amid direct speech nobody but the speaker can go on.
        ('"Stay. It rains. Look," he said. They stayed.', False, [True, False, False, True]),
        # Between what is called out and who calls it.
        ('"Stay!" Tom said. They stayed.', False, [True, False, True]),
        ('He came in. "Stay. It rains. And so on', False, [True, True, False, False]),
    ],
)
def test_places_for_a_needle_lie_outside_speech(text: str, goes_on: bool, is_open: list[bool]) -> None:
    assert list(paragraph_starts(text, goes_on=goes_on).values()) == is_open


@pytest.mark.parametrize(
    ("text", "open_at_its_end"),
    [
        ("He came.", False),
        ('"He came."', False),
        ("A START", True),
        ("CHAPTER I.", True),
        ("She sang:", True),
        ('"He came. So', True),
    ],
)
def test_headings_colons_and_running_speech_leave_something_open(text: str, open_at_its_end: bool) -> None:
    assert leaves_open(text) is open_at_its_end


def test_matched_keeps_prose_as_is_keeps_lines() -> None:
    assert lay_out(PARAGRAPHS, "b", "matched").text == "\n\n".join(PARAGRAPHS)
    assert lay_out(PARAGRAPHS, "b", "as_is").text.split("\n") == [
        "chapter i .",
        "a start",
        "it was a very cold morning in the valley , and nobody had lit the fires yet .",
        "dr . hill slept .",
        '" are you up ? " asked tom gray .',
        "he was not .",
    ]


@pytest.fixture
def haystack() -> Haystack:
    return lay_out(PARAGRAPHS, "b", "matched")


def test_positions_know_their_characters_and_tokens(haystack: Haystack) -> None:
    sentences = ["CHAPTER", "A START", "It was", "Dr. Hill", '"Are you', "He was"]
    assert [haystack.text[start:].startswith(words) for start, words in zip(haystack.starts, sentences, strict=True)] == [
        True
    ] * 6
    for number, start in enumerate(haystack.starts):
        assert haystack.token_at(number) == count_tokens(haystack.text[:start])
    # Neither the title nor the first paragraph may be parted from the heading above it.
    assert haystack.open == (0, 3, 4, 5)
    assert [haystack.gap_before(number) for number in range(6)] == ["\n\n", "\n\n", "\n\n", " ", "\n\n", " "]


def test_wrapped_book_goes_on_from_start(haystack: Haystack) -> None:
    assert haystack.tokens == count_tokens(haystack.text)
    assert haystack.token_at(6) == haystack.tokens
    assert haystack.token_at(-1) == haystack.token_starts[5] - haystack.tokens
    assert haystack.between(5, 8) == "He was not.\n\nCHAPTER I.\n\nA START"
    assert haystack.between(4, 6) == '"Are you up?" asked Tom Gray. He was not.'
    assert haystack.between(-1, 1) == "He was not.\n\nCHAPTER I."
    assert haystack.between(2, 14) == haystack.between(2, 6) + "\n\n" + haystack.text + "\n\n" + haystack.between(0, 2)
    assert haystack.between(3, 3) == ""


def test_the_nearest_position(haystack: Haystack) -> None:
    for position in range(-6, 12):
        at, following = haystack.token_at(position), haystack.token_at(position + 1)
        assert haystack.nearest(at) == position
        assert haystack.nearest(following - 1) == (position + 1 if following - at > 2 else position)
