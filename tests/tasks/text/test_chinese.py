"""Words of Chinese, and of runs that jieba would take too long for."""

import jieba

from tasks.text.chinese import LONGEST_RUN, cut_words
from tests.rows import each_row


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
