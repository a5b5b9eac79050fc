"""Labels and indices answered to long contexts, as we read them and as the released code does."""

import pytest

from tasks.metrics.long_replies import LongChoice, final_answer, read_index, read_label

FEELINGS = ["Joy", "Relief & Gratitude", "Anger", "Fear & Awe & Shame"]
NOTHING = LongChoice(None, None)


def fenced(body: str) -> str:
    return f"```json\n{body}\n```"


@pytest.mark.parametrize(
    ("reply", "read", "strict"),
    [
        # what the prompt asks for
        (fenced('{"Emotion": "Anger"}'), 2, 2),
        ('{"Emotion": "Anger"}', 2, 2),
        ("She was cheated.\n\n" + fenced('{"Emotion": "Anger"}'), 2, 2),
        # only the lenient reader
        ('So: {"Emotion": "Anger"}.', 2, None),
        (fenced('{"emotion": "Anger"}'), 2, None),
        (fenced('{"Emotion": "anger"}'), 2, None),
        (fenced('{"Emotion": ["Anger"]}'), 2, None),
        (fenced("{'Emotion': 'Anger'}"), 2, None),
        (fenced("{“Emotion”: “Anger”}"), 2, None),
        ("Anger", 2, None),
        ("**Anger**.", 2, None),
        ("The emotion is: anger", 2, None),
        # composites
        (fenced('{"Emotion": "Relief & Gratitude"}'), 1, 1),
        (fenced('{"Emotion": "Gratitude & Relief"}'), 1, None),
        (fenced('{"Emotion": "relief  and gratitude"}'), 1, None),
        ("Gratitude, Relief", 1, None),
        ("shame, fear, and awe", 3, None),
        # thoughts do not count
        ('<think>{"Emotion": "Joy"}</think>{"Emotion": "Anger"}', 2, 2),
        ('{"Emotion": "Joy"}</think>Anger', 2, None),
        # the last complete object counts
        ('{"Emotion": "Joy"} No: {"Emotion": "Anger"}', 2, None),
        ('{"Emotion": "Anger"} or {"Emotion": "Joy', 2, None),
        # the released code takes the last fence, and one key of several
        (fenced('{"Emotion": "Joy"}') + fenced('{"Emotion": "Anger"}'), 2, 2),
        ('{"Emotion": "Joy", "emotion": "Anger"}', None, 0),
    ],
)
def test_a_label_is_read(reply: str, read: int | None, strict: int | None) -> None:
    assert read_label(reply, FEELINGS) == LongChoice(read, strict)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot tell.",
        fenced('{"Emotion": "Hope"}'),
        fenced('{"Emotion": "Relief"}'),
        fenced('{"Emotion": "Joy & Anger"}'),
        fenced('{"Emotion": ["Joy", "Anger"]}'),
        fenced('{"Emotion": null}'),
        fenced('{"Emotion": 2}'),
        fenced('{"Emotion": "Joy", }'),
        '{"Emotion": "Joy',
        "Joy or Anger",
        "Joy\nAnger",
        "<think>Joy</think>",
        "<think>Joy",
        '{"a":' * 5000,
    ],
)
def test_a_reply_without_one_choice_is_no_label(reply: str) -> None:
    assert read_label(reply, FEELINGS) == NOTHING


@pytest.mark.parametrize(
    "reply", ["欣慰 & 感激", "答案：欣慰 & 感激。", "感激、欣慰", '{"Emotion": "感激 & 欣慰"}', "{“Emotion”：“欣慰 & 感激”}"]
)
def test_chinese_labels_are_read(reply: str) -> None:
    assert read_label(reply, ["愤怒", "欣慰 & 感激"]).index == 1


def test_a_label_alone_that_was_cut_off_may_have_gone_on() -> None:
    assert read_label("Joy", ["Joy", "Joy & Relief"], cut=True) == NOTHING
    # An object that was closed is complete, whatever came after it.
    assert read_label('{"Emotion": "Joy"} because', ["Joy", "Joy & Relief"], cut=True).index == 0


def test_case_tells_choices_apart_only_where_it_has_to() -> None:
    assert read_label('{"Emotion": "joy"}', ["Joy", "joy"]) == LongChoice(1, 1)
    assert read_label('{"Emotion": "JOY"}', ["Joy", "joy"]) == NOTHING


SEGMENTS = [f"text {number}" for number in range(30)]


@pytest.mark.parametrize(
    ("reply", "read", "strict"),
    [
        (fenced('{"index": 24}'), 24, 24),
        ('```\n{"index": 24}\n```', 24, 24),
        (fenced('{"index": 0}'), 0, 0),
        (fenced('{"index": 3}') + " Wait. " + fenced('{"index": 24}'), 24, 24),
        # only the lenient reader
        ('{"index": 24}', 24, None),
        (fenced('{"index": "24"}'), 24, None),
        (fenced('{"index": 24.0}'), 24, None),
        (fenced('{"Index": 24}'), 24, None),
        (fenced('{"index": [24]}'), 24, None),
        ("24", 24, None),
        ("**24**.", 24, None),
        ("Index: 24", 24, None),
        ("The answer is 24.", 24, None),
        ("<think>12 or 24</think>24", 24, None),
    ],
)
def test_an_index_is_read(reply: str, read: int, strict: int | None) -> None:
    assert read_index(reply, SEGMENTS) == LongChoice(read, strict)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "None of them.",
        "30",
        "-1",
        "12 or 24",
        "2.5",
        fenced('{"index": 30}'),
        fenced('{"index": -1}'),
        fenced('{"index": 2.5}'),
        fenced('{"index": true}'),
        fenced('{"index": [1, 2]}'),
        fenced('{"index": 1e999}'),
        fenced('{"index": ' + "9" * 5000 + "}"),
        fenced('{"index": 24'),
    ],
)
def test_a_reply_without_one_segment_is_no_index(reply: str) -> None:
    assert read_index(reply, SEGMENTS) == NOTHING


def test_a_number_alone_that_was_cut_off_may_have_gone_on() -> None:
    assert read_index("2", SEGMENTS, cut=True) == NOTHING
    assert read_index('{"index": 2}', SEGMENTS, cut=True).index == 2


def test_the_final_answer_is_what_an_object_holds_or_all_of_it() -> None:
    assert final_answer(fenced('{"answer": "two weeks"}')) == "two weeks"
    assert final_answer("two weeks") == "two weeks"
    assert final_answer('{"answer": ["two", "weeks"]}') == '{"answer": ["two", "weeks"]}'
