"""Rubrics: what a judge is told to look at, kept as files: ours under data/prompts/rubrics, your own beside a blueprint."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from schemas.base import Frozen
from schemas.benchmark import files_by_name
from schemas.errors import UsageError, unknown_name
from schemas.folders import DATA_FOLDER
from schemas.json_yaml import read_text, read_yaml
from schemas.vocabulary import LANGUAGES, Language
from tasks.solvers.prompts import require_fields

RUBRICS = DATA_FOLDER / "prompts" / "rubrics"


def _in_every_language(texts: dict[Language, Any]) -> dict[Language, Any]:
    if missing := [language for language in LANGUAGES if language not in texts]:
        raise ValueError(f"no text in {', '.join(missing)}")
    return texts


Text = Annotated[str, Field(min_length=1), AfterValidator(partial(require_fields, "a text of a rubric", expected=()))]
Texts = Annotated[dict[Language, Text], AfterValidator(_in_every_language)]
Anchors = Annotated[dict[Language, tuple[Text, ...]], AfterValidator(_in_every_language)]
"""What each rating means, the lowest first."""

BySpeaker = dict[str, Texts]

ShownText = Literal["SOURCE", "TASK", "REFERENCE", "STATEMENTS"]
"""Context, question, references and options of the item."""

Ask = Literal["together", "one_by_one"]
"""All dimensions in one call, or each in a call of its own."""

Layout = Literal["plain", "aspects", "labelled"]
"""How reference and answer are shown: as they are, as labelled lines, one for each reference that the question type names, or a
dialogue by turns that begin with their speaker's name, blank lines between, without marks."""

Reply = Literal["json", "digit"]
"""What a judge replies: an object with a value per dimension, or the rating alone."""

RATIONALE, FAULTS = "rationale", "faults"
"""Keys of the judge's reason in its reply, and of what it finds wrong with a simulated person."""

Rating = Annotated[int, Field(ge=-1000, le=1000)]


class Scale(Frozen):
    """Ratings are the whole numbers from `lowest` to `highest`. A blueprint says which end is the good one."""

    lowest: Rating = 1
    highest: Rating = 5

    @model_validator(mode="after")
    def _has_two_ends(self) -> Self:
        if self.lowest >= self.highest:
            raise ValueError(f"a scale goes from lowest to highest, got {self.lowest} to {self.highest}")
        return self

    @property
    def ratings(self) -> range:
        """All of them, in order."""
        return range(self.lowest, self.highest + 1)


YES_NO: Literal["yes_no"] = "yes_no"
NO_YES = ("no", "yes")
"""What is answered on that scale, stored as 0 and 1."""

AnyScale = Scale | Literal["yes_no"]
"""Whole numbers, or a question that is answered by yes (1) or no (0)."""


def ratings_of(scale: AnyScale) -> range:
    """Return all ratings of a scale as they are stored, in order."""
    return range(len(NO_YES)) if scale == YES_NO else scale.ratings


def words_of(scale: AnyScale) -> Sequence[int | str]:
    """Return what a judge writes for each rating of a scale, in order."""
    return NO_YES if scale == YES_NO else scale.ratings


class RatingBand(Frozen):
    """Neighbouring ratings that mean the same."""

    lowest: Rating
    highest: Rating
    meaning: Texts


Better = Literal["high", "low"]


