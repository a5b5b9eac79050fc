"""What stands for what in a record of AttuneBench: its codebook (ours, unless a folder has its own), and spellings of its values.

Values are read as AttuneBench's scorer reads them, of a person's record and of a model's reply.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from math import dist, isfinite, sqrt
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from schemas.base import Frozen
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from tasks.benchmarks.attunebench.conversation import ShownCodebook, WideAnswers, Wording

PATH = DATA_FOLDER / "codebooks" / "attunebench.yaml"

STANCES = {"observer": ("the participant", "the participant's"), "participant": ("you", "your")}
"""What {p} and {ps} stand for in a question; its other braces are its own."""


def _in_both_stances(value: Any) -> Any:
    stances = STANCES.items() if isinstance(value, str) else ()
    return {name: value.replace("{p}", p).replace("{ps}", ps) for name, (p, ps) in stances} or value


Point = tuple[float, float]
"""Valence and arousal, 0 to 1."""


class Codebook(Frozen):
    """What a record's names stand for."""

    origin: str = Field(description="whose wordings these are")
    questions: dict[str, Annotated[Wording, BeforeValidator(_in_both_stances)]] = Field(
        description="a sentence with {p} and {ps} for the person who talked, or a sentence per stance"
    )
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
        points = self.adjectives.items()
        return {(name, other): round(1 - dist(a, b) / sqrt(2), 4) for name, a in points for other, b in points}

    def total(self, sign: str, items: Mapping[str, int]) -> int | None:
        """Return the sum of the positive or of the negative items; null unless there are all ten."""
        names: Mapping[str, Point] = getattr(self, sign)
        return sum(items[name] for name in names) if items.keys() >= names.keys() else None

    def levels(self, options: Iterable[str]) -> dict[str, int]:
        """Return the levels of options of Q3, as they are compared; none if they are not such as the official ones."""
        texts = [option.strip().lower() for option in options]
        levels = {text: level for text in texts for start, level in self.q3_levels.items() if text.startswith(start)}
        return levels if len(set(levels.values())) == len(texts) else {}

    def cut(self, questions: Iterable[str], pairwise: Iterable[str]) -> ShownCodebook:
        """Return what a conversation with these questions needs of it; ids without a wording are left out."""
        fields = {name: getattr(self, name) for name in ShownCodebook.model_fields}
        for name, ids in (("questions", questions), ("pairwise", pairwise)):
            fields[name] = {key: fields[name][key] for key in sorted(set(ids)) if key in fields[name]}
        return ShownCodebook.model_validate({**fields, "adjectives": tuple(self.adjectives)})

    def with_collected(self, answers: Sequence[WideAnswers]) -> "Codebook":
        """Return it with the strings of these answers as options, those of Q3 best first; for a set without its own codebook."""

        def level(option: str) -> tuple[int, str]:
            levels = (level for level, start in enumerate(self.q3_levels) if option.lower().startswith(start))
            return next(levels, len(self.q3_levels)), option

        q1 = {option.strip() for answer in answers for option in answer.q1 or ()}
        q2 = {answer.q2.strip() for answer in answers if answer.q2}
        q3 = {answer.q3.strip() for answer in answers if answer.q3}
        options = {"q1_options": sorted(q1), "q2_options": sorted(q2), "q3_options": sorted(q3, key=level)}
        return self.model_copy(update={name: tuple(strings) for name, strings in options.items()})


def read_official(value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the questions of an official codebook, wherever in it: an object each, with `text` and perhaps `observerText`.

    They come as id (the object's own `id`, or the key that it stands under), text for the participant, text for an observer.
    """
    for key, entry in value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(entry, Mapping) and isinstance(text := entry.get("text"), str):
            yield str(entry.get("id", key)), text, entry.get("observerText")
        else:
            yield from read_official(entry)


@cache
def load_codebook() -> Codebook:
    """Return the codebook that comes with MoodFlow."""
    return Codebook.model_validate(read_yaml(read_text(PATH)))


LABELS = {"alternate1": "alternate", "alternate2": "human", **{label: label for label in ("original", "alternate", "human")}}
"""Labels of compared replies by all their spellings."""

_SIDES = {"a": "A", "response_a": "A", "response_1": "A", "b": "B", "response_b": "B", "response_2": "B"}


def read_number(value: Any) -> float | None:
    """Return a number, also one that is written as text; null if it is none, or not finite."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def read_scale(value: Any) -> int | None:
    """Return a number rounded into 1 to 7; null if it is none."""
    number = read_number(value)
    return None if number is None else min(max(round(number), 1), 7)


def read_side(value: Any, label_a: str, label_b: str) -> str | None:
    """Return the side that a letter, a number or the label of its reply stands for, `A` or `B`; null if it is neither."""
    name = str(value).strip().lower()
    return _SIDES.get(name) or {label_a: "A", label_b: "B"}.get(LABELS.get(name, name))


def panas_items(value: object) -> dict[str, object]:
    """Return the value of each of the twenty adjectives, in any case, in an object or under its `responses` or `items`."""
    whole = value if isinstance(value, Mapping) else {}
    parts = (whole, *(part for name in ("items", "responses") if isinstance(part := whole.get(name), Mapping)))
    by_name = {str(name).strip().lower(): item for part in parts for name, item in part.items()}
    return {name: by_name[name] for name in load_codebook().adjectives if name in by_name}
