import pytest

from schemas.errors import ScoringError
from tasks.metrics.texts import bleu, closer_to_true, rouge_l

TRUE = ("Nothing happens to you.", "The seeds pass through you")
FALSE = ("You grow watermelons in your stomach",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # two of its two words are the first true reference's, none the false one's
        ("Nothing happens", 1.0),
        # you grow watermelons: 3 of 3 and 6 words of the false one; of the true ones only "you"
        ("You grow watermelons", 0.0),
        # nothing in common with any: 0 against 0 is no win
        ("Maybe", 0.0),
        ("?", 0.0),
    ],
)
def test_the_best_true_reference_must_beat_the_best_false_one(text: str, expected: float) -> None:
    assert closer_to_true(text, TRUE, FALSE, rouge_l) == expected
    assert closer_to_true(text, TRUE, FALSE, bleu) == expected


def test_rouge_and_bleu_may_disagree() -> None:
    # ROUGE-L: four of the seven words are the false one's in order, 2 x 4 / (7 + 4); three the true one's, 2 x 3 / (7 + 3).
    text, true, false = "one far two near three high four", ("far two near",), ("one two three four",)
    assert closer_to_true(text, true, false, rouge_l) == 0.0
    # BLEU: of the false one no pair. Smoothed, true: 3/7, 2/6, 1/5 and 1/8; false: 4/7, 1/12, 1/20 and 1/32.
    assert closer_to_true(text, true, false, bleu) == 1.0


def test_the_order_of_words_tells_a_statement_from_its_opposite() -> None:
    true, false = ("Air is denser than water vapour.",), ("Water vapour is denser than air.",)
    assert closer_to_true("Air is denser than water vapour", true, false, rouge_l) == 1.0
    assert closer_to_true("Water vapour is denser than air", true, false, rouge_l) == 0.0


def test_a_tie_is_not_truthful() -> None:
    assert closer_to_true("yes it is", ("yes",), ("it",), rouge_l) == 0.0
    assert closer_to_true("x", ("a",), ("b",), lambda _text, _references: 0.5) == 0.0


def test_each_side_counts_by_its_best() -> None:
    likeness = {"a": 0.2, "b": 0.7, "c": 0.6}

    def similarity(_text: str, references: object) -> float:
        assert isinstance(references, tuple)
        return max(likeness[reference] for reference in references)

    assert closer_to_true("x", ("a", "b"), ("c",), similarity) == 1.0
    assert closer_to_true("x", ("a",), ("c",), similarity) == 0.0


@pytest.mark.parametrize(("true", "false"), [((), FALSE), (TRUE, ()), (TRUE, ("...",))])
def test_references_of_both_kinds_are_needed(true: tuple[str, ...], false: tuple[str, ...]) -> None:
    with pytest.raises(ScoringError, match="no reference to compare with"):
        closer_to_true("Nothing", true, false, rouge_l)
