"""The record of a conversation as AttuneBench releases it, checked field by field; older spellings are read, too.

A rule that a record breaks is named `place|what`, such as `turns.annotations.pairwiseComparisons|twelve_comparisons`; nothing
that is missing is filled in. Source: AttuneBench 1.0, README; the public port of its scorer for older spellings.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Annotated, Any, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from schemas.attunebench import PanasTotals, ReplyLabel, YesNo
from schemas.vocabulary import Language
from tasks.datasets.attunebench.codebook import Codebook, load_codebook

FORMER_INTENSITIES = {"mild": 2, "moderate": 4, "intense": 6}
FORMER_LABELS = {"alternate1": "alternate", "alternate2": "human"}
FORMER_SIDES = {
    "observedBehavior": ("did_occur", "humanValue", "actualValue", "llmValue"),
    "preferredBehavior": ("should_occur", "humanPreference"),
}
COMPARED, PAIRS = 12, 3

RANGES = {
    "who_5": (0, 25),
    "asrs_6": (0, 24),
    "aq_10": (0, 10),
    **dict.fromkeys(("promis_anxiety", "promis_depression", "promis_sleep"), (4, 20)),
    **{f"tipi_{trait}": (2, 14) for trait in ("extraversion", "agreeableness", "conscientiousness", "stability", "openness")},
}
"""Lowest and highest score of each questionnaire of a profile."""


def _read_as(words: Mapping[str, Any]) -> BeforeValidator:
    """Return what reads a text in lower case, and these words as what they stand for."""
    return BeforeValidator(lambda said: words.get(said.strip().lower(), said.strip().lower()) if isinstance(said, str) else said)


Text = Annotated[str, Field(pattern=r"\S")]
Lower = Annotated[Text, _read_as({})]
Rating = Annotated[int, Field(ge=1, le=7)]
Total = Annotated[int, Field(ge=10, le=70)] | None
Answer = Annotated[YesNo | None, _read_as({})]
Label = Annotated[ReplyLabel, _read_as(FORMER_LABELS)]


def _require(holds: object, rule: str, said: str) -> None:
    if not holds:
        raise PydanticCustomError(rule, "{said}", {"said": said})


def _require_distinct(rule: str, names: list[str]) -> None:
    _require(len(set(names)) == len(names), rule, f"{', '.join(names)}: one more than once")


def _require_keys(rule: str, found: Mapping[str, Any], wanted: Collection[str]) -> None:
    _require(found.keys() == set(wanted), rule, f"lacking or unknown: {', '.join(sorted(found.keys() ^ set(wanted)))}")


def _book(info: ValidationInfo) -> Codebook:
    return cast("Codebook", info.context)


class _Part(BaseModel):
    """A part of a record: what it holds besides is left alone, and no value is turned into another type."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)


class _Mood(_Part):
    name: Lower = Field(alias="emotion")
    intensity: Annotated[Rating | None, _read_as(FORMER_INTENSITIES)] = None

    @field_validator("name")
    @classmethod
    def _is_known(cls, name: str) -> str:
        _require(name in load_codebook().adjectives, "unknown_emotion", f"{name} is none of the twenty adjectives")
        return name


