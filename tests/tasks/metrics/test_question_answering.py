"""Token F1 of emotion QA: words and shares worked out by hand."""

import pytest

from schemas.errors import ScoringError
from tasks.metrics.texts import qa_f1, token_f1


@pytest.mark.parametrize(
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
        # a typographic apostrophe stays inside its word: it’s against it, s
        ("it’s", "it's", 0.0),
        # each word as often as it occurs: no, no, yes against no, yes, yes: 2 of 3 and 3
        ("no no yes", "no yes yes", 2 / 3),
        ("yes", "no", 0.0),
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
    assert qa_f1(text, [reference]) == pytest.approx(share)


def test_the_best_reference_counts() -> None:
    assert qa_f1("two weeks", ["a month", "two long weeks", "weeks"]) == pytest.approx(0.8)


def test_it_is_not_token_f1() -> None:
    # the apostrophe: its against it, s
    assert token_f1("It's fine", ["its fine"]) == 1.0
    assert qa_f1("It's fine", ["its fine"]) == pytest.approx(0.4)


def test_a_reference_without_a_word_is_an_error() -> None:
    with pytest.raises(ScoringError, match="no reference to compare with"):
        qa_f1("yes", ["..."])
