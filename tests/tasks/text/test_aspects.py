"""Summaries by aspects: what is read of a reply, what is refused, and the layout."""

import json

import pytest

from schemas.context import ASPECTS
from tasks.text.aspects import format_aspects, read_aspects
from tests.rows import each_row

FIVE = {aspect: f"text on {aspect}" for aspect in ASPECTS}
OBJECT = json.dumps(FIVE)
OTHER = json.dumps(dict.fromkeys(ASPECTS, "draft"))


@each_row(
    "reply",
    [
        OBJECT,
        f"```json\n{OBJECT}\n```",
        f"Here is the summary: {OBJECT} I hope it helps.",
        f"{OTHER}\nOr better:\n{OBJECT}",
        f"{OBJECT}\nA note: {{see above}}",
        f'{OBJECT}\n{{"causes": "only this one"}}',
        f"<think>Perhaps {OTHER}</think>{OBJECT}",
        f"swallowed opening tag {OTHER}</think>\n{OBJECT}",
        f"</think>{OTHER}</think>{OBJECT}",
        f'{{"summary": {OBJECT}}}',
        json.dumps({**FIVE, "remarks": 3}),
        json.dumps({aspect: FIVE[aspect] for aspect in reversed(ASPECTS)}),
        json.dumps({**FIVE, "symptoms": ["text on", "symptoms"]}),
    ],
)
def test_the_last_complete_object_is_read(reply: str) -> None:
    aspects = read_aspects(reply)
    assert aspects == FIVE
    assert tuple(aspects) == ASPECTS


@each_row(
    "reply",
    [
        "",
        "He lost his job and cannot sleep.",
        OBJECT[:-1],
        json.dumps({aspect: FIVE[aspect] for aspect in ASPECTS[1:]}),
        json.dumps({**FIVE, "causes": None}),
        json.dumps({**FIVE, "causes": ["a", 3]}),
        json.dumps({**FIVE, "causes": {"first": "a"}}),
        json.dumps(list(FIVE.values())),
        OBJECT.replace('"', "'"),
        f"<think>{OBJECT}</think>I cannot say.",
        f"<think>Perhaps {OBJECT}",
        '{"causes":' * 3_000,
    ],
)
def test_anything_else_is_not_read(reply: str) -> None:
    assert read_aspects(reply) is None


def test_line_breaks_and_braces_in_a_text_do_not_end_it() -> None:
    raw = OBJECT.replace("text on causes", "lost {job}\nand home")
    assert (read_aspects(raw) or {})["causes"] == "lost {job}\nand home"


def test_layout_is_five_lines_that_no_text_can_imitate() -> None:
    shown = format_aspects(["a\nsymptoms: none", "b", "", " d  d ", "e"])
    assert shown.splitlines() == [
        "causes: a symptoms: none",
        "symptoms: b",
        "treatment_process: ",
        "characteristics_of_illness: d d",
        "treatment_effect: e",
    ]


@pytest.mark.parametrize("count", [0, 4, 6])
def test_layout_needs_five_texts(count: int) -> None:
    with pytest.raises(ValueError, match=r"zip\(\)"):
        format_aspects(["a"] * count)
