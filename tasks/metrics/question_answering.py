"""Token F1 of short answers as LongEmotion's emotion QA counts it, per item, in [0, 1].

Source: LongEmotion, released code of January 2026, after SQuAD and LongBench: lower case; every ASCII punctuation mark becomes a
space; so do the whole words a, an, the, by; F1 of the words, each counted as often as it occurs. Typographic quotes and dashes
are left alone, as there. Differs from `token_f1`, which drops apostrophes, keeps "by" and the signs of numbers.

LongEmotion is English. Beside a reference with Chinese characters each of them is a word, as in tasks.metrics.texts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from string import punctuation

from tasks.metrics.long_replies import final_answer
from tasks.metrics.texts import CHINESE_CHARACTER, best_of

_SPACED = str.maketrans(dict.fromkeys(punctuation, " "))
_DROPPED = re.compile(r"\b(?:a|an|the|by)\b")


def qa_f1(text: str, references: Sequence[str]) -> float:
    """F1 with the best reference; 0 where no word is shared, also if nothing is left of either side.

    Args:
        text: the reply without reasoning, words or a JSON object with the key `answer`.
        references: right answers.

    Raises:
        ScoringError: if no reference holds a word.
    """
    return best_of(final_answer(text), references, _f1)


def _f1(said: str, true: str) -> float:
    by_character = CHINESE_CHARACTER.search(true) is not None
    mine, theirs = (Counter(_words(text, by_character=by_character)) for text in (said, true))
    shared = (mine & theirs).total()
    return 2 * shared / (mine.total() + theirs.total()) if shared else 0.0


def _words(text: str, *, by_character: bool) -> list[str]:
    plain = _DROPPED.sub(" ", text.lower().translate(_SPACED))
    return (CHINESE_CHARACTER.sub(r" \g<0> ", plain) if by_character else plain).split()
