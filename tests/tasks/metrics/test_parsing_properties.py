"""Properties of parsing: the set or the order that was written is the one that is read."""

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.item import option_letters
from tasks.metrics.parsing import parse_choices, parse_order

LATIN = st.text(alphabet="bcdefghklmnopqrtuvwxyz", min_size=5, max_size=12)
CHINESE = st.text(alphabet="晴雨山海春秋花鸟鱼虫茶饭书画琴棋", min_size=2, max_size=8)
PHRASE = st.lists(LATIN, min_size=2, max_size=5).map(lambda words: " ".join(words).capitalize() + ".")


def distinct(text: st.SearchStrategy[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(text, min_size=2, max_size=most, unique_by=lambda option: option.casefold().strip("."))


OPTIONS = st.one_of(distinct(LATIN, 30), distinct(CHINESE, 8), distinct(PHRASE, 6))
SET_SEPARATORS = [", ", ",", "、", "，", " and ", "和", "\n", "; ", " "]
ORDER_SEPARATORS = [", ", " > ", "、", "→", " -> ", "\n", " "]


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
