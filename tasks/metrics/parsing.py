"""Parse replies into typed results; a reply that does not say it clearly is not read.

Each kind of answer has an ordered table of small named forms. The first form that applies decides: it gives the answer, or the
reason why the reply is refused. Nothing is guessed from letters that merely occur ("I think A or C", "A dog is shown").
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from tasks.metrics.labels import Choices, Indices, LabelRefusal, Reading, SequenceKind
from tasks.metrics.list_forms import MORE, REMARK, ListForms, checked_list
from tasks.metrics.reply import (
    LONGEST,
    clean_reply,
    drop_front,
    drop_unfinished,
    keep_end,
    level_text,
    mask_options,
    masked_option,
)
from tasks.metrics.single_forms import (
    SEVERAL,
    read_bare_letter,
    read_claims,
    read_letter_and_text,
    read_only_text,
    read_opening_text,
    read_part,
    read_whole_text,
)
from tasks.metrics.stances import ANY_DOUBT
from tasks.solvers.state import says_something
from tasks.text.replies import strip_reasoning

EMPTY = "holds no word"
NOTHING = "states no answer"
UNFINISHED = "was cut off within its list"
WHOLE = frozenset({"letter", "letter and text", "option text", "letters", "letters with texts", "option texts"})
"""Forms of a reply that holds its answer and nothing else."""

LISTING = frozenset({"letters", "list", "option texts", "letters with texts", "part of a text"})
"""Forms that go on to the end of the reply: if the reply was cut off, options may be missing."""

_SECOND_PLACE = re.compile(
    r"(?:\b(?i:then|next|second(?:ly)?|third|followed by|after|before|lastly|finally)\b|[<>→]|其次|然后|接着|再)"
    r"\W{0,3}(?:\w{1,9}\W{1,3}){0,2}?\b[A-Z]\b|\b[A-Z]\b\W{1,3}(?:\w{1,9}\W{1,3})?(?i:next|second|third|last|then)\b"
)
"""Letters that come after others in an order."""


class Parse(NamedTuple):
    """Options as a reply names them: one, a set in the item's order, or distinct ones in the reply's; or null.

    `how` is the form that matched, or why the reply is not read.
    """

    indices: Indices | None
    how: str


Forms = Mapping[str, Callable[[str, Choices], Reading]]
"""Ways of writing an answer by their names, in the order they are tried; comments say why one is read, or why at this place."""

SINGLE_FORMS: Forms = {
    "letter": read_bare_letter,  # what the prompt asks for
    "letter and text": read_letter_and_text,  # unambiguous if the two are the same option, refused if not
    "option text": read_whole_text,  # unambiguous; before prose forms, since an option may read like prose
    "statement": read_claims,  # an answer in words; letters that merely occur do not count
    "text at an edge": read_opening_text,  # 'Yes, because ...': the option itself is the first clause or the last line
    "only text named": read_only_text,  # one plain sentence that names one option and denies nothing
    "part of a text": read_part,  # last, since it says least: unambiguous if it is in one option only and not denied there
}


def _list_forms(kind: SequenceKind) -> Forms:
    forms = ListForms(kind)
    return {
        "letters": forms.whole,  # what the prompt asks for
        "letters with texts": forms.with_texts,  # unambiguous if each letter stands with its own option and nothing else is said
        "statement": forms.claims,  # before lists, since the options may be repeated before the answer
        "list": forms.lines,  # one option a line, among prose; in a set with nothing but its own text
        "option texts": forms.texts,  # unambiguous if every piece is an option
        "part of a text": read_part,  # as above
    }


SET_FORMS, ORDER_FORMS = _list_forms("set"), _list_forms("order")


def parse_choice(reply: str, options: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply to a question with one right option.

    `options`: texts as shown, the first one lettered A. `cut`: the reply ended at its token limit.
    """
    return _read(drop_unfinished(reply) if cut else reply, options, SINGLE_FORMS, None)


