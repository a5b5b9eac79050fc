"""Say what kind of reply cannot be read, in words that replies of the same kind share; and the same of a server's message."""

import re
from collections.abc import Mapping
from typing import Any

from tasks.metrics.answer_forms import Question
from tasks.solvers.state import says_something
from tasks.text.languages import find_language
from tasks.text.number_format import shorten
from tasks.text.replies import read_object, split_reasoning

LOOKED_AT, BEGINNING, LONGEST_KEYS = 20_000, 120, 80
"""Characters of a reply that are looked at, from either end, that tell its language, and that the keys of an object take."""

FEW_WORDS, REPEATED = 5, 60
"""Words of a short answer, and characters of its question that a reply repeats if it has them in a row."""

_REFUSES = re.compile(
    r"\W*(?:(?:i'm|i am|we're)\W+(?:very\W+|so\W+)?sorry|sorry\b|as an? (?:ai|artificial|language model)"
    r"|i\W+(?:can(?:no|')?t|won't|will not|must decline|am (?:unable|not able))"
    r"|抱歉|对不起|很遗憾|我(?:不能|无法|没办法)|作为(?:一个|一名)?(?:ai|人工智能|语言模型))",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"(?<![\w^}])\{")
_LETTER = re.compile(r"\b(?!I\b|A (?!or |and )[a-z]{2})[A-Z]{1,2}\b")
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？\n](?=.)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]+|[\u3400-\u9fff]")


def describe_unread(item: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return the shape of a reply that cannot be read: the first that a person would notice of it.

    `item`: row of `items`. `answer`: row of `answers`; its `text` is what the model under test says.
    """
    text, ending = answer["text"], ", cut off at the token limit" if answer["finish_reason"] == "length" else ""
    if len(text) > 2 * LOOKED_AT:
        text = f"{text[:LOOKED_AT]}{text[-LOOKED_AT:]}"
    thought, said = split_reasoning(text)
    said = said.strip()
    if answer["remark"] == "refusal":
        return "a refusal, marked as one by the server"
    if not says_something(said):
        return ("only a thought, no answer after it" if thought else "no word" if said else "empty") + ending
    if _REFUSES.match(said.replace("’", "'")):
        return f"a refusal in words{ending}"
    if _OBJECT.search(said):
        keys = sorted({re.sub(r"\d+", "9", key) for key in read_object(text) or ()})
        fault = "is not closed" if said.count("{") > said.count("}") else "cannot be read"
        return (f"JSON with {shorten(', '.join(keys), LONGEST_KEYS)}" if keys else f"JSON that {fault}") + ending
    size, is_foreign = _size_of(said, item["question"]), find_language(said[:BEGINNING]) not in {None, item["language"]}
    named = "" if size in {"a letter", "a number"} else f", {_count_named(Question.from_row(item), said)}"
    language = ", in another language than the item" if is_foreign and "sentence" in size else ""
    return f"{size}{named}{language}{ending}"


def _count_named(question: Question, said: str) -> str:
    """Return whether none, one or several of what may be an answer is named: labels, numbers or letters."""
    if question.form == "label":
        what, named = "label", {option for option in question.options if option.casefold() in said.casefold()}
    elif question.form == "index":
        what, named = "number", set(re.findall(r"\d+", said))
    else:
        what, named = "letter", set(_LETTER.findall(said))
    return f"several {what}s named" if len(named) > 1 else f"{'one' if named else 'no'} {what} named"


def _size_of(said: str, question: str) -> str:
    if question[:REPEATED] in said:
        return "repeats the question"
    words = _WORD.findall(said)
    if len(words) > FEW_WORDS:
        return "several sentences" if _SENTENCE_END.search(said) else "a sentence"
    is_one = "a letter" if "".join(words)[1:] == "" else "a word"
    return "a few words" if words[1:] else is_one if words else "a number"


_FOLDED = re.compile(
    r"(?P<address>https?://[^\s'\")]+)|(?P<id>(?<![\w-])(?=[\w-]*[A-Za-z])(?=[\w-]*\d)[\w-]{8,}(?![\w-]))"
    r"|(?P<number>(?<!\AHTTP )(?<![\w-])\d(?:[\d.,:-]*\d)?)"
)
"""What differs between messages that say the same."""


def fold_message(message: str) -> str:
    """Return a server's message with one sign for each address, id and number in it, but for its HTTP status."""
    return _FOLDED.sub(lambda match: f"<{match.lastgroup}>", message)