class Dimension(Frozen):
    """One thing the judge rates."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="key in the judge's reply and in the judgements layer")
    definition: Texts = Field(description="the question the rating answers")
    anchors: Anchors | None = Field(default=None, description="anchors of this dimension; null = those of all dimensions")
    scale: AnyScale | None = Field(default=None, description="scale of this dimension: ends, or yes_no; null = that of all")
    better: Better = Field(
        default="high",
        description="which end is the good one, for tables and regressions; a method's normalisation says it of scores",
    )


class Rubric(Frozen):
    """What a judge is asked, in each language.

    What ratings mean is said in one of three ways: by anchors of each dimension, by anchors that all dimensions share, or, on a
    scale too long for them, by bands that all dimensions share. A dimension with a scale of its own has anchors of its own; where
    that is `yes_no` its definition may say enough.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$", description="name of the file, without suffix")
    version: str = Field(min_length=1, description="increased when the meaning of a rating changes")
    instruction: Texts = Field(description="what the judge is told first, by language")
    texts: tuple[ShownText, ...] = Field(default=("SOURCE", "TASK"), description="shown with the answer")
    layout: Layout = Field(default="plain", description="how reference and answer are shown: as they are, by aspect, by speaker")
    language: Language | None = Field(default=None, description="language of the judge's prompt; null = the item's")
    speakers: BySpeaker = Field(default={}, description="names of a dialogue's speakers; others: as in the dialogue")
    opening: BySpeaker = Field(default={}, description="what was said before a dialogue, in the item's language")
    ask: Ask = Field(default="together", description="all dimensions in one call, or each in a call of its own")
    reply: Reply = Field(default="json", description="an object with a value per dimension, or the rating alone")
    rationale: bool = Field(default=False, description="each reply begins with a reason, which is stored")
    scale: Scale = Scale()
    anchors: Anchors | None = Field(default=None, description="what each rating means, the lowest first, by language")
    bands: tuple[RatingBand, ...] | None = Field(default=None, description="lowest first, together the whole scale")
    dimensions: tuple[Dimension, ...] = Field(min_length=1)
    faults: dict[str, Texts] = Field(
        default={}, description="by name, reported with the ratings; the rubric is then about a simulated person, not the answer"
    )

    @model_validator(mode="after")
    def _one_digit_says_a_rating(self) -> Self:
        scales = [self.scale_of(dimension) for dimension in self.dimensions]
        short = all(scale != YES_NO and set(scale.ratings) <= set(range(10)) for scale in scales)
        if self.reply == "digit" and (self.ask == "together" or self.rationale or self.faults or not short):
            raise ValueError("reply digit: asked one_by_one, without rationale or faults, on scales within 0 to 9")
        return self

    @model_validator(mode="after")
    def _dimensions_differ(self) -> Self:
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"dimension names must be unique, got {', '.join(self.names)}")
        if self.rationale and RATIONALE in self.names:
            raise ValueError(f"{RATIONALE} is the key of the judge's reason: give the dimension another name")
        if self.faults and (self.ask != "together" or FAULTS in self.names):
            raise ValueError(f"{FAULTS} need ask: together, and {FAULTS} cannot be the name of a dimension")
        return self

    @model_validator(mode="after")
    def _every_rating_means_something(self) -> Self:
        if self.anchors is not None:
            self._check_anchors(self.anchors, "anchors", self.scale)
        if self.bands is not None:
            covered = [rating for band in self.bands for rating in range(band.lowest, band.highest + 1)]
            if covered != list(self.scale.ratings):
                raise ValueError(f"bands cover each rating from {self.scale.lowest} to {self.scale.highest} once, in order")
        for dimension in self.dimensions:
            where = f"dimension {dimension.name}"
            if dimension.scale is None:
                if sum(meaning is not None for meaning in (dimension.anchors, self.anchors, self.bands)) != 1:
                    raise ValueError(f"{where}: give exactly one of own anchors, shared anchors or shared bands")
            elif dimension.scale != YES_NO and dimension.anchors is None:
                raise ValueError(f"{where}: a scale of its own needs anchors of its own")
            if dimension.anchors is not None:
                self._check_anchors(dimension.anchors, where, self.scale_of(dimension))
        return self

    def _check_anchors(self, anchors: Anchors, where: str, scale: AnyScale) -> None:
        wanted = len(ratings_of(scale))
        for language, texts in anchors.items():
            if len(texts) != wanted:
                raise ValueError(f"{where}: {len(texts)} anchors in {language} for {wanted} ratings")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the dimensions, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    def scale_of(self, dimension: Dimension) -> AnyScale:
        """Return the scale of a dimension: its own, or that of all."""
        return self.scale if dimension.scale is None else dimension.scale

    def calls(self, repetition: int = 0) -> tuple[tuple[Dimension, ...], ...]:
        """Return the dimensions that each call of one repetition asks for, in the order in which it does.

        All together are rotated by one place more each time: over as many repetitions as there are dimensions, each is asked once
        at each place.
        """
        if self.ask == "one_by_one":
            return tuple((dimension,) for dimension in self.dimensions)
        first = repetition % len(self.dimensions)
        return (self.dimensions[first:] + self.dimensions[:first],)

    @property
    def sha256(self) -> str:
        """Hash of the whole content; enters fingerprints.

        Fields that came later are left out where they say what was true before them, so that older rubrics keep their hash.
        """
        added = ("language", "speakers", "opening", "reply", "faults")
        later = ("layout", "scale", "anchors", "bands", "ask", "rationale", *added)
        unsaid = {name for name in later if getattr(self, name) == type(self).model_fields[name].default}
        content = self.model_dump(mode="json", exclude=unsaid)
        for dimension in content["dimensions"]:
            del dimension["better"]  # which no judge is told
            if dimension["scale"] is None:
                del dimension["scale"]
        return sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