def parse_choices(reply: str, options: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply to a question with one right option or several. A letter that is no option spoils the whole answer."""
    return _finished(_read(reply, options, SET_FORMS, "set"), cut=cut)


def parse_order(reply: str, options: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply that puts options in order; it may name only some of them."""
    return _finished(_read(reply, options, ORDER_FORMS, "order"), cut=cut)


def parse_ranking(reply: str, options: Sequence[str], *, cut: bool = False) -> Parse:
    """Read a reply that ranks options; one that states no order but says which is best is a ranking of that one."""
    parse = parse_order(reply, options, cut=cut)
    if parse.how != NOTHING and (cut or parse.how not in {REMARK.reason, MORE.reason}):
        return parse
    best = parse_choice(reply, options, cut=cut)
    return parse if best.indices is None or _SECOND_PLACE.search(keep_end(strip_reasoning(reply))) else best


def parse_free_text(reply: str) -> str | None:
    """Return a reply in free words without its reasoning; null if it holds no letter, digit or Chinese character."""
    text = strip_reasoning(reply)
    return text if says_something(text) else None


def _finished(parse: Parse, *, cut: bool) -> Parse:
    return Parse(None, UNFINISHED) if cut and parse.how in LISTING else parse


def _read(reply: str, options: Sequence[str], forms: Forms, kind: SequenceKind | None) -> Parse:
    """Read a reply by the first form that applies; `kind` is null where only one option may be named."""
    choices, bare = Choices(tuple(options)), strip_reasoning(reply)
    end = keep_end(bare, 4 * (LONGEST + sum(map(len, options))))
    masked = mask_options(end, options)
    if masked_option(masked) is None and (reading := _read_json(bare, choices, forms, kind)) is not None:
        return _outcome(reading, "JSON")
    text = drop_front(clean_reply(keep_end(masked)))
    if not says_something(level_text(end)) or not text:
        return Parse(None, EMPTY)
    for name, read in forms.items():
        reading = read(text, choices)
        if reading is not None:
            return _outcome(reading, name)
    return Parse(None, NOTHING)


def _outcome(reading: Indices | LabelRefusal, name: str) -> Parse:
    return Parse(None, reading.reason) if isinstance(reading, LabelRefusal) else Parse(reading, name)


ANSWER_KEYS = frozenset(
    {
        *("", "answer", "answers", "choice", "choices", "option", "options", "letter", "letters"),
        *("final_answer", "selected", "order", "ranking", "答案", "选项", "选择", "顺序", "排序"),
    }
)
_OTHER_KEY = re.compile(
    r"reason|expla|rational|analy|thought|comment|evidence|question|second_(?:best|choice|option|answer)|guess|eliminat|理由|解释|分析|原因|说明",
    re.IGNORECASE,
)
"""Keys of what is no answer, though it may hold a letter."""

_OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)
_LAST_COMMA = re.compile(r",(?=\s*+[}\]])")


def _read_json(text: str, choices: Choices, forms: Forms, kind: SequenceKind | None) -> Indices | LabelRefusal | None:
    """Read a reply that is JSON, or whose one fenced block or one object is; null if none is.

    A value under a key of an answer may be whatever the forms read; under any other key it counts if it is one option or more and
    nothing else. All that count must agree. JSON throughout that gives no answer is not read.
    """
    if "{" not in text and "[" not in text:
        return None  # soon said: most replies are no JSON
    fenced, objects = text.split("```")[1::2], f"[{','.join(_OBJECT.findall(text))}]"
    for candidate in (text, *(fenced if len(fenced) == 1 else ()), objects):
        try:
            value = json.loads(_LAST_COMMA.sub("", candidate.removeprefix("json")))
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict | list) or not value:
            return None
        leaves, stated = list(_leaves(value, choices)), set[Reading]()
        for key, held in leaves:
            lenient = key in ANSWER_KEYS or (len(leaves) == 1 and isinstance(held[0], str))
            stated.add(_read_values(held, choices, forms, kind, lenient=lenient))
        stated.discard(None)
        if len(stated) == 1:
            return stated.pop()
        if stated or candidate == text:
            return LabelRefusal(NOTHING)
    return None


def _leaves(value: Any, choices: Choices) -> Iterator[tuple[str, list[Any]]]:
    """Yield values that are no objects, and lists of such, with the key they stand under; not what keys say is no answer."""
    todo = [("", value)]
    while todo:
        key, held = todo.pop()
        if isinstance(held, dict):
            for name, inner in held.items():
                plain = name.strip().casefold().replace(" ", "_")
                if not (name in choices.labels or _OTHER_KEY.search(plain) or ANY_DOUBT.search(plain.replace("_", " "))):
                    todo.append((plain, inner))
        elif isinstance(held, list) and any(isinstance(inner, dict | list) for inner in held):
            todo += [(key, inner) for inner in held]
        else:
            yield key, held if isinstance(held, list) else [held]


def _read_values(
    values: list[Any], choices: Choices, forms: Forms, kind: SequenceKind | None, *, lenient: bool
) -> Indices | LabelRefusal | None:
    """Read each value on its own: one option each, or (a single value) whatever the forms read."""
    texts = [
        clean_reply(keep_end(mask_options(str(value), choices.options))) for value in values if lenient or isinstance(value, str)
    ]
    if lenient and (not all(texts) or not texts or any(isinstance(value, bool | None) for value in values)):
        return LabelRefusal(NOTHING)
    if len(texts) == 1:
        names = forms if lenient else [name for name in forms if name in WHOLE]
        reading = next((reading for name in names if (reading := forms[name](texts[0], choices)) is not None), None)
        return LabelRefusal(NOTHING) if lenient and reading is None else reading
    read: list[Indices] = []
    for text in texts:
        reading = read_bare_letter(text, choices) or read_letter_and_text(text, choices) or read_whole_text(text, choices)
        if reading is None or isinstance(reading, LabelRefusal):
            return (reading or LabelRefusal(NOTHING)) if lenient else None
        read.append(reading)
    if not read:
        return None
    return SEVERAL if kind is None else checked_list(tuple(chain.from_iterable(read)), choices, kind, with_texts=False)
