"""Contract of a judge's reply: one type writes the format instruction and the JSON schema, and parses the reply."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from types import GenericAlias
from typing import Annotated, Any, Literal

import dataframely as dy
import polars as pl
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from schemas.tables.responses import Judgements
from schemas.vocabulary import FaultSeverity, Language
from tasks.judging.replies import mend_rating, read_digit, read_reply
from tasks.judging.rubrics import FAULTS, NO_YES, RATIONALE, YES_NO, AnyScale, Dimension, Reply, Rubric, ratings_of, words_of
from tasks.solvers.answers import ANSWER
from tasks.text.replies import strip_reasoning

_FORMAT: dict[Language, str] = {
    "en": "Reply with one JSON object and nothing else. Its keys are exactly {keys}; {values}. For example: {example}",
    "zh": "只回复一个 JSON 对象，不要写任何其他内容。键必须正好是 {keys}；{values}。例如：{example}",
}
_DIGIT: dict[Language, str] = {
    "en": "Reply with {values}, one digit and nothing else.",
    "zh": "只回复一个数字，即{values}，不要写任何其他内容。",
}
_EACH_VALUE: dict[Language, str] = {"en": "each value is {values}", "zh": "每个值是 {values}"}
_VALUE_OF: dict[Language, str] = {"en": "the value of {keys} is {values}", "zh": "{keys} 的值是 {values}"}
_WHOLE_NUMBER: dict[Language, str] = {
    "en": "a whole number from {lowest} to {highest}",
    "zh": "{lowest} 到 {highest} 的整数",
}
_YES_OR_NO: dict[Language, str] = {"en": '"yes" or "no"', "zh": '"yes"（是）或 "no"（否）'}
_REASON: dict[Language, str] = {
    "en": "one or two sentences that say why, written before you rate",
    "zh": "在评分之前写出的一两句理由",
}
_LIST_OF_FAULTS: dict[Language, str] = {
    "en": "a list, empty if there are none, written before you rate, of objects with the keys turn (the number of the turn it "
    "stands in), kind (one of {kinds}), severity (helped = it made the listener's part easier, hindered = harder, minor = "
    "neither to speak of) and quote (words of that turn, copied exactly)",
    "zh": "在评分之前写出的列表（没有则为空），其中每个对象的键为 turn（所在轮的序号）、kind（{kinds} 之一）、severity"
    "（helped = 让倾听者更容易，hindered = 更困难，minor = 几乎没有影响）和 quote（从那一轮逐字抄录的原话）",
}
_BETWEEN: dict[Language, str] = {"en": "; ", "zh": "；"}
_EXAMPLE_REASON: dict[Language, str] = {"en": "Because ...", "zh": "因为……"}

EXAMPLE_RATINGS = 5
"""Different ratings that the example spreads over a long scale, so that none of its ends is suggested."""

LONGEST_REASON = 300
"""Characters of what is wrong with a reply, which may quote it."""

MOST_FAULTS = 20
"""Of one dialogue: a small model that is held to a schema fills a list without end until its limit of tokens."""


class FaultClaim(BaseModel):
    """A fault as a judge names it. `turn`: as it was shown; whether the quote stands there is not checked here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    turn: int = Field(strict=True, ge=1)
    kind: str
    severity: FaultSeverity
    quote: str = Field(min_length=1, max_length=300)


@dataclass(frozen=True)
class Parsed:
    """A judge's reply as read: all ratings and, where the rubric wants them, why, and faults; or what is wrong with the reply.

    `repaired`: it says them in another form than the one that was asked for.
    """

    ratings: dict[str, int] | None
    reason: str | None = None
    rationale: str | None = None
    faults: tuple[FaultClaim, ...] = ()
    repaired: bool = False


