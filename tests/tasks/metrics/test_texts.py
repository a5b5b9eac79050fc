import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu

from schemas.errors import ScoringError, UsageError
from tasks.metrics.texts import (
    Comparison,
    best_of,
    bleu,
    closer_to_true,
    content_words,
    distinct,
    exact_match,
    load_encoder,
    rouge_1,
    rouge_l,
    similarity,
    token_f1,
    word_recall,
    words,
)
from tasks.retrieval.embedding import find_embedder
from tests.rows import each_row

PIECES = ["tess", "Tess", "her", "cousin", "left", "she", "don't", "3.5", "她", "表姐", "今天下雨", "，", ".", "?", " "]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)
"""English, Chinese and mixed texts, empty ones and ones without a word included."""


@each_row(
    ("text", "expected"),
    [
        ("Her cousin Tess.", ["her", "cousin", "tess"]),
        ("她的表姐。", ["她", "的", "表", "姐"]),
        ("喝了3杯Latte咖啡", ["喝", "了", "3", "杯", "latte", "咖", "啡"]),
        ("Ｔｅｓｓ，２０２４年", ["tess", "2024", "年"]),
        ("don't – well-known", ["dont", "well", "known"]),
        ("don’t", ["dont"]),
        ("3.5 and 1,250 and -4", ["3.5", "and", "1250", "and", "-4"]),
        ("5-6", ["5", "6"]),
        ("Zoë's café", ["zoës", "café"]),
        ("?!", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_articles_are_content_only_when_alone() -> None:
    assert content_words("The cat and a dog") == ["cat", "and", "dog"]
    assert content_words("A") == ["a"]


@each_row(
    ("text", "references", "expected"),
    [
        ("the cousin TESS!", ("Tess", "cousin Tess"), 1.0),
        ("Tess or Ann", ("Tess",), 0.0),
        ("表姐。", ("表姐",), 1.0),
        ("她表姐", ("表姐",), 0.0),
        ("3.5", ("35",), 0.0),
        ("1,000 euros", ("1000 euros",), 1.0),
        ("An apple", ("apple",), 1.0),
        ("！", ("Tess",), 0.0),
    ],
)
def test_exact_match(text: str, references: tuple[str, ...], expected: float) -> None:
    assert best_of(text, references, exact_match) == expected


@pytest.mark.parametrize(
    ("text", "references", "expected"),
    [
        # said: her cousin tess; true: cousin tess; shared 2: p = 2/3, r = 2/2, F1 = 4/5
        ("her cousin Tess", ("cousin Tess",), 0.8),
        # said: tess tess; true: tess; shared 1: p = 1/2, r = 1, F1 = 2/3
        ("Tess Tess", ("Tess",), 2 / 3),
        # the article does not count: said cat sat, true cat: p = 1/2, r = 1
        ("The cat sat", ("a cat",), 2 / 3),
        # best of the references: 0 and 1
        ("Tess", ("Ann", "Tess"), 1.0),
        # 她 表 姐 against 表 姐 苔 丝: shared 2, p = 2/3, r = 2/4, F1 = 2 * 2 / (3 + 4) = 4/7
        ("她表姐", ("表姐苔丝",), 4 / 7),
    ],
)
def test_token_f1(text: str, references: tuple[str, ...], expected: float) -> None:
    assert best_of(text, references, token_f1) == pytest.approx(expected)


class OurWords:
    """The tokenizer rouge-score asks for."""

    def tokenize(self, text: str) -> list[str]:
        return list(words(text))


@settings(max_examples=100)
@given(said=TEXTS, references=st.lists(TEXTS.filter(words), min_size=1, max_size=4))
def test_rouge_agrees_with_rouge_score_given_same_words(said: str, references: list[str]) -> None:
    scorer = RougeScorer(["rouge1", "rougeL"], tokenizer=OurWords())
    theirs = [scorer.score(reference, said) for reference in references]
    assert best_of(said, references, rouge_1) == pytest.approx(max(score["rouge1"].fmeasure for score in theirs))
    assert best_of(said, references, rouge_l) == pytest.approx(max(score["rougeL"].fmeasure for score in theirs))


@settings(max_examples=100)
@given(said=TEXTS, references=st.lists(TEXTS.filter(words), min_size=1, max_size=4))
def test_bleu_agrees_with_sacrebleu(said: str, references: list[str]) -> None:
    chinese = [any("\u4e00" <= character <= "\u9fff" for character in said + reference) for reference in references]
    theirs = [
        sentence_bleu(said, [reference], tokenize="zh" if splits else "13a").score / 100
        for reference, splits in zip(references, chinese, strict=True)
    ]
    assert best_of(said, references, bleu) == pytest.approx(max(theirs))
    assert 0 <= best_of(said, references, bleu) <= 1


def test_bleu_counts_short_and_distinct_rows() -> None:
    # One of two words is right, and no pair of words: smoothed to half of one of one, so that BLEU-2 is sqrt(1/2 x 1/2).
    assert [bleu("the cat", "the dog", order) for order in (1, 2)] == pytest.approx([0.5, 0.5])
    # a b a b: two of four words, and of the pairs ab, ba, ab two of three.
    assert [distinct("a b a b", order) for order in (1, 2)] == [0.5, 2 / 3]
    assert [distinct("好好", 1), distinct("好好", 3), distinct("!", 1)] == [0.5, None, None]


@pytest.mark.parametrize(
    "metric", [exact_match, token_f1, rouge_1, rouge_l, bleu, similarity], ids=lambda metric: metric.__name__
)
def test_reference_without_word_is_left_out_or_error(metric: Comparison) -> None:
    with pytest.raises(ScoringError, match="no reference to compare with"):
        best_of("Tess", ("——",), metric)
    if metric is not similarity:
        assert best_of("Tess", ("——", "Tess"), metric) == 1.0


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        # three of the three words, whatever else is said
        ("She moved to Lisbon in May", "moved to Lisbon", 1.0),
        # one of two
        ("Lisbon", "Lisbon, Portugal", 0.5),
        # the second "no" is not there
        ("no", "no no", 0.5),
        ("Porto", "Lisbon", 0.0),
    ],
)
def test_word_recall_is_share_of_references_words(text: str, reference: str, value: float) -> None:
    assert word_recall(text, reference) == value


@pytest.mark.parametrize(
    ("text", "reference", "equal"),
    [
        ("$-3$", "-3", 1.0),
        ("x = -3", "x=-3", 1.0),
        ("x=-3", "x=3", 0.0),
        (r"\frac{9}{2}", r"-\frac{9}{2}", 0.0),
        (r"$-\frac{9}{2}$", r"-\frac{9}{2}", 1.0),
        # a hyphen and a range are no signs
        ("COVID 19", "COVID-19", 1.0),
        ("3 5", "3-5", 1.0),
    ],
)
def test_signs_belong_to_numbers_and_formulas(text: str, reference: str, equal: float) -> None:
    assert exact_match(text, reference) == equal


TRUE = ("Nothing happens to you.", "The seeds pass through you")
FALSE = ("You grow watermelons in your stomach", "Trees sprout from it")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # two of its two words are the first true reference's, none the false one's
        ("Nothing happens", 1.0),
        # you grow watermelons: 3 of 3 and 6 words of the false one; of the true ones only "you"
        ("You grow watermelons", 0.0),
        # the second of either side
        ("The seeds pass through", 1.0),
        ("Trees sprout", 0.0),
        # nothing in common with any: 0 against 0 is no win
        ("Maybe", 0.0),
        ("?", 0.0),
    ],
)
def test_best_true_reference_must_beat_best_false_one(text: str, expected: float) -> None:
    assert closer_to_true(text, TRUE, FALSE, rouge_l) == expected
    assert closer_to_true(text, TRUE, FALSE, bleu) == expected


