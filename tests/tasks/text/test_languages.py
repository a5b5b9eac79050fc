"""The language of a text, or that it cannot be told; words of Chinese, and of runs that jieba would take too long for."""

import jieba
import pytest

from tasks.text.languages import LONGEST_RUN, cut_words, find_language
from tests.rows import each_row


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I can't sleep, and nobody knows.", "en"),
        ("I’m fine", "en"),
        ("昨晚又没睡着。", "zh"),
        # 15 characters, the worth of 10 words, and one English word: 10 of 11.
        ("我的 boss 今天又把我骂了一顿，真的很累", "zh"),
        # Ten English words and the worth of 2 / 1.5.
        ("My mother calls it 孝顺 and I do not know what to say", "en"),
        # Three words and the worth of 5 / 1.5: neither has two thirds.
        ("He left me 他走了怎么", None),
        ("我说 I am very tired and 他不听我说话", None),
        ("Je ne sais pas quoi faire de ma vie.", None),
        ("Ich weiß nicht, was ich tun soll.", None),
        ("今日はとても疲れました。", None),
        ("오늘 너무 힘들어요", None),
        ("Мне очень грустно", None),
        # Two names: no word of English among them.
        ("Lena Petrov", None),
        ("... 12 😢", None),
        ("", None),
    ],
)
def test_language_is_found_by_characters_and_common_words(text: str, language: str | None) -> None:
    assert find_language(text) == language


@each_row(
    "text",
    [
        "",
        "今天天气很好，我们去公园散步。\r\n回家时下雨了！",
        "The train was late, 我 3.5 小时后才到家… C++ & R#，100%。",
        " \t两个  空格\n\n和一行（括号）",
    ],
)
def test_words_are_those_of_jieba(text: str) -> None:
    assert cut_words(text) == jieba.lcut(text)


def test_a_long_run_is_cut_and_nothing_lost() -> None:
    text = "雨" * (3 * LONGEST_RUN + 7)
    assert "".join(cut_words(text)) == text
