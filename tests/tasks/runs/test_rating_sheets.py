"""The page of a sheet: dialogues by turns, words in the item's language, and no answer that acts as markup."""

import re

from tasks.judging.prompts import describe_dimension
from tasks.judging.rubrics import load_rubric
from tasks.reporting.page import render_sheet
from tasks.runs.rating_sheets import SheetAnswer, sheet_id
from tests.tasks.rows import partition

TURNS = [
    {"speaker": "seeker", "text": "我被裁了。</script><script>alert(1)</script>"},
    {"speaker": "tested", "text": "一定很难受。"},
]


def page(rubric: str, said: str | list[dict[str, str]], **item: str | None) -> str:
    chosen = load_rubric(rubric)
    row = {"turns": None, "answer": said} if isinstance(said, str) else {"turns": said, "answer": None}
    asked = {"context": None, "question": "怎么办？", "language": "zh", **item}
    return render_sheet("0" * 16, [SheetAnswer("1" * 16, partition("answers"), row, asked, chosen)])


def test_a_dialogue_is_shown_by_turns_in_chinese() -> None:
    html = page("esc_eval", TURNS)
    assert re.findall(r"<strong>(.+?)</strong> (\S+?)[<&]", html) == [("求助者", "我被裁了。"), ("支持者", "一定很难受。")]
    assert html.count("<script>") == 1
    assert ('<html lang="zh">' in html, "您的姓名或代号" in html, "不评" in html) == (True, True, True)
    fluency = load_rubric("esc_eval").dimensions[0]
    assert describe_dimension(load_rubric("esc_eval"), fluency, "zh") in html
    values = re.findall(r'name="1{16} fluency" value="(\w*)"', html)
    assert values == ["0", "1", "2", "3", "4", ""]


def test_a_text_stands_below_what_the_rubric_shows() -> None:
    html = page("summary", "The dog ran.", language="en", context="A story of a dog.", question="Sum it up.")
    assert re.findall(r'<h3>(.+)</h3>\n<p class="said">(.+)</p>', html) == [
        ("Context", "A story of a dog."),
        ("Task", "Sum it up."),
        ("Answer to rate", "The dog ran."),
    ]


def test_no_spreadsheet_rewrites_an_id() -> None:
    # Alone, what these hashes begin with is a number: 86 times a power of 10, and sixteen digits.
    assert [sheet_id(34), sheet_id(11628)] == ["a86e5014965866131", "a9362505169455973"]