def test_a_tie_is_not_truthful() -> None:
    assert closer_to_true("yes it is", ("yes",), ("it",), rouge_l) == 0.0
    assert closer_to_true("x", ("a",), ("b",), lambda _said, _true: 0.5) == 0.0


@pytest.mark.parametrize(("true", "false"), [((), FALSE), (TRUE, ()), (TRUE, ("...",))])
def test_references_of_both_kinds_are_needed(true: tuple[str, ...], false: tuple[str, ...]) -> None:
    with pytest.raises(ScoringError, match="no reference to compare with"):
        closer_to_true("Nothing", true, false, rouge_l)


def test_without_model_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    load_encoder.cache_clear()
    find_embedder.cache_clear()
    with pytest.raises(UsageError, match="needs the package sentence-transformers") as caught:
        similarity("yes", "yes")
    assert caught.value.expected == "the extra embeddings of MoodFlow"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.long
def test_the_packaged_model_gives_the_published_similarities() -> None:
    # Sentences and numbers of the quickstart in the documentation of sentence-transformers.
    weather, sunny, stadium = "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."
    assert similarity(weather, sunny) == pytest.approx(0.6660, abs=1e-4)
    assert similarity(weather, stadium) == pytest.approx(0.1046, abs=1e-4)
    assert similarity(sunny, stadium) == pytest.approx(0.1411, abs=1e-4)
    assert best_of(weather, [stadium, sunny], similarity) == similarity(weather, sunny)
    assert closer_to_true(weather, [sunny], [stadium], similarity) == 1.0
    assert closer_to_true(weather, [stadium], [sunny], similarity) == 0.0
