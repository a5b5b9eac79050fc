"""The forms of an answer: how a reply is read as one, how it is named for people, and how a right one is written.

Replies that give a label or an index are read here, mostly under a key of a JSON object. The object may be fenced or stand among
words, or the answer stands alone; labels are read whatever their case, composites such as "Relief & Gratitude" in any order.
Nothing is guessed: what is no choice, or several of them, is not read.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.item import option_letters
from schemas.question_types import QUESTION_TYPES, AnswerForm, QuestionType
from schemas.vocabulary import OptionRole
from tasks.metrics.labels import Indices
from tasks.metrics.parsing import Parse, parse_choice, parse_choices, parse_free_text, parse_order, parse_ranking
from tasks.metrics.reply import clean_reply, keep_end, level_text, match_text, plain_text
from tasks.text.replies import objects_from_end, strip_reasoning

_DECODER = json.JSONDecoder(object_pairs_hook=tuple)
"""Gives objects as pairs, so that a key that occurs twice is seen."""

_LEAD = re.compile(
    r"(?:(?:(?:the|my|your)\s+)?(?:final\s+|correct\s+)?(?:emotion|tone|answer|label|choice|index|segment)\s*(?:is\b|:|=)"
    r"|(?:答案|情绪|情感|语气|标签|编号|序号)\s*(?:是|为|:|=))\s*:?",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s*(?:&|,|、|\band\b)\s*")
_INTEGER = re.compile(r"([0-9]{1,9})(?:\.0+)?")
_EDGES = " \t\n.,;:!\"'`*_。"


def read_label(reply: str, choices: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply that gives one of these labels under the key `Emotion`, or alone.

    `cut`: it ended at its token limit, so that a label alone may be the beginning of a longer one.
    """
    values = _answers(reply, "emotion", cut=cut)
    return _parse(
        "label", values, lambda value: match_text(value, choices, (str, _plain, _parts)) if isinstance(value, str) else None
    )


