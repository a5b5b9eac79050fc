"""A JSON document as lines for a terminal."""

import pytest

from flows.commands.console import LONGEST, bold, detail_lines, terminal, terminal_table
from schemas.table import Column, Table


def test_nested_values_are_indented_and_empty_ones_omitted() -> None:
    document = {"id": "a", "none": None, "empty": [], "rows": [{"text": "[b]\nc", "n": 0}], "done": False}
    assert [str(line) for line in detail_lines(document)] == [
        "id: a",
        "rows:",
        "  1:",
        "    text: [b]\n      c",
        "    n: 0",
        "done: False",
    ]


def test_brackets_and_control_characters_are_only_shown(capsys: pytest.CaptureFixture[str]) -> None:
    name = "gpt[free][bold][/bold][link=x]\x1b[31m\x9b5m\udcff"
    table = Table((Column("Model"),), [(name,), ("a[1] [ ] :smile:",)], title=name)
    terminal().print(terminal_table(table), bold(name, name))
    shown, lines = r"gpt[free][bold][/bold][link=x]\u001b[31m\u009b5m\udcff", capsys.readouterr().out.splitlines()
    assert [line.strip() for line in lines if line.strip(" ─")] == [
        shown, "Model", shown, "a[1] [ ] :smile:", shown + shown
    ]  # fmt: skip


def test_of_a_long_text_both_ends_are_shown() -> None:
    half = LONGEST // 2
    (line,) = detail_lines({"text": "a" * half + "x" * 1500 + "b" * half})
    middle = "\n  [... 1,500 characters, --json has them ...]\n  "
    assert str(line) == "text: " + "a" * half + middle + "b" * half
