"""Metrics that LongEmotion's released code has otherwise than other benchmarks."""

import json
import re
from string import punctuation
from typing import Any

from schemas.blueprint import MetricSpec
from tasks.metrics.answer_forms import ParsedAnswer, Question, keyed_values
from tasks.metrics.general import by_reference
from tasks.metrics.metric import Metric
from tasks.metrics.texts import CHINESE_CHARACTER, word_f1
from tasks.text.replies import strip_reasoning

_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_SPACED = str.maketrans(dict.fromkeys(punctuation, " "))
_DROPPED = re.compile(r"\b(?:a|an|the|by)\b")


def qa_f1(reply: str, true: str) -> float:
    """Score a short answer by word F1 as emotion QA does; 0 where no word is shared or nothing is left.

    Lower case; every ASCII punctuation mark becomes a space; so do the whole words a, an, the, by. Typographic quotes and dashes
    are left alone, as there. Differs from `token_f1`, which drops apostrophes, keeps "by" and the signs of numbers. The task
    is English; beside a reference with Chinese characters each of them is a word. The reply comes without reasoning, as words
    or as a JSON object with the key `answer`.

    Source: released code of January 2026, after SQuAD and LongBench.
    """
    by_character = CHINESE_CHARACTER.search(true) is not None
    return word_f1(_qa_words(final_answer(reply), by_character=by_character), _qa_words(true, by_character=by_character))


def _qa_words(text: str, *, by_character: bool) -> list[str]:
    plain = _DROPPED.sub(" ", text.lower().translate(_SPACED))
    return (CHINESE_CHARACTER.sub(r" \g<0> ", plain) if by_character else plain).split()


def final_answer(text: str) -> str:
    """Return the text of a reply in words: what its last JSON object has under `answer`, else all of it.

    Search-o1 asks for such an object, the other settings for words alone.
    """
    values = keyed_values(text, "answer")
    return values[0] if values and len(values) == 1 and isinstance(values[0], str) else text


def strict_accuracy(question: Question, answer: ParsedAnswer, _spec: MetricSpec) -> float:
    """Return whether the right label or index is what the released code of January 2026 reads in the reply.

    Differs: it asks up to five times until something can be read, and runs forever on malformed JSON in a fence where an index is
    asked; here such a reply is wrong. So is one that `accuracy` does not read.
    """
    if question.form == "label":
        label = _strict_value(answer.reply, "Emotion", fenced_only=False)
        return float(label in [question.options[index] for index in question.gold_indices])
    index = _strict_value(answer.reply, "index", fenced_only=True)
    # True and 24.0 are no integers of JSON, though Python calls them equal to 1 and 24.
    is_place = type(index) is int and 0 <= index < len(answer.places)
    return float(is_place and answer.places[index] in question.gold_indices)


def _strict_value(reply: str, key: str, *, fenced_only: bool) -> Any:
    """Return what the released code reads under `key`: of a whole reply that is JSON, else of the last fence; null if nothing.

    `fenced_only`: JSON without a fence is not read.
    """
    answer = strip_reasoning(reply)
    for text in (*(() if fenced_only else (answer,)), *_FENCED.findall(answer)[-1:]):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value.get(key)
    return None


METRICS = (
    Metric(
        "strict_accuracy",
        "As accuracy, with replies read as LongEmotion's released code does.",
        baseline="equality",
        answer=strict_accuracy,
    ),
    Metric(
        "qa_f1",
        "F1 of words shared with the best reference, lower case, without punctuation and a, an, the, by; mean over items.",
        graded=True,
        question_types=("extractive",),
        answer=by_reference(qa_f1),
    ),
)
