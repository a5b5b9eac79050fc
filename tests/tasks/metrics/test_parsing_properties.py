"""Properties of parsing: the letter that was written is the letter that is read, and nothing crashes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.letters import option_letters
from tasks.metrics.parsing import parse_choice, parse_choices, parse_order

LATIN = st.text(alphabet="bcdefghklmnopqrtuvwxyz", min_size=5, max_size=12)
CHINESE = st.text(alphabet="晴雨山海春秋花鸟鱼虫茶饭书画琴棋", min_size=2, max_size=8)
PHRASE = st.lists(LATIN, min_size=2, max_size=5).map(lambda words: " ".join(words).capitalize() + ".")


def distinct(text: st.SearchStrategy[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(text, min_size=2, max_size=most, unique_by=lambda option: option.casefold().strip("."))


OPTIONS = st.one_of(distinct(LATIN, 30), distinct(CHINESE, 8), distinct(PHRASE, 6))
WRAPPINGS = [
    *("{letter}", "({letter})", "**{letter}**", "{letter}.", "{letter})", "（{letter}）", "Option {letter}", "选项{letter}"),
    *("{letter}选项", "选{letter}", "应选{letter}。", "我选择 {letter}", "答案是{letter}", "答案：{letter}。"),
    *("Answer: {letter}", "**Answer: ({letter})** because it fits.", "The answer is {letter}."),
    *("The correct answer is {letter}. {text}", "I think the answer is {letter}.", "I'd say {letter}", "{letter}. {text}"),
    *("{letter}: {text}", "({letter}) {text}", "{text}", "**{text}**", "The answer is {text}"),
    *("Let me think it over.\n\nTherefore, the answer is {letter}.", "综上所述，答案是{letter}。"),
    *("Let me think it over.\n\n{letter}", "<think>Is it A? Or B?</think>{letter}", "\\boxed{{{letter}}}"),
    *("<answer>{letter}</answer>", '{{"answer": "{letter}"}}', '```json\n{{"answer": "{letter}"}}\n```'),
]
SET_SEPARATORS = [", ", ",", "、", "，", " and ", "和", "\n", "; ", " "]
ORDER_SEPARATORS = [", ", " > ", "、", "→", " -> ", "\n", " "]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@settings(max_examples=12)
@given(data=st.data())
def test_written_letter_is_read(wrapping: str, data: st.DataObject) -> None:
    options = data.draw(OPTIONS)
    gold = data.draw(st.integers(0, len(options) - 1))
    reply = wrapping.format(letter=option_letters(len(options))[gold], text=options[gold])
    assert parse_choice(reply, options).indices == (gold,), reply


@settings(max_examples=50)
@given(data=st.data())
def test_written_set_is_read(data: st.DataObject) -> None:
    options = data.draw(OPTIONS)
    gold = data.draw(st.sets(st.integers(0, len(options) - 1), min_size=1))
    separator = data.draw(st.sampled_from(SET_SEPARATORS))
    frame = data.draw(st.sampled_from(["{}", "{}.", "**{}**", "Answer: {}", "<think>A?</think>{}"]))
    letters = [option_letters(len(options))[index] for index in data.draw(st.permutations(sorted(gold)))]
    assert parse_choices(frame.format(separator.join(letters)), options).indices == tuple(sorted(gold))


@settings(max_examples=50)
@given(data=st.data())
def test_written_order_is_read(data: st.DataObject) -> None:
    options = data.draw(OPTIONS)
    gold = tuple(data.draw(st.permutations(range(len(options)))))
    letters = [option_letters(len(options))[index] for index in gold]
    numbered = "\n".join(f"{place}. {letter}" for place, letter in enumerate(letters, 1))
    joined = data.draw(st.sampled_from([numbered, *(separator.join(letters) for separator in ORDER_SEPARATORS)]))
    assert parse_order(joined, options).indices == gold
