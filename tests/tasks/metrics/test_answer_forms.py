"""Labels and indices as they are read; tests of LongEmotion's strict accuracy go through the same replies."""

import pytest

from tasks.metrics.answer_forms import read_index, read_label
from tests.rows import each_row

FEELINGS = ["Joy", "Relief & Gratitude", "Anger", "Fear & Awe & Shame"]


def fenced(body: str) -> str:
    return f"```json\n{body}\n```"


LABELS: dict[tuple[int | None, int | None], tuple[str, ...]] = {
    # what the prompt asks for; thoughts do not count; the released code takes the last fence
    (2, 2): (
        *(fenced('{"Emotion": "Anger"}'), '{"Emotion": "Anger"}', "She was cheated.\n\n" + fenced('{"Emotion": "Anger"}')),
        '<think>{"Emotion": "Joy"}</think>{"Emotion": "Anger"}',
        fenced('{"Emotion": "Joy"}') + fenced('{"Emotion": "Anger"}'),
    ),
    # only the lenient reader; the last complete object counts
    (2, None): (
        *('So: {"Emotion": "Anger"}.', fenced('{"emotion": "Anger"}'), fenced('{"Emotion": "anger"}')),
        *(fenced('{"Emotion": ["Anger"]}'), fenced("{'Emotion': 'Anger'}"), fenced("{“Emotion”: “Anger”}"), "Anger"),
        *("**Anger**.", "The emotion is: anger", "Your choice: Anger", '{"Emotion": "Joy"}</think>Anger'),
        *('{"Emotion": "Joy"} No: {"Emotion": "Anger"}', '{"Emotion": "Anger"} or {"Emotion": "Joy'),
    ),
    # composites
    (1, 1): (fenced('{"Emotion": "Relief & Gratitude"}'),),
    (1, None): (
        *(fenced('{"Emotion": "Gratitude & Relief"}'), fenced('{"Emotion": "relief  and gratitude"}'), "Gratitude, Relief"),
    ),
    (3, None): ("shame, fear, and awe",),
    (None, None): (
        # the released code reads Joy; what we do not read counts as wrong under strict accuracy too
        '{"Emotion": "Joy", "emotion": "Anger"}',
        *("", "I cannot tell.", "Joy or Anger", "Joy\nAnger", "<think>Joy</think>", "<think>Joy", '{"a":' * 5000),
        *(fenced('{"Emotion": "Hope"}'), fenced('{"Emotion": "Relief"}'), fenced('{"Emotion": "Joy & Anger"}')),
        *(fenced('{"Emotion": ["Joy", "Anger"]}'), fenced('{"Emotion": null}'), fenced('{"Emotion": 2}')),
        *(fenced('{"Emotion": "Joy", }'), '{"Emotion": "Joy'),
    ),
}
"""Replies by the label that we read in them, and the one that the released code does."""


@each_row(("read", "reply"), [(read, reply) for (read, _), replies in LABELS.items() for reply in replies])
def test_a_label_is_read(read: int | None, reply: str) -> None:
    assert read_label(reply, FEELINGS).indices == (None if read is None else (read,))


@pytest.mark.parametrize(
    "reply", ["欣慰 & 感激", "答案：欣慰 & 感激。", "感激、欣慰", '{"Emotion": "感激 & 欣慰"}', "{“Emotion”：“欣慰 & 感激”}"]
)
def test_chinese_labels_are_read(reply: str) -> None:
    assert read_label(reply, ["愤怒", "欣慰 & 感激"]).indices == (1,)


def test_cut_label_may_have_gone_on() -> None:
    assert read_label("Joy", ["Joy", "Joy & Relief"], cut=True).indices is None
    # An object that was closed is complete, whatever came after it.
    assert read_label('{"Emotion": "Joy"} because', ["Joy", "Joy & Relief"], cut=True).indices == (0,)


def test_case_matters_only_between_equal_choices() -> None:
    assert read_label('{"Emotion": "joy"}', ["Joy", "joy"]).indices == (1,)
    assert read_label('{"Emotion": "JOY"}', ["Joy", "joy"]).indices is None


SEGMENTS = [f"text {number}" for number in range(30)]


INDICES: dict[tuple[int | None, int | None], tuple[str, ...]] = {
    (24, 24): (
        *(fenced('{"index": 24}'), '```\n{"index": 24}\n```', fenced('{"index": 3}') + " Wait. " + fenced('{"index": 24}')),
    ),
    (0, 0): (fenced('{"index": 0}'),),
    # only the lenient reader
    (24, None): (
        *('{"index": 24}', fenced('{"index": "24"}'), fenced('{"index": 24.0}'), fenced('{"Index": 24}')),
        *(fenced('{"index": [24]}'), "24", "**24**.", "Index: 24", "The answer is 24.", "<think>12 or 24</think>24"),
    ),
    (None, None): (
        *("", "None of them.", "30", "-1", "12 or 24", "2.5", fenced('{"index": 30}'), fenced('{"index": -1}')),
        *(fenced('{"index": 2.5}'), fenced('{"index": true}'), fenced('{"index": [1, 2]}'), fenced('{"index": 1e999}')),
        *(fenced('{"index": ' + "9" * 5000 + "}"), fenced('{"index": 24')),
    ),
}


@each_row(("read", "reply"), [(read, reply) for (read, _), replies in INDICES.items() for reply in replies])
def test_an_index_is_read(read: int | None, reply: str) -> None:
    assert read_index(reply, SEGMENTS).indices == (None if read is None else (read,))


def test_cut_number_may_have_gone_on() -> None:
    assert read_index("2", SEGMENTS, cut=True).indices is None
    assert read_index('{"index": 2}', SEGMENTS, cut=True).indices == (2,)
