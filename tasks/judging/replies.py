"""Read a reply that is to be one JSON object of a type, or one digit: what is meant beyond doubt is repaired, nothing guessed."""

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from schemas.json_yaml import distinct_keys, refuse_constant
from tasks.text.replies import strip_reasoning

_RATED = frozenset({"score", "rating", "value", "评分", "分数", "得分"})
_REASONS = frozenset({"reason", "reasoning", "rationale", "explanation", "justification", "comment", "理由", "原因"})
_WHOLE = re.compile(r"(-?[0-9]{1,9})(?:\.0+)?\s*(?:分|(?:/|out of)\s*([0-9]{1,9}))?", re.IGNORECASE)


def mend_rating(value: Any, words: Sequence[int | str]) -> Any:
    """Return the rating that a value means: "3", 3.0, "3/3" where 3 is the highest of the scale's words, one with its reason."""
    if isinstance(value, dict) and {key.casefold() for key in value} <= _RATED | _REASONS:
        rated = [rating for key, rating in value.items() if key.casefold() in _RATED]
        value = rated[0] if len(rated) == 1 else value
    if isinstance(value, str) and (whole := _WHOLE.fullmatch(value.strip())) and whole[2] in (None, str(words[-1])):
        return int(whole[1])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.strip().casefold() if isinstance(value, str) else value


_MARKS = str.maketrans(dict.fromkeys("*_`", " "))
_LINE = (
    r"(?:(?:the )?(?:score|rating|评分|分数|得分|NAME)(?: is)? ?[:：]? ?)?"
    r"([\"']?)([0-9])(\.0+)?( ?(?:/|out of) ?HIGHEST)? ?分?\1 ?[.。]?"
)
_SCALE = r"[(（][^()（）0-9]*{lowest} *(?:-|–|to|到|至) *{highest}[^()（）0-9]*[)）]"


def read_digit(reply: str, name: str, ratings: range) -> tuple[int | None, bool]:
    """Return the rating that a reply says in one digit, and whether in another form: docs/how-to/own-judge.md.

    Null: it says none, or not clearly.
    """
    unscaled = re.sub(_SCALE.format(lowest=ratings[0], highest=ratings[-1]), "", reply, flags=re.IGNORECASE)
    lines = [" ".join(line.translate(_MARKS).split()) for line in unscaled.splitlines() if re.search(r"\d", line)]
    pattern = _LINE.replace("NAME", re.escape(name.replace("_", " "))).replace("HIGHEST", str(ratings[-1]))
    digit = re.fullmatch(pattern, lines[0], re.IGNORECASE) if len(lines) == 1 else None
    return (int(digit[2]), any(digit.group(1, 3, 4))) if digit and int(digit[2]) in ratings else (None, False)


ReplyT = TypeVar("ReplyT", bound=BaseModel)


def read_reply(reply: str, reply_type: type[ReplyT]) -> tuple[ReplyT, bool]:
    """Return the object of a type that a reply is, and whether it had to be repaired.

    Words or a code fence around it are tolerated. Repaired are Python's spelling, a comma after the last value, keys in another
    case, an object, text or list around the object, other braces beside it, the same object twice, and values the type mends.
    Whatever names one of its keys must be read, and say the same. ValueError: saying what is wrong with it.
    """
    text = strip_reasoning(reply)
    names = "|".join(map(re.escape, reply_type.model_fields))
    says = re.compile(rf"[\"'“](?:{names})\s*\\?[\"'”]\s*:", re.IGNORECASE).search
    spans, rest = _OBJECT.findall(text), _OBJECT.sub("{}", text)
    read = [_read_object(span, reply_type) for span in [span for span in spans if says(span)] or spans]
    if not read or says(rest):
        raise ValueError(NOT_JSON if "{" in text else "no JSON object")
    if any(other != read[0][0] for other, _ in read):
        # The judge is told this when it is asked again: in other words it would be another call.
        raise ValueError(f"{len(read)} JSON objects that differ")
    return read[0][0], len(spans) > 1 or read[0][1] or _LISTED.search(rest) is not None


def _read_object(span: str, reply_type: type[ReplyT]) -> tuple[ReplyT, bool]:
    fields, respelled = _decode(span)
    names = {name.casefold(): name for name in reply_type.model_fields}
    values = fields
    if len(fields) == 1 and not names.keys() & {key.casefold() for key in fields}:
        (held,) = fields.values()
        held = _decode(held.strip())[0] if isinstance(held, str) and _OBJECT.fullmatch(held.strip()) else held
        values = held if isinstance(held, dict) else fields
    try:
        read = reply_type.model_validate(distinct_keys([(names.get(key.casefold(), key), values[key]) for key in values]))
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
        raise ValueError("; ".join(problems)) from error
    given, meant = (json.dumps(each, sort_keys=True) for each in (fields, read.model_dump(mode="json")))
    return read, respelled or given != meant


NOT_JSON = "JSON that cannot be read"
_DOUBLE, _SINGLE = r'"(?:[^"\\]++|\\.)*+"', r"'(?:[^'\\]++|\\.)*+'"
_BRACES = r"\{\s*+\}"
for _ in range(3):  # that many levels in each other; gone through without going back, however many stay open
    _BRACES = rf"\{{(?:[^{{}}\"']++|{_DOUBLE}|{_SINGLE}|{_BRACES})*+\}}"
_OBJECT = re.compile(_BRACES, re.DOTALL)
_LISTED = re.compile(r"\[\s*+\{")
_OF_PYTHON = re.compile(rf"({_DOUBLE})|({_SINGLE})|\b(True|False|None)\b|,(?=\s*+[}}\]])", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}


def _decode(span: str) -> tuple[Any, bool]:
    """Return the object that braces hold, and whether it had to be respelled. Raise ValueError if it is none."""
    for text, strict in ((span, True), (_OF_PYTHON.sub(_respell, span), False)):
        try:
            return json.loads(text, object_pairs_hook=distinct_keys, parse_constant=refuse_constant, strict=strict), not strict
        except (json.JSONDecodeError, RecursionError):
            continue
    raise ValueError(NOT_JSON)


def _respell(match: re.Match[str]) -> str:
    double, single, word = match.groups()
    return json.dumps(single[1:-1].replace("\\'", "'")) if single else double or _WORDS.get(word, "")