def read_index(reply: str, segments: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply that gives the 0-based index of one of these segments under the key `index`, or alone; `cut` as above."""
    numbers = [whole_number(value) for value in _answers(reply, "index", cut=cut)]
    return _parse("index", numbers, lambda number: number if number in range(len(segments)) else None)


def _parse(how: str, values: Sequence[Any], read: Callable[[Any], int | None]) -> Parse:
    """Return what all values are read as, if that is the same."""
    indices = {read(value) for value in values}
    index = indices.pop() if len(indices) == 1 else None
    return Parse(None, f"gives no {how}") if index is None else Parse((index,), how)


def whole_number(value: Any) -> int | None:
    """Return the number that a value is, or writes: 24, 24.0, "24"; null if it is none."""
    if isinstance(value, str):
        match = _INTEGER.fullmatch(level_text(value).strip())
        return int(match.group(1)) if match else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def keyed_values(text: str, key: str) -> list[Any] | None:
    """Return values under `key`, in any case, in the last complete JSON object that has it; null if there is no such object.

    Typographic and single quotes are taken for JSON's only where nothing can be read otherwise.
    """
    level = level_text(text)
    for version in (text, level, level.replace("'", '"')):
        for pairs in objects_from_end(version, _DECODER):
            if values := [value for name, value in pairs if name.strip().casefold() == key]:
                return values
    return None


def _answers(reply: str, key: str, *, cut: bool) -> list[Any]:
    """Return values of the last JSON object, else the words of a reply that holds nothing but its answer."""
    text = strip_reasoning(reply)
    values = keyed_values(text, key)
    if values is not None:
        return [value[0] if isinstance(value, list) and len(value) == 1 else value for value in values]
    bare = clean_reply(keep_end(level_text(text)))
    return [] if cut or "{" in bare else [_LEAD.sub("", bare, count=1).strip(_EDGES) if _LEAD.match(bare) else bare.strip(_EDGES)]


def _plain(label: str) -> str:
    return plain_text(label).strip(_EDGES)


def _parts(label: str) -> tuple[str, ...]:
    return tuple(sorted(filter(None, _JOINT.split(_plain(label)))))


@dataclass(frozen=True)
class Question:
    """What scoring needs of an item; which fields are set follows from `question_type` as in schemas.item.

    `classes`: of its options, as tasks.metrics.classes names them; empty = they are not known.
    """

    item_id: str
    question_type: QuestionType
    options: tuple[str, ...]
    gold_indices: Indices
    references: tuple[str, ...]
    option_points: tuple[float | None, ...]
    option_roles: tuple[OptionRole, ...] = ()
    wrong_references: tuple[str, ...] = ()
    subset: str | None = None
    cluster: str = ""
    has_context: bool = True
    classes: tuple[str, ...] = ()

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Question":
        """Return the question of one row of the items layer."""
        lists = ("options", "gold_indices", "references", "option_points", "option_roles", "wrong_references")
        return cls(
            item_id=row["item_id"],
            question_type=row["question_type"],
            subset=row["subset"],
            cluster=row["cluster"],
            has_context=bool(row["context"]),
            classes=tuple(row.get("classes") or ()),
            **{name: tuple(row[name] or ()) for name in lists},
        )

    @property
    def form(self) -> AnswerForm:
        """The form of its answer."""
        return QUESTION_TYPES[self.question_type].answer


@dataclass(frozen=True)
class ParsedAnswer:
    """What a reply was read as: `text` for people, and the options it names as `Parse` has them, by the item's own indices.

    `reply` and `places`, where options are named: the whole of it, and the option shown at each place.
    """

    text: str
    indices: Indices = ()
    reply: str = field(default="", compare=False)
    places: Indices = field(default=(), compare=False)


@dataclass(frozen=True)
class FormRow:
    """One form of an answer.

    `read`: which of the options shown a reply names, `cut` at its token limit or not; null where the answer is a text. `names`:
    from the options to what each is called in an answer. `right`: which options a model that knows the item names. `write`: a
    reply that gives these names as the prompt asks. `is_set`: the order of what is named does not matter. `has_labels`: options
    are classes, and the label columns of `item_scores` are filled. `ranks_tokens`: the likeliest first tokens say more than the
    reply.
    """

    read: Callable[..., Parse] | None
    names: Callable[[Sequence[str]], Sequence[str]] = lambda options: option_letters(len(options))
    right: Callable[[Question], Sequence[int]] = lambda question: question.gold_indices
    write: Callable[[Sequence[str]], str] = ", ".join
    is_set: bool = False
    has_labels: bool = True
    ranks_tokens: bool = False


def _read_order(reply: str, options: Sequence[str], *, cut: bool) -> Parse:
    """Read an order that names every option; a ranking may stop early, what it leaves out is not found."""
    parse = parse_order(reply, options, cut=cut)
    return parse if parse.indices is None or len(parse.indices) == len(options) else Parse(None, "leaves options out")


def _gold_first(question: Question) -> Sequence[int]:
    others = [index for index in range(len(question.options)) if index not in question.gold_indices]
    return [*question.gold_indices, *others]


def _most_points(question: Question) -> Sequence[int]:
    points = [-1.0 if value is None else value for value in question.option_points]
    return [points.index(max(points))]


def _in_json(key: str, value_of: Callable[[str], Any]) -> Callable[[Sequence[str]], str]:
    return lambda names: f"```json\n{json.dumps({key: value_of(names[0])}, ensure_ascii=False)}\n```"


FORMS: Mapping[AnswerForm, FormRow] = {
    "letter": FormRow(parse_choice),
    "letters": FormRow(parse_choices, is_set=True),
    "ranking": FormRow(parse_ranking, right=_gold_first, ranks_tokens=True),
    "order": FormRow(_read_order),
    "scale": FormRow(parse_choice, right=_most_points, has_labels=False),
    "label": FormRow(read_label, tuple, write=_in_json("Emotion", str)),
    "index": FormRow(
        read_index, lambda options: [*map(str, range(len(options)))], write=_in_json("index", int), has_labels=False
    ),
    "text": FormRow(None, has_labels=False),
}

TokenLogprobs = Sequence[tuple[str, float]]
"""Tokens and their natural log probabilities."""


def read_answer(
    question: Question,
    reply: str,
    *,
    cut: bool = False,
    order: Sequence[int] | None = None,
    token_logprobs: TokenLogprobs = (),
) -> ParsedAnswer | None:
    """Return the reply as an answer to this type of question; null if it cannot be read. `cut`: it ended at its token limit.

    Options are ranked by the probabilities of their letters where two of them at least are known, whatever the reply then says:
    `token_logprobs` are the likeliest tokens at its first place. The answer is in the item's own indices and letters, whatever
    the `order`, which is the item's option shown at each place; null = as in the item.
    """
    form, places = FORMS[question.form], range(len(question.options)) if order is None else order
    if form.read is None:
        text = parse_free_text(reply)
        return None if text is None else ParsedAnswer(text)
    ranked = rank_by_logprobs(token_logprobs, len(places)) if form.ranks_tokens else ()
    options = [question.options[position] for position in places]
    parse = Parse(ranked, "token probabilities") if len(ranked) > 1 else form.read(reply, options, cut=cut)
    if parse.indices is None:
        return None
    indices = tuple(places[position] for position in parse.indices)
    if form.is_set:
        indices = tuple(sorted(indices))
    names = form.names(question.options)
    return ParsedAnswer(",".join(names[index] for index in indices), indices, reply, tuple(places))


def right_reply(question: Question) -> str:
    """Return the right answer in the form the prompt asks for; of several references the first."""
    form = FORMS[question.form]
    return question.references[0] if form.read is None else write_options(question, form.right(question))


def write_options(question: Question, indices: Sequence[int]) -> str:
    """Return a reply that names these options in the form the prompt asks for."""
    form = FORMS[question.form]
    names = form.names(question.options)
    return form.write([names[index] for index in indices])


def rank_by_logprobs(token_logprobs: TokenLogprobs, options: int) -> Indices:
    """Return the places of the options whose letters are among the tokens, the likeliest first, equal ones by letter.

    A token names a letter if that is all it holds besides blanks, "(" and "."; upper and lower case are the same. Of several
    tokens for one letter the likeliest counts. There is none if the likeliest token of all names no letter: a sentence has begun,
    and what letters there are among the less likely tokens are words such as "a" and "I". `options`: how many are shown.
    """
    letters = option_letters(options)
    places = {name: position for position, letter in enumerate(letters) for name in (letter, letter.lower())}
    best: dict[int, float] = {}
    for token, logprob in token_logprobs:
        position = places.get(token.strip().strip("(.").strip())
        if position is not None:
            best[position] = max(logprob, best.get(position, logprob))
    if max(best.values(), default=0.0) < max((logprob for _, logprob in token_logprobs), default=0.0):
        return ()
    return tuple(sorted(best, key=lambda position: (-best[position], position)))
