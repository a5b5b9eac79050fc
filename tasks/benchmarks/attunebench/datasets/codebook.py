"""The codebook of AttuneBench: what ids, options and adjectives in a record stand for; ours, unless a folder has its own."""

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from math import dist, sqrt
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from schemas.base import Frozen
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from tasks.benchmarks.attunebench.conversation import ShownCodebook, Wording

PATH = DATA_FOLDER / "codebooks" / "attunebench.yaml"

STANCES = {"observer": {"p": "the participant", "ps": "the participant's"}, "participant": {"p": "you", "ps": "your"}}


def _both_stances(value: Any) -> Any:
    return {name: value.format(**words) for name, words in STANCES.items()} if isinstance(value, str) else value


Point = tuple[float, float]
"""Valence and arousal, 0 to 1."""


class Codebook(Frozen):
    """What a record's names stand for.

    A question is one sentence with `{p}` and `{ps}` for the person who talked, or one sentence per stance.
    """

    origin: str = Field(description="whose wordings these are")
    questions: dict[str, Annotated[Wording, BeforeValidator(_both_stances)]]
    pairwise: dict[str, str]
    q1_options: tuple[str, ...]
    q2_options: tuple[str, ...]
    q3_options: tuple[str, ...] = Field(description="best first")
    q3_levels: dict[str, int] = Field(
        default={}, description="how the official options of Q3 begin, best first, and their levels"
    )
    follow_up_options: tuple[str, ...] = ()
    score_names: dict[str, str] = Field(default={}, description="of the official score file, by metric")
    branches: dict[str, str]
    positive: dict[str, Point] = Field(min_length=10, max_length=10)
    negative: dict[str, Point] = Field(min_length=10, max_length=10)

    @cached_property
    def adjectives(self) -> dict[str, Point]:
        """Return the twenty adjectives of moods and of PANAS, the positive ones first."""
        return self.positive | self.negative

    @cached_property
    def similarity(self) -> dict[tuple[str, str], float]:
        """Return how alike two adjectives are, in both orders: 1 - distance / sqrt 2, without dominance, as in the port."""
        places = self.adjectives.items()
        return {(one, other): round(1 - dist(here, there) / sqrt(2), 4) for one, here in places for other, there in places}

    def total(self, sign: str, items: Mapping[str, int]) -> int | None:
        """Return the sum of the positive or of the negative items; null unless there are all ten."""
        names: Mapping[str, Point] = getattr(self, sign)
        return sum(items[name] for name in names) if items.keys() >= names.keys() else None

    def levels(self, options: Iterable[str]) -> dict[str, int]:
        """Return the levels of options of Q3, as they are compared; none if they are not such as the official ones."""
        named = [option.strip().lower() for option in options]
        found = {one: level for one in named for start, level in self.q3_levels.items() if one.startswith(start)}
        return found if len(set(found.values())) == len(named) else {}

    def shown(self, questions: Iterable[str], pairwise: Iterable[str]) -> ShownCodebook:
        """Return what a conversation with these questions needs of it; ids without a wording are left out."""
        cut = {"questions": _cut(self.questions, questions), "pairwise": _cut(self.pairwise, pairwise)}
        whole = {name: getattr(self, name) for name in ShownCodebook.model_fields if name not in cut}
        return ShownCodebook.model_validate({**cut, **whole, "adjectives": tuple(self.adjectives)})

    def with_collected(self, answers: Iterable[Mapping[str, Any]]) -> "Codebook":
        """Return it with the strings of these answers as options, those of Q3 best first; for a set without its own codebook."""

        def place(option: str) -> tuple[int, str]:
            begins = [number for number, start in enumerate(self.q3_levels) if option.lower().startswith(start)]
            return (begins[0] if begins else len(self.q3_levels), option)

        said = list(answers)
        q1 = {option.strip() for one in said for option in one["q1"] or ()}
        q2, q3 = ({one[name].strip() for one in said if one[name]} for name in ("q2", "q3"))
        options = {"q1_options": sorted(q1), "q2_options": sorted(q2), "q3_options": sorted(q3, key=place)}
        return self.model_copy(update={name: tuple(found) for name, found in options.items()})


def read_official(value: Any) -> dict[str, dict[str, Any]]:
    """Return the wordings in an official codebook, wherever in it: an object per question, with `text` and `observerText`.

    Its id is the key that it stands under, or its own `id`.
    """
    found: dict[str, dict[str, Any]] = {"questions": {}, "pairwise": {}}
    for key, one in value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(one, Mapping) and isinstance(text := one.get("text"), str):
            name = str(one.get("id", key))
            found["pairwise"][name] = text
            if seen := one.get("observerText"):
                found["questions"][name] = {"observer": seen, "participant": text}
        else:
            for kind, wordings in read_official(one).items():
                found[kind] |= wordings
    return found


def _cut(wordings: Mapping[str, Any], used: Iterable[str]) -> dict[str, Any]:
    return {name: wordings[name] for name in sorted(set(used)) if name in wordings}


@cache
def load_codebook() -> Codebook:
    """Return the codebook that comes with MoodFlow."""
    return Codebook.model_validate(read_yaml(read_text(PATH)))
