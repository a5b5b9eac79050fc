"""F1 of the words of a short answer, as emotion QA counts them."""

import pytest

from tasks.benchmarks.longemotion.metrics import qa_f1
from tests.rows import each_row


@each_row(
    ("text", "reference", "share"),
    [
        ("Social support", "social support", 1.0),
        # said: support; true: social support: p = 1, r = 1/2
        ("The support", "social support", 2 / 3),
        # a, an, the, by are no words: said: caused stress, true: stress: p = 1/2, r = 1
        ("caused by the stress", "a stress", 2 / 3),
        # only whole words: another keeps its "an"
        ("another theory", "other ory", 0.0),
        # punctuation divides: well, known against well, known
        ("well-known", "well known", 1.0),
        # it, s, fine against its, fine: 1 of 3 and 2
        ("It's fine", "its fine", 0.4),
        # 3, 5 against 35
        ("3.5", "35", 0.0),
        # each word as often as it occurs: no, no, yes against no, yes, yes: 2 of 3 and 3
        ("no no yes", "no yes yes", 2 / 3),
        # nothing is left of either side
        ("the", "by", 0.0),
        ('```json\n{"answer": "social support"}\n```', "social support", 1.0),
        # one by one: 很, 开, 心 against 开, 心
        ("很开心", "开心", 0.8),
        # a Chinese word in the reply alone is one word: stress, 压力 against stress
        ("stress 压力", "stress", 2 / 3),
    ],
)
def test_f1_of_words(text: str, reference: str, share: float) -> None:
    assert qa_f1(text, reference) == pytest.approx(share)
