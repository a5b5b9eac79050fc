import pytest

from tasks.metrics.reference.scoring import rouge_1, word_recall


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        # Computed by rouge-chinese 1.0.3 over jieba 0.42.1 tokens. The first text has 11 tokens, 9 of them distinct; the 4 of the
        # reference are all shared: 2 * 4 / (9 + 4). Counting 很 and 开心 twice it would be 8 / 15.
        ("我们在动物园玩得很开心，真的很开心。", "我们真的很开心", 0.615385),
        ("北京市发布新规，规范共享单车停放", "北京规范共享单车停放秩序，发布新规定", 0.666667),
        ("苹果公司周二发布新手机，新手机售价更高。", "苹果发布新手机", 0.363636),
        ("iPhone 17 发布", "苹果公司发布 iPhone 17", 0.857143),
        ("UNKNOWN", "小明", 0),
    ],
)
def test_rouge_1_is_that_of_rouge_chinese(text: str, reference: str, value: float) -> None:
    assert rouge_1(text, reference) == pytest.approx(value, abs=5e-7)


def test_an_empty_text_shares_nothing() -> None:
    assert rouge_1("", "小明") == 0
    assert rouge_1(" \n", "小明") == 0


@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("It was in the blue box.", "the blue box", 2 / 3),  # "box." is not "box"
        ("The blue box", "the blue box", 2 / 3),  # nor "The" "the"
        ("very good", "very very good", 2 / 3),  # "very" occurs once
        ("7", "7", 1),
        ("", "the box", 0),
        ("anything", " ", 0),
    ],
)
def test_word_recall_counts_words_between_blanks(text: str, reference: str, value: float) -> None:
    assert word_recall(text, reference) == value
