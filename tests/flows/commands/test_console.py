"""A JSON document as lines for a terminal."""

from flows.commands.console import LONGEST, detail_lines


def test_what_is_nested_stands_further_in_and_what_is_empty_is_left_out() -> None:
    document = {"id": "a", "none": None, "empty": [], "rows": [{"text": "[b]\nc", "n": 0}], "done": False}
    assert list(detail_lines(document)) == [
        "[bold]id[/bold]: a",
        "[bold]rows[/bold]:",
        "  [bold]1[/bold]:",
        "    [bold]text[/bold]: \\[b]\n      c",
        "    [bold]n[/bold]: 0",
        "[bold]done[/bold]: False",
    ]


def test_of_a_long_text_both_ends_are_shown() -> None:
    half = LONGEST // 2
    (line,) = detail_lines({"text": "a" * half + "x" * 1500 + "b" * half})
    middle = "\n  [... 1,500 characters, --json has them ...]\n  "
    assert line == "[bold]text[/bold]: " + "a" * half + middle + "b" * half
