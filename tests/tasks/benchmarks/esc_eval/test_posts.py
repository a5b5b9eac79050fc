"""Each corpus in its public form, with records of our own; what is no post or repeats one, and the draw."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import SourceMissingError
from tasks.benchmarks.esc_eval.posts import CORPORA, draw, read_corpus
from tasks.judging.cards import Card

SAID = [{"role": "client", "content": "室友不理我。"}, {"role": "counselor", "content": "从什么时候开始的？"}]
FORMS: dict[str, tuple[Any, str, str]] = {
    "epitome": (
        {"sp_id": "s1", "rp_id": "r1", "seeker_post": "My cat died.", "response_post": "Oh no.", "level": "1", "rationales": ""},
        "post",
        "My cat died.",
    ),
    "mhp_reddit": ({"title": "Fired", "text": "By e-mail.", "subreddit": "jobs"}, "post", "Fired\nBy e-mail."),
    "psych8k": ({"instruction": "Counsel.", "input": "I cannot sleep.", "output": "Since when?"}, "post", "I cannot sleep."),
    "esconv": (
        {
            "experience_type": "Current Experience",
            "emotion_type": "sadness",
            "problem_type": "breakup with partner",
            "situation": "He left.",
            "dialog": [
                {"speaker": "seeker", "annotation": {}, "content": "He left me.\n"},
                {"speaker": "supporter", "annotation": {"strategy": "Question"}, "content": "When?"},
            ],
        },
        "dialogue",
        "He left.\nseeker: He left me.\nsupporter: When?",
    ),
    "extes": (
        {
            "scene": "Work",
            "description": "A new boss.",
            "content": [{"User": "He shouts."}, {"AI Strategy": "Reflective", "AI": "That hurts."}],
        },
        "dialogue",
        "A new boss.\nUser: He shouts.\nAI: That hurts.",
    ),
    "psyqa": (
        {"question": "怎么办？", "description": "我没考上。", "keywords": "升学", "answers": [{"answer_text": "抱抱。"}]},
        "post",
        "怎么办？\n我没考上。",
    ),
    "smile": (SAID, "dialogue", "client: 室友不理我。\ncounselor: 从什么时候开始的？"),
}
"""A record of each, the form that it becomes, and its text."""


def write(folder: Path, name: str, records: list[Any]) -> Path:
    """Write a corpus as its authors do: rows of a CSV, a list of objects, or a file for each list."""
    folder.mkdir(exist_ok=True)
    if CORPORA[name].files == "*.csv":
        with (folder / "all.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, [*records[0]])
            table.writeheader()
            table.writerows(records)
    files = (
        {f"{number}.json": record for number, record in enumerate(records)} if CORPORA[name].is_whole else {"all.json": records}
    )
    for file_name, content in files.items() if CORPORA[name].files == "*.json" else ():
        (folder / file_name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", CORPORA)
def test_corpus_is_read_in_its_public_form(name: str, tmp_path: Path) -> None:
    record, form, text = FORMS[name]
    corpus = CORPORA[name]
    (row,) = read_corpus(name, corpus, write(tmp_path / name, name, [record]))
    assert (row["form"], row["posted"], row["language"], row["source"]) == (form, text, corpus.language, corpus.title)
    assert (row.get("reason"), row["card_id"]) == (None, f"{name}-0-0" if name == "smile" else f"{name}-all-0")


def test_samples_are_those_of_the_paper() -> None:
    english = [corpus.sample for corpus in CORPORA.values() if corpus.language == "en"]
    assert (english, sum(english)) == ([500, 1000, 1000, 1000, 500], 4000)
    assert [corpus.sample for corpus in CORPORA.values() if corpus.language == "zh"] == [1000, 1000]


def test_records_that_are_no_post_keep_their_reason(tmp_path: Path) -> None:
    record = FORMS["psych8k"][0]
    records = [record, {**record, "input": " "}, {"instruction": "", "output": ""}, {**record, "output": "Other."}]
    rows = read_corpus("psych8k", CORPORA["psych8k"], write(tmp_path, "psych8k", records))
    assert [row.get("reason") for row in rows] == [None, "no_text", "other_fields", "repeated"]
    assert [row["card_id"] for row in rows] == [f"psych8k-all-{number}" for number in range(4)]


def test_corpus_that_is_not_here_is_named(tmp_path: Path) -> None:
    for folder in (None, tmp_path):
        with pytest.raises(SourceMissingError, match="ESConv was not found") as caught:
            read_corpus("esconv", CORPORA["esconv"], folder)
        assert "--set folders.esconv=DIR" in str(caught.value)


def test_draw_goes_on_until_enough_are_good() -> None:
    rows: list[Card] = [{"card_id": str(number), "posted": f"post {number}", "text": None} for number in range(20)]
    first = draw(rows, 5, 0)
    assert (len(first), draw(rows[::-1], 5, 0), draw(rows, None, 0)) == (5, first, rows)
    assert draw(rows, 5, 1) != first
    # The second of the draw is no post: it is listed, and the sixth is drawn in its place.
    bad = [row | {"reason": "no_text"} if row == first[1] else row for row in rows]
    again = draw(bad, 5, 0)
    assert ([row["card_id"] for row in again[:5]], len(again)) == ([row["card_id"] for row in first], 6)
    # Another post displaces at most one of those drawn.
    more = draw([*rows, {"card_id": "20", "posted": "post 20", "text": None}], 5, 0)
    assert len([row for row in more if row in first]) >= 4
