import pytest

from tasks.metrics.reply import clean_reply, drop_unfinished, fold_text, match_text, strip_reasoning


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**B**", "B"),
        ("`B`", "B"),
        ("- B\n* C", "B\nC"),
        ("## Answer\n(B)", "Answer\nB)"),
        ("2*3*4", "2*3*4"),
        ("snake_case_name", "snake_case_name"),
        ("\\boxed{\\text{B}}", "<answer>B</answer>"),
        ("```json\nB\n```", "B"),
        ("B<|im_end|>", "B"),
    ],
)
def test_mark_up_is_taken_away(text: str, expected: str) -> None:
    assert clean_reply(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Same meaning!", "samemeaning"), ("３．５ %", "3.5%"), ("x > -5", "x>-5"), ("It's 5.", "its5"), ("“好的。”", "好的")],
)
def test_folding_keeps_what_changes_a_number(text: str, expected: str) -> None:
    assert fold_text(text) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("same-meaning", ("same meaning", "other"), 0),
        ("ab", ("AB", "ab"), 1),
        ("Ab", ("AB", "ab"), None),
        ("stop", ("Stop.", "Stop!"), None),
        ("Stop!", ("Stop.", "Stop!"), 1),
        ("...", ("a", "b"), None),
    ],
)
def test_text_matches_one_option_or_none(text: str, options: tuple[str, ...], expected: int | None) -> None:
    assert match_text(text, options) == expected


@pytest.mark.parametrize(
    ("reply", "expected"), [("It is joy.\nA. ", "It is joy."), ("x\n\nB", "x"), ("B", "B"), ("x\nB. joy", "x\nB. joy")]
)
def test_only_a_last_line_that_is_a_letter_is_unfinished(reply: str, expected: str) -> None:
    assert drop_unfinished(reply) == expected
