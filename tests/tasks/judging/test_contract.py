"""Contract of judge replies: every malformed reply is refused with its reason, none is repaired."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.judging.contract import Contract

CONTRACT = Contract(("fluency", "faithfulness"))
GOOD = '{"fluency": 4, "faithfulness": 2}'
RATINGS = {"fluency": 4, "faithfulness": 2}

READ = [
    GOOD,
    f"  {GOOD}\n",
    '{"faithfulness":2,"fluency":4}',
    '{\n  "fluency": 4,\n  "faithfulness": 2\n}',
    f"```json\n{GOOD}\n```",
    f"```\n{GOOD}\n```",
    f"Here is my rating: {GOOD}",
    f"{GOOD}\nThe summary reads well but invents a name.",
    f"评分如下：{GOOD}",
    f"Ratings on [1-5]: {GOOD}",
    f"<think>Reads well.</think>{GOOD}",
    f"{GOOD}.",
]

REFUSED = [
    ("", "no JSON object"),
    ("4", "no JSON object"),
    ("fluency: 4, faithfulness: 2", "no JSON object"),
    ("I cannot rate this.", "no JSON object"),
    ("null", "no JSON object"),
    (f"{GOOD} {GOOD}", "2 JSON objects instead of one"),
    (f'{GOOD}\nOr rather {{"fluency": 5, "faithfulness": 2}}', "2 JSON objects instead of one"),
    (f"<think>Perhaps {GOOD}</think>{GOOD}", "2 JSON objects instead of one"),
    (f"{{}} {GOOD}", "2 JSON objects instead of one"),
    (f"[{GOOD}]", "a list instead of an object"),
    (f"[{GOOD}, {GOOD}]", "a list instead of an object"),
    ("{}", "Field required"),
    ('{"fluency": 4}', "faithfulness: Field required"),
    ('{"fluency": 4, "faithfulness": 2, "reason": "reads well"}', "reason: Extra inputs are not permitted"),
    ('{"fluency": 4, "faithfulness": 2, "overall": 3}', "overall: Extra inputs are not permitted"),
    ('{"Fluency": 4, "faithfulness": 2}', "fluency: Field required"),
    ('{"ratings": {"fluency": 4, "faithfulness": 2}}', "fluency: Field required"),
    ('{"fluency": 4.0, "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": 4.5, "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": "4", "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": "four", "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": "4/5", "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": true, "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": null, "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": [4], "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": {"rating": 4}, "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": 1e0, "faithfulness": 2}', "fluency: Input should be a valid integer"),
    ('{"fluency": 0, "faithfulness": 2}', "fluency: Input should be greater than or equal to 1"),
    ('{"fluency": 6, "faithfulness": 2}', "fluency: Input should be less than or equal to 5"),
    ('{"fluency": -4, "faithfulness": 2}', "fluency: Input should be greater than or equal to 1"),
    ('{"fluency": 10, "faithfulness": 2}', "fluency: Input should be less than or equal to 5"),
    ('{"fluency": NaN, "faithfulness": 2}', "NaN is no number of JSON"),
    ('{"fluency": Infinity, "faithfulness": 2}', "Infinity is no number of JSON"),
    ('{"fluency": 4, "fluency": 5, "faithfulness": 2}', "key fluency twice"),
    ('{"fluency": 4, "faithfulness": 2', "JSON that cannot be read"),
    ('{"fluency": 4, "faithfulness": ', "JSON that cannot be read"),
    ("{'fluency': 4, 'faithfulness': 2}", "JSON that cannot be read"),
    ("{fluency: 4, faithfulness: 2}", "JSON that cannot be read"),
    ('{"fluency": 4, "faithfulness": 2,}', "JSON that cannot be read"),
    ('{"fluency": 4 "faithfulness": 2}', "JSON that cannot be read"),
    ('{"fluency": 4, // good\n"faithfulness": 2}', "JSON that cannot be read"),
    ('{"fluency": 04, "faithfulness": 2}', "JSON that cannot be read"),
    ('{"fluency": ４, "faithfulness": 2}', "JSON that cannot be read"),
    ("{“fluency”: 4, “faithfulness”: 2}", "JSON that cannot be read"),
    (f"{{see below}} {GOOD}", "JSON that cannot be read"),
    ('{"fluency":' * 3_000, "JSON that cannot be read"),
]


@pytest.mark.parametrize("reply", READ)
def test_one_object_is_read(reply: str) -> None:
    assert CONTRACT.parse(reply).ratings == RATINGS


@pytest.mark.parametrize(("reply", "reason"), REFUSED, ids=lambda text: text[:50])
def test_anything_else_is_refused(reply: str, reason: str) -> None:
    parsed = CONTRACT.parse(reply)
    assert parsed.ratings is None
    assert reason in str(parsed.reason)


@given(
    fluency=st.integers(1, 5),
    faithfulness=st.integers(1, 5),
    before=st.text(alphabet="abc 评:\n"),
    after=st.text(alphabet="xyz 。\n"),
)
def test_ratings_come_back_as_written(fluency: int, faithfulness: int, before: str, after: str) -> None:
    ratings = {"fluency": fluency, "faithfulness": faithfulness}
    assert CONTRACT.parse(before + json.dumps(ratings) + after).ratings == ratings


@given(reply=st.text())
def test_any_text_is_read_or_refused_with_a_reason(reply: str) -> None:
    parsed = CONTRACT.parse(reply)
    assert (parsed.ratings is None) == bool(parsed.reason)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_instruction_names_keys_and_range_and_its_example_is_a_reply(language: str) -> None:
    assert language in ("en", "zh")
    instruction = CONTRACT.instruction("en" if language == "en" else "zh")
    assert '"fluency", "faithfulness"' in instruction
    assert CONTRACT.parse(instruction).ratings is not None


def test_schema_says_what_the_parser_checks() -> None:
    rating = {"type": "integer", "minimum": 1, "maximum": 5}
    schema = json.loads(CONTRACT.json_schema)
    assert schema["required"] == ["fluency", "faithfulness"]
    assert schema["additionalProperties"] is False
    assert all(rating.items() <= schema["properties"][name].items() for name in CONTRACT.dimensions)
