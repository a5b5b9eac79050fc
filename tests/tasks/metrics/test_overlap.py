import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from schemas.errors import ScoringError
from tasks.metrics.overlap import content_words, exact_match, rouge_l, token_f1, words

ENGLISH = st.lists(st.sampled_from(["tess", "called", "her", "cousin", "at", "midnight", "7"]), min_size=1).map(" ".join)


@pytest.mark.parametrize(
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


def test_articles_are_no_content_unless_nothing_else_is_said() -> None:
    assert content_words("The cat and a dog") == ["cat", "and", "dog"]
    assert content_words("A") == ["a"]


@pytest.mark.parametrize(
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
    assert exact_match(text, references) == expected


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
        ("no", ("yes",), 0.0),
    ],
)
def test_token_f1(text: str, references: tuple[str, ...], expected: float) -> None:
    assert token_f1(text, references) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "references", "expected"),
    [
        # longest common subsequence of (called her cousin) and (her cousin called): her cousin, 2 of 3 and 3
        ("called her cousin", ("her cousin called",), 2 / 3),
        # 今 天 下 雨 against 今 天 没 下 雨: 4; p = 4/4, r = 4/5, F = 8/9
        ("今天下雨", ("今天没下雨。",), 8 / 9),
        # mixed: 她 在 paris 哭 against 她 在 paris 笑: 3 of 4 and 4
        ("她在Paris哭", ("她在paris笑",), 0.75),
        ("今天下雨", ("明月", "今天下雨"), 1.0),
    ],
)
def test_rouge_l(text: str, references: tuple[str, ...], expected: float) -> None:
    assert rouge_l(text, references) == pytest.approx(expected)


@given(said=ENGLISH, true=ENGLISH)
def test_rouge_l_of_english_agrees_with_the_default_tokenizer(said: str, true: str) -> None:
    theirs = RougeScorer(["rougeL"]).score(true, said)["rougeL"].fmeasure
    assert rouge_l(said, [true]) == pytest.approx(theirs)


@given(said=ENGLISH, true=ENGLISH)
def test_token_f1_is_rouge_1_without_articles(said: str, true: str) -> None:
    # ROUGE-1 is the F-measure of the same multisets of words; these texts hold no articles.
    theirs = RougeScorer(["rouge1"]).score(true, said)["rouge1"].fmeasure
    assert token_f1(said, [true]) == pytest.approx(theirs)


@pytest.mark.parametrize("metric", [exact_match, token_f1, rouge_l], ids=lambda metric: metric.__name__)
def test_reference_without_a_word_is_left_out_or_an_error(metric: object) -> None:
    assert callable(metric)
    assert metric("Tess", ("——", "Tess")) == 1.0
    with pytest.raises(ScoringError, match="no reference to compare with"):
        metric("Tess", ("——",))