@dataclass(frozen=True)
class Contract:
    """The reply to one call: the scale of each dimension, in the order asked; whether it says why; kinds of fault it names."""

    scales: Mapping[str, AnyScale]
    rationale: bool = False
    reply: Reply = "json"
    faults: tuple[str, ...] = ()

    @staticmethod
    def of(rubric: Rubric, dimensions: Sequence[Dimension]) -> "Contract":
        """Return the contract for a call that asks for these dimensions of the rubric."""
        scales = tuple((dimension.name, rubric.scale_of(dimension)) for dimension in dimensions)
        reply = rubric.reply if len(scales) == 1 else "json"
        return _contract(scales, reply, tuple(rubric.faults), rationale=rubric.rationale)

    @cached_property
    def reply_type(self) -> type[BaseModel]:
        """Model with one required value of its scale per dimension, reason and faults before them, and no other field."""
        fields: dict[str, Any] = {RATIONALE: (Annotated[str, Field(min_length=1)], ...)} if self.rationale else {}
        if self.faults:
            kind: Any = Literal[self.faults]
            claim = create_model("FaultOfKind", __base__=FaultClaim, kind=(kind, ...))
            fields[FAULTS] = (Annotated[GenericAlias(tuple, (claim, ...)), Field(max_length=MOST_FAULTS)], ...)
        fields |= {name: (_value_type(scale), ...) for name, scale in self.scales.items()}
        return create_model("JudgeReply", __config__=ConfigDict(extra="forbid", frozen=True), **fields)

    @cached_property
    def json_schema(self) -> str:
        """JSON schema of the reply as text, for endpoints that can enforce one.

        Dimensions stand in the order in which they are asked: servers make the reply follow the schema's order, not the words'.
        """
        schema = json.loads(json.dumps(self.reply_type.model_json_schema(), sort_keys=True))
        schema["properties"] = {name: schema["properties"][name] for name in self.reply_type.model_fields}
        return json.dumps(schema)

    def instruction(self, language: Language) -> str:
        """Write how to reply, in words; derived from the same fields the reply is checked against."""
        if self.reply == "digit":
            return _DIGIT[language].format(values=_values_of(next(iter(self.scales.values())), language))
        example: dict[str, object] = {RATIONALE: _EXAMPLE_REASON[language]} if self.rationale else {}
        if self.faults:
            example[FAULTS] = [{"turn": 3, "kind": self.faults[0], "severity": "minor", "quote": "..."}]
        for number, (name, scale) in enumerate(self.scales.items(), start=2):
            words = words_of(scale)
            apart = max(1, len(words) // EXAMPLE_RATINGS)
            example[name] = words[number * apart % len(words)]
        return _FORMAT[language].format(
            keys=_quoted(self.reply_type.model_fields),
            values=self._values(language),
            example=json.dumps(example, ensure_ascii=False),
        )

    def _values(self, language: Language) -> str:
        names: dict[str, list[str]] = {_REASON[language]: [RATIONALE]} if self.rationale else {}
        if self.faults:
            names[_LIST_OF_FAULTS[language].format(kinds=", ".join(self.faults))] = [FAULTS]
        for name, scale in self.scales.items():
            names.setdefault(_values_of(scale, language), []).append(name)
        if len(names) == 1:
            return _EACH_VALUE[language].format(values=next(iter(names)))
        parts = (_VALUE_OF[language].format(keys=_quoted(keys), values=values) for values, keys in names.items())
        return _BETWEEN[language].join(parts)

    def parse(self, reply: str) -> Parsed:
        """Read a judge's reply: one JSON object with a value of its scale for each dimension, or the digit.

        What is meant beyond doubt is read, as `tasks.judging.replies` says. Anything else is not: objects that differ, a missing,
        additional or repeated key, a fraction, a rating off its scale. Nothing is rounded, clamped or guessed.
        """
        try:
            return self._read(strip_reasoning(reply))
        except ValueError as error:
            return Parsed(None, str(error)[:LONGEST_REASON])
        except Exception as error:  # noqa: BLE001  whatever it is, it is this reply's
            return Parsed(None, f"{type(error).__name__} while it was read")

    def _read(self, text: str) -> Parsed:
        ratings = {name: ratings_of(scale) for name, scale in self.scales.items()}
        if self.reply == "digit":
            ((name, digits),) = ratings.items()
            rating, repaired = read_digit(text, name, digits)
            if rating is not None or "{" not in text:
                return Parsed(None, "not one digit of the scale") if rating is None else Parsed({name: rating}, repaired=repaired)
        parsed, repaired = read_reply(text, self.reply_type)
        read = dict(parsed)
        given = {name: ratings[name][words_of(scale).index(read[name])] for name, scale in self.scales.items()}
        return Parsed(given, rationale=read.get(RATIONALE), faults=read.get(FAULTS, ()), repaired=repaired)


@cache
def _contract(scales: tuple[tuple[str, AnyScale], ...], reply: Reply, faults: tuple[str, ...], *, rationale: bool) -> Contract:
    """Return the one contract of these: each call of a judge asks for it, and to make its type takes milliseconds."""
    return Contract(dict(scales), rationale, reply, faults)


def _value_type(scale: AnyScale) -> Any:
    mended = BeforeValidator(partial(mend_rating, words=words_of(scale)))
    if scale == YES_NO:
        return Annotated[Literal[NO_YES], mended]
    return Annotated[int, Field(strict=True, ge=scale.lowest, le=scale.highest), mended]


def _values_of(scale: AnyScale, language: Language) -> str:
    if scale == YES_NO:
        return _YES_OR_NO[language]
    return _WHOLE_NUMBER[language].format(lowest=scale.lowest, highest=scale.highest)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


VERDICT = [*ANSWER, "judge", "judge_repetition"]
"""One rating of an answer by a judge, which has a row per dimension."""


def reparse_judgements(judgements: dy.DataFrame[Judgements], rubric: Rubric) -> dy.DataFrame[Judgements]:
    """Read every stored reply again, of judgements of one rubric, as the judges would be asked by it now.

    There is a row per reply and dimension that it was asked for; what only the call itself could tell is copied.
    """
    together = rubric.ask == "together"
    replies = judgements.unique(VERDICT, keep="first", maintain_order=True) if together else judgements
    rows: list[dict[str, object]] = []
    for reply in replies.iter_rows(named=True):
        for dimensions in rubric.calls(reply["judge_repetition"]):
            if together or dimensions[0].name == reply["dimension"]:
                read = None if reply["raw_reply"] is None else Contract.of(rubric, dimensions).parse(reply["raw_reply"])
                rows += [{**reply, **rated} for rated in rating_rows(rubric, dimensions, read)]
    frame = pl.DataFrame(rows, schema=Judgements.create_empty().schema)
    return Judgements.validate(frame.sort(Judgements.primary_key()))


def rating_rows(rubric: Rubric, dimensions: Sequence[Dimension], read: Parsed | None) -> list[dict[str, object]]:
    """Return what a reply says of each dimension that it was asked for, as columns of the judgements layer; null = none came."""
    given: dict[str, int] = {}
    shared: dict[str, object] = {"rubric": rubric.id, "rationale": None}
    if read is None:
        shared |= {"parse_status": "failed"}
    elif read.ratings is None:
        shared |= {"parse_status": "unparsed", "error": read.reason}
    else:
        given = read.ratings
        shared |= {"parse_status": "repaired" if read.repaired else "parsed", "error": None, "rationale": read.rationale}
    scales = {dimension.name: ratings_of(rubric.scale_of(dimension)) for dimension in dimensions}
    return [
        {**shared, "dimension": name, "lowest": ratings[0], "highest": ratings[-1], "rating": given.get(name)}
        for name, ratings in scales.items()
    ]