OwnRubrics = Mapping[str, Any]
"""The content of a blueprint's own rubric files, by id."""


def place_of(rubric: Rubric, dimension: str, repetition: int) -> int:
    """Return the place, from 0, at which a call asked for a dimension; `repetition` is `judge_repetition` of the judgements."""
    index = rubric.names.index(dimension)
    return (index - repetition) % len(rubric.names) if rubric.ask == "together" else 0


def order_dimensions(rubric: str, names: Iterable[str], own: OwnRubrics) -> list[str]:
    """Return names of dimensions in the order in which a rubric has them, by name if it is not there any more."""
    try:
        order = load_rubric(rubric, own).names
    except UsageError:
        order = ()
    return sorted(set(names), key=lambda name: (order.index(name) if name in order else len(order), name))


def falling_dimensions(rubric: str, own: OwnRubrics) -> frozenset[str]:
    """Return the dimensions of a rubric whose low end is the good one; none if the rubric is not there any more."""
    try:
        dimensions = load_rubric(rubric, own).dimensions
    except UsageError:
        dimensions = ()
    return frozenset(dimension.name for dimension in dimensions if dimension.better == "low")


def title_dimension(rubric: str, name: str, own: OwnRubrics) -> str:
    """Return the name of a dimension for readers, marked where low is good."""
    return name.replace("_", " ") + (" (lower is better)" if name in falling_dimensions(rubric, own) else "")


def load_rubric(name: str, own: OwnRubrics | None = None) -> Rubric:
    """Read a rubric by its id: of a blueprint's own, of ours, or of an installed benchmark.

    One that `extends` another has its fields and, by name, its dimensions, where it does not state its own. UsageError: there is
    no such rubric or its file breaks a rule.
    """
    files = files_by_name("rubrics", RUBRICS)
    where = f"{name}.yaml among your own rubrics" if name in (own or {}) else str(files.get(name))
    try:
        rubric = Rubric.model_validate(_fields_of(name, files, own or {}))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError("a rubric file breaks a rule", where=where, got=str(error), next_step="correct the file") from error
    if rubric.id != name:
        raise UsageError("a rubric's id is not its file name", where=where, expected=name, got=rubric.id)
    return rubric


def _fields_of(name: str, files: Mapping[str, Path], own: OwnRubrics) -> Any:
    if name not in (rubrics := {**files, **own}):
        step = "correct the name, or add the rubric to the folder that the blueprint names under rubrics"
        raise unknown_name("rubric", name, sorted(rubrics), "rubrics", step)
    fields = own[name] if name in own else _read_fields(read_text(files[name]))
    if not isinstance(fields, dict) or "extends" not in fields:
        return fields
    base = _fields_of(fields["extends"], files, own)
    dimensions = {dimension["name"]: dimension for part in (base, fields) for dimension in part.get("dimensions", ())}
    stated = {name: value for name, value in fields.items() if name != "extends"}
    return {**base, **stated, "dimensions": list(dimensions.values())}


@lru_cache(maxsize=64)
def _read_fields(text: str) -> Any:
    """Read a file's text once: every partition that is judged asks for its rubric, and YAML is slow to read."""
    return read_yaml(text)
