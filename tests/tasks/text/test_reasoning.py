import pytest

from tasks.text.reasoning import strip_reasoning


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<think>A?</think>B", "B"),
        ("<THINK>A?</THINK>\nB", "B"),
        ("<think>A?</think>x<reasoning>C?</reasoning>B", "xB"),
        ("swallowed opening</think>B", "B"),
        ("<think>never closed B", ""),
        ("I think B", "I think B"),
    ],
)
def test_reasoning_is_stripped(reply: str, expected: str) -> None:
    assert strip_reasoning(reply) == expected
