"""Names of people that a needle shares with the text around it, and their replacement.

LongEmotion adjusted proper nouns by hand (section 3.1). Here the rule is fixed, and the new name drawn from given names that both
women and men bear, since pronouns stay as they are.
"""

import re
from collections.abc import Iterable, Sequence
from random import Random

from tasks.benchmarks.longemotion.needle.haystacks import Haystack

NEUTRAL_NAMES = (
    *("Avery", "Rowan", "Quinn", "Emerson", "Kendall", "Tatum", "Harley", "Blake", "Rory", "Sage", "Reese", "Skyler", "Peyton"),
    *("Finley", "Jules", "Remy", "Arden", "Ellis", "Frankie", "Lennon", "Marlowe", "Oakley", "Shiloh", "Teagan"),
)

NOT_PEOPLE = frozenset(
    (
        *("Mr", "Mrs", "Ms", "Miss", "Dr", "Professor", "Mom", "Mother", "Dad", "Father", "Grandma", "Grandpa", "Aunt", "Uncle"),
        *("I", "Classmates", "God", "Christmas", "Easter", "Halloween", "January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December", "Monday", "Tuesday", "Wednesday", "Thursday"),
        *("Friday", "Saturday", "Sunday", "Africa", "America", "American", "Asia", "Australia", "Britain", "British", "Canada"),
        *("China", "Chinese", "Dutch", "England", "English", "Europe", "European", "France", "French", "German", "Germany"),
        *("Greece", "Indian", "Ireland", "Irish", "Italian", "Italy", "Japan", "Japanese", "Korea", "Korean", "London"),
        *("Mexican", "Mexico", "Paris", "Persian", "Russia", "Russian", "Spain", "Spanish", "Swiss", "Turkey", "York"),
        *("North", "South", "East", "West"),
    )
)
"""Words with a capital that name no person, or not one alone: titles, kin, days, months, places, peoples."""

_CAPITALISED = re.compile(r"\b[A-Z][a-z]+\b")
_AMID_SENTENCE = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+\b")


def names_in(subject: str) -> frozenset[str]:
    """Return the names of people in what a question asks about, such as `Nora` in `Nora's brother`."""
    return frozenset(_CAPITALISED.findall(subject)) - NOT_PEOPLE


def clashing_names(text: str, subject: str, other_names: Iterable[str], haystack: Haystack) -> list[str]:
    """Return the names of people in a needle that occur in a haystack as words with a capital, in alphabetical order.

    A word is taken for a name if it is in the subject, is known from other needles, or has a capital amid a sentence and stands
    nowhere in the haystack in lower case. The whole haystack counts, so that a needle is adjusted alike at every length and
    depth.
    """
    words = frozenset(_CAPITALISED.findall(text))
    amid = (word for word in _AMID_SENTENCE.findall(text) if word.lower() not in haystack.lower)
    names = names_in(subject) | (words & frozenset(other_names)) | frozenset(amid)
    return sorted(name for name in (names - NOT_PEOPLE) | names_in(subject) if name in haystack.capitalised)


def choose_names(clashing: Sequence[str], taken: Iterable[str], haystack: Haystack, draw: Random) -> tuple[tuple[str, str], ...]:
    """Return a new name for each, from the neutral ones that neither the haystack nor the `taken` texts of the item have.

    ValueError: there are too few neutral names.
    """
    used = {word for text in taken for word in _CAPITALISED.findall(text)}
    free = [name for name in NEUTRAL_NAMES if name not in used and name.lower() not in haystack.words]
    if len(free) < len(clashing):
        raise ValueError(f"no neutral name is left for {', '.join(clashing[len(free) :])}")
    return tuple(zip(clashing, draw.sample(free, len(clashing)), strict=True))


def rename(text: str, names: Sequence[tuple[str, str]]) -> str:
    """Replace whole words, possessives among them: a bare apostrophe after a name in s becomes `'s`."""
    for old, new in names:
        if old.endswith("s"):
            text = re.sub(rf"\b{old}'(?=\s+\w)", f"{new}'s", text)
        text = re.sub(rf"\b{old}\b", new, text)
    return text
