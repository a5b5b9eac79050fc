from typing import Any

from tasks.text.json_objects import read_object
from tests.rows import each_row


@each_row(
    ("text", "read"),
    [
        (None, None),
        ('{"a": 1}', {"a": 1}),
        ('<think>{"a": 2}</think>{"a": 1}', {"a": 1}),
        ('Here: {no} ```json\n{"a": 1}\n``` {"a": 2}', {"a": 1}),
        ('It is {"a": {"b": 1}}, I think.', {"a": {"b": 1}}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('[1, {"a": 1}, {"a": 2}]', {"a": 1}),
        ("no JSON", {}),
        ("[]", {}),
        ("```" + " " * 10_000 + '{"a": 1}', {"a": 1}),
        ("{" * 100_000, {}),
    ],
)
def test_the_object_of_a_reply(text: str | None, read: Any) -> None:
    assert read_object(text) == read
