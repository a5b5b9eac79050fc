"""Names that needle and haystack share, and what becomes of them."""

from random import Random

import pytest

from tasks.benchmarks.longemotion.needle.haystacks import Haystack, lay_out
from tasks.benchmarks.longemotion.needle.names import NEUTRAL_NAMES, choose_names, clashing_names, names_in, rename


@pytest.fixture
def haystack() -> Haystack:
    return lay_out(
        ("Jane met Rowan in Paris. The king gave Andy a rose.", "Mark my words, said James to the sage."), "b", "matched"
    )


def test_names_in_a_subject() -> None:
    assert names_in("Jane's brother") == {"Jane"}
    assert names_in("Mr Hollis") == {"Hollis"}
    assert names_in("I") == names_in("my mom") == names_in("the teacher") == set()


@pytest.mark.parametrize(
    ("text", "subject", "other_names", "expected"),
    [
        ("Jane saw Lena.", "Lena", (), []),  # begins the sentence: no name unless it is known as one
        ("Jane saw Lena.", "Lena", ("Jane",), ["Jane"]),
        ("Lena saw Jane.", "Lena", (), ["Jane"]),
        ("Jane saw Lena.", "Jane's brother", (), ["Jane"]),
        ("Lena went to Paris with Mr Andy.", "Lena", (), ["Andy"]),  # a place, a title and a name
        ("Lena saw The Lion King with James.", "Lena", (), ["James"]),  # king is a word of the book, too
        ("Janet saw Andyman.", "Janet", ("Jan", "Andy"), []),  # whole words only
    ],
)
def test_people_of_needle_whom_haystack_has_too(
    text: str, subject: str, other_names: tuple[str, ...], expected: list[str], haystack: Haystack
) -> None:
    assert clashing_names(text, subject, other_names, haystack) == expected


def test_new_names_occur_nowhere_and_are_drawn(haystack: Haystack) -> None:
    drawn = set()
    for seed in range(200):
        ((old, new), (_, other)) = choose_names(["Andy", "Jane"], ["Jane and Andy met Quinn."], haystack, Random(seed))
        assert old == "Andy"
        assert new != other
        drawn |= {new, other}
    # Rowan and the sage live in the book, Quinn in the needle.
    assert drawn == set(NEUTRAL_NAMES) - {"Rowan", "Sage", "Quinn"}


def test_too_many_clashes_are_not_guessed_away(haystack: Haystack) -> None:
    with pytest.raises(ValueError, match="no neutral name is left for N22, N23"):
        choose_names([f"N{number}" for number in range(1, 24)], ["Quinn"], haystack, Random(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Joe's dog bit Joe.", "Blake's dog bit Blake."),
        ("Joeun and JOE and Banjo Joe", "Joeun and JOE and Banjo Blake"),
        ("James' dog bit James's cat.", "Rory's dog bit Rory's cat."),
        ('"James" and James', '"Rory" and Rory'),
    ],
)
def test_renaming_takes_whole_words_and_possessives(text: str, expected: str) -> None:
    assert rename(text, (("James", "Rory"), ("Joe", "Blake"))) == expected
