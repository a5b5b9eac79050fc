"""Metrics that LongEmotion's released code has otherwise than other benchmarks."""

import re
from string import punctuation

from tasks.metrics.general import by_reference
from tasks.metrics.keyed_replies import final_answer
from tasks.metrics.measures import set_equality
from tasks.metrics.metric import Metric
from tasks.metrics.texts import CHINESE_CHARACTER, word_f1

_SPACED = str.maketrans(dict.fromkeys(punctuation, " "))
_DROPPED = re.compile(r"\b(?:a|an|the|by)\b")


def qa_f1(said: str, true: str) -> float:
    """Score a short answer by word F1 as emotion QA does; 0 where no word is shared or nothing is left.

    Lower case; every ASCII punctuation mark becomes a space; so do the whole words a, an, the, by. Typographic quotes and dashes
    are left alone, as there. Differs from `token_f1`, which drops apostrophes, keeps "by" and the signs of numbers. The task
    is English; beside a reference with Chinese characters each of them is a word. The reply comes without reasoning, as words
    or as a JSON object with the key `answer`.

    Source: released code of January 2026, after SQuAD and LongBench.
    """
    by_character = CHINESE_CHARACTER.search(true) is not None
    return word_f1(_qa_words(final_answer(said), by_character=by_character), _qa_words(true, by_character=by_character))


def _qa_words(text: str, *, by_character: bool) -> list[str]:
    plain = _DROPPED.sub(" ", text.lower().translate(_SPACED))
    return (CHINESE_CHARACTER.sub(r" \g<0> ", plain) if by_character else plain).split()


METRICS = (
    Metric(
        "strict_accuracy",
        "As accuracy, with replies read as LongEmotion's released code does.",
        baseline="equality",
        answer=lambda question, answer, _: set_equality(answer.strict_indices, question.gold_indices),
    ),
    Metric(
        "qa_f1",
        "F1 of words shared with the best reference, lower case, without punctuation and a, an, the, by; mean over items.",
        graded=True,
        answer=by_reference(qa_f1),
    ),
)