class _Judgement(_Part):
    question: str = Field(alias="questionId")
    observed: Answer = Field(default=None, alias="observedBehavior")
    preferred: Answer = Field(default=None, alias="preferredBehavior")

    @model_validator(mode="before")
    @classmethod
    def _spellings(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        known = {side: [values.get(name) for name in (side, *former)] for side, former in FORMER_SIDES.items()}
        return {**values, **{side: next((one for one in said if one is not None), None) for side, said in known.items()}}

    @field_validator("question")
    @classmethod
    def _is_known(cls, question: str, info: ValidationInfo) -> str:
        _require(question in _book(info).questions, "unknown_question", f"{question} is no question of the codebook")
        return question

    @property
    def applies(self) -> bool:
        """Return whether it is asked: one side is yes or no, or nothing is known of either."""
        sides = (self.observed, self.preferred)
        return bool({"yes", "no"} & set(sides)) or sides == (None, None)


class _Comparison(_Part):
    question: Text = Field(alias="questionId")
    label_a: Label = Field(validation_alias=AliasChoices("responseA", "response_1"))
    label_b: Label = Field(validation_alias=AliasChoices("responseB", "response_2"))
    side: Lower = Field(alias="winner")

    @model_validator(mode="after")
    def _two_replies(self) -> "_Comparison":
        _require(self.label_a != self.label_b, "two_replies_compared", f"{self.question}: {self.label_a} and itself")
        _require(self.winner, "winner_is_compared", f"{self.question}: {self.side}")
        return self

    @property
    def winner(self) -> ReplyLabel | None:
        """Return the label of the winner, which may be named by its side."""
        for side, label in zip("ab", (self.label_a, self.label_b), strict=True):
            if FORMER_LABELS.get(self.side, self.side) in (side, f"response_{'ab'.index(side) + 1}", label):
                return label
        return None


class _Alternates(_Part):
    alternate: Text | None = Field(default=None, validation_alias=AliasChoices("llmImproved", "alternate1"))
    human: Text | None = Field(default=None, validation_alias=AliasChoices("humanEdited", "alternate2"))


class _Annotations(_Part):
    judgements: list[_Judgement] = Field(alias="binaryJudgements")
    alternates: _Alternates = Field(alias="alternateResponses")
    comparisons: list[_Comparison] = Field(alias="pairwiseComparisons")
    selected: list[str] = Field(default=[], alias="selectedPairwiseQuestions")

    @field_validator("judgements")
    @classmethod
    def _asked_once(cls, judgements: list[_Judgement]) -> list[_Judgement]:
        _require_distinct("question_twice", [judgement.question for judgement in judgements])
        return judgements

    @field_validator("comparisons")
    @classmethod
    def _twelve(cls, comparisons: list[_Comparison]) -> list[_Comparison]:
        _require(len(comparisons) in (0, COMPARED), "twelve_comparisons", f"{len(comparisons)} comparisons")
        pairs = Counter(
            question for question, _ in {(one.question, frozenset((one.label_a, one.label_b))) for one in comparisons}
        )
        for question, count in pairs.items():
            _require(count == PAIRS, "three_pairs_per_question", f"{question} has {count} of the three pairs")
        return comparisons

    @model_validator(mode="after")
    def _all_there(self, info: ValidationInfo) -> "_Annotations":
        known = {*_book(info).pairwise, *self.selected}
        for one in self.comparisons:
            is_known = one.question in known or one.question.startswith(("PW", "custom:"))
            _require(is_known, "unknown_pairwise_question", one.question)
            for label in {one.label_a, one.label_b} - {"original"}:
                _require(getattr(self.alternates, label), "compared_reply_is_there", f"there is no reply {label}")
        return self


class _Turn(_Part):
    """A turn; its attributes are also those of `VisibleTurn` and `TurnGold`."""

    number: int = Field(alias="turnNumber", ge=1)
    user_message: Text = Field(alias="userMessage")
    model_reply: Text = Field(alias="llmResponse")
    emotions: list[_Mood] = Field(alias="moodShiftTags")
    annotations: _Annotations

    @field_validator("emotions")
    @classmethod
    def _each_once(cls, emotions: list[_Mood]) -> list[_Mood]:
        _require_distinct("emotion_twice", [mood.name for mood in emotions])
        return emotions

    @property
    def questions(self) -> list[str]:
        return [one.question for one in self.judgements if one.applies]

    @property
    def judgements(self) -> list[_Judgement]:
        return self.annotations.judgements

    @property
    def comparisons(self) -> list[_Comparison]:
        return self.annotations.comparisons

    @property
    def alternates(self) -> dict[str, str]:
        return self.annotations.alternates.model_dump(exclude_none=True)

    @property
    def human_edit(self) -> str | None:
        return self.annotations.alternates.human


class _Questionnaire(_Part):
    """PANAS; its attributes are also those of `Panas`."""

    positive: Total = Field(default=None, alias="totalPositiveAffect")
    negative: Total = Field(default=None, alias="totalNegativeAffect")
    items: dict[Lower, Rating] = Field(validation_alias=AliasChoices("responses", "items"))

    @field_validator("items")
    @classmethod
    def _twenty(cls, items: dict[str, int]) -> dict[str, int]:
        _require_keys("twenty_items", items, load_codebook().adjectives)
        return {name: items[name] for name in load_codebook().adjectives}

    @property
    def stored(self) -> PanasTotals | None:
        if self.positive is None or self.negative is None:
            return None
        return PanasTotals(positive=self.positive, negative=self.negative)

    @property
    def recomputed(self) -> PanasTotals:
        book = load_codebook()
        positive, negative = (sum(self.items[name] for name in names) for names in (book.positive, book.negative))
        return PanasTotals(positive=positive, negative=negative)


class _Wide(_Part):
    """What was said of the conversation as a whole; its attributes are also those of `WideAnswers`."""

    branches: dict[str, Rating] = Field(alias="fourBranchScores")
    q1: list[Text] = Field(alias="q1_lookingFor")
    q2: Text = Field(alias="q2_emotionClarity")
    q3: Text = Field(alias="q3_modelFit")
    follow_up: list[Text] = Field(alias="q3_followUp_whatFeltOff")

    @field_validator("branches")
    @classmethod
    def _four(cls, branches: dict[str, int]) -> dict[str, int]:
        _require_keys("four_branches", branches, load_codebook().branches)
        return branches


class _Metadata(_Part):
    model: Text
    category: Text
    subtopic: Text
    text: Text | None = None


class _Profile(_Part):
    participant_id: Text
    demographics: dict[str, str | list[str] | None]
    scores: dict[str, int | float | str | None] = Field(alias="computed_scores")

    @field_validator("scores")
    @classmethod
    def _in_range(cls, scores: dict[str, int | float | str | None]) -> dict[str, int | float | str | None]:
        for name, (low, high) in RANGES.items():
            score = scores.get(name)
            holds = score is None or (isinstance(score, int | float) and low <= score <= high)
            _require(holds, "score_in_range", f"{name} is {score}, not {low} to {high}")
        return scores


class ConversationRecord(_Part):
    """A conversation with its annotations."""

    conversation_id: Text = Field(alias="conversationId")
    language: Language = "en"
    metadata: _Metadata
    profile: _Profile = Field(alias="participant_profile")
    pre_panas: _Questionnaire = Field(alias="prePanas")
    post_panas: _Questionnaire = Field(alias="postPanas")
    wide: _Wide = Field(alias="conversationWideQuestions")
    turns: list[_Turn] = Field(min_length=1)

    @field_validator("turns")
    @classmethod
    def _numbered(cls, turns: list[_Turn]) -> list[_Turn]:
        numbers = [turn.number for turn in turns]
        _require(numbers == list(range(1, len(turns) + 1)), "turns_are_numbered", f"turns {', '.join(map(str, numbers))}")
        return turns

    @property
    def groups(self) -> dict[str, str]:
        """Return what results are broken down by; several diagnoses are one group, in the order of their names."""
        said = {name: "; ".join(sorted(one)) if isinstance(one, list) else one for name, one in self.profile.demographics.items()}
        found = {"topic": self.metadata.category, "original_model": self.metadata.model, **said}
        return {name: value for name, value in found.items() if value}
