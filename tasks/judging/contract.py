"""Contract of a judge's reply: one type writes the format instruction and the JSON schema, and parses the reply."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Annotated, Any

import dataframely as dy
import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from schemas.tables.responses import Judgements
from schemas.vocabulary import Language
from tasks.judging.rubrics import Rubric, Scale
from tasks.solvers.answers import ANSWER

_FORMAT: dict[Language, str] = {
    "en": "Reply with one JSON object and nothing else. Its keys are exactly {keys}; each value is a whole number from "
    "{lowest} to {highest}. For example: {example}",
    "zh": "只回复一个 JSON 对象，不要写任何其他内容。键必须正好是 {keys}；每个值是 {lowest} 到 {highest} 的整数。例如：{example}",
}


EXAMPLE_RATINGS = 5
"""Different ratings that the example spreads over a long scale, so that none of its ends is suggested."""

_LISTED = re.compile(r"\[\s*\{")


@dataclass(frozen=True)
class Parsed:
    """A judge's reply as read: all ratings, or the reason why there are none."""

    ratings: dict[str, int] | None
    reason: str | None = None


@dataclass(frozen=True)
class Contract:
    """The reply to a rubric with these dimensions, in the order in which they are asked."""

    dimensions: tuple[str, ...]
    scale: Scale = field(default_factory=Scale)

    @staticmethod
    def of(rubric: Rubric, repetition: int = 0) -> "Contract":
        """Return the contract for one repetition of rating an answer by the rubric."""
        return _contract(tuple(dimension.name for dimension in rubric.rotate_dimensions(repetition)), rubric.scale)

    @cached_property
    def reply_type(self) -> type[BaseModel]:
        """Model with one required whole number of the scale per dimension and no other field."""
        rating = Annotated[int, Field(strict=True, ge=self.scale.lowest, le=self.scale.highest)]
        fields: dict[str, Any] = dict.fromkeys(self.dimensions, (rating, ...))
        return create_model("JudgeReply", __config__=ConfigDict(extra="forbid", frozen=True), **fields)

    @cached_property
    def json_schema(self) -> str:
        """JSON schema of the reply as text, for endpoints that can enforce one.

        Dimensions stand in the order in which they are asked: servers make the reply follow the schema's order, not the words'.
        """
        schema = json.loads(json.dumps(self.reply_type.model_json_schema(), sort_keys=True))
        schema["properties"] = {name: schema["properties"][name] for name in self.dimensions}
        return json.dumps(schema)

    def instruction(self, language: Language) -> str:
        """Write how to reply, in words; derived from the same fields the reply is checked against."""
        names = list(self.reply_type.model_fields)
        ratings = self.scale.ratings
        apart = max(1, len(ratings) // EXAMPLE_RATINGS)
        example = json.dumps({name: ratings[place * apart % len(ratings)] for place, name in enumerate(names, start=2)})
        keys = ", ".join(f'"{name}"' for name in names)
        return _FORMAT[language].format(keys=keys, lowest=self.scale.lowest, highest=self.scale.highest, example=example)

    def parse(self, reply: str) -> Parsed:
        """Read a judge's reply: exactly one JSON object with a whole number for each dimension.

        Words or a code fence around the object are tolerated. Anything else is not read: a second object, a broken one, a
        missing, additional or repeated key, a fraction, a text, a rating out of range. Nothing is rounded, clamped or guessed.
        """
        try:
            objects = _json_objects(reply)
        except (ValueError, RecursionError) as error:
            return Parsed(None, f"JSON that cannot be read: {error}")
        if len(objects) != 1:
            return Parsed(None, "no JSON object" if not objects else f"{len(objects)} JSON objects instead of one")
        try:
            return Parsed(self.reply_type.model_validate(objects[0]).model_dump())
        except ValidationError as error:
            return Parsed(None, _reasons(error))


@cache
def _contract(dimensions: tuple[str, ...], scale: Scale) -> Contract:
    """Return the one contract of these: each call of a judge asks for it, and to make its type takes milliseconds."""
    return Contract(dimensions, scale)


def _json_objects(text: str) -> list[Any]:
    """Return every JSON object of a text that is not part of another one, in order.

    Raises:
        ValueError: if a brace opens something that is no JSON, an object names a key twice, or objects stand in a list.
    """
    if _LISTED.search(text):
        raise ValueError("a list instead of an object")
    decoder = json.JSONDecoder(object_pairs_hook=_distinct_keys, parse_constant=_refuse_constant)
    found, place = [], text.find("{")
    while place >= 0:
        value, end = decoder.raw_decode(text, place)
        found.append(value)
        place = text.find("{", end)
    return found


def _distinct_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"key {repeated[0]} twice")
    return dict(pairs)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _reasons(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())


VERDICT = [*ANSWER, "judge", "judge_repetition"]
"""One reply of a judge, which has a row per dimension."""


def reparse_judgements(judgements: dy.DataFrame[Judgements], rubric: Rubric) -> dy.DataFrame[Judgements]:
    """Read every stored reply again.

    Args:
        judgements: of one rubric.
        rubric: as the judges would be asked by it now.

    Returns:
        One row per reply and dimension of the rubric, sorted by key; what only the call itself could tell is copied.
    """
    contracts = [Contract.of(rubric, repetition) for repetition in range(len(rubric.names))]
    rows: list[dict[str, Any]] = []
    for verdict in judgements.unique(VERDICT, keep="first", maintain_order=True).iter_rows(named=True):
        contract = contracts[verdict["judge_repetition"] % len(contracts)]
        read = None if verdict["raw_reply"] is None else contract.parse(verdict["raw_reply"])
        rows += [{**verdict, **rated} for rated in rating_rows(rubric, read)]
    frame = pl.DataFrame(rows, schema=Judgements.create_empty().schema)
    return Judgements.validate(frame.sort(Judgements.primary_key()))


def rating_rows(rubric: Rubric, read: Parsed | None) -> list[dict[str, Any]]:
    """Return what a reply says of each dimension, as columns of the judgements layer; null = none came."""
    scale: dict[str, Any] = {"rubric": rubric.id, "lowest": rubric.scale.lowest, "highest": rubric.scale.highest}
    if read is None or read.ratings is None:
        status = {"parse_status": "failed"} if read is None else {"parse_status": "unparsed", "error": read.reason}
        return [{**scale, **status, "dimension": name, "rating": None} for name in rubric.names]
    parsed = {"parse_status": "parsed", "error": None}
    return [{**scale, **parsed, "dimension": name, "rating": read.ratings[name]} for name in rubric.names]
