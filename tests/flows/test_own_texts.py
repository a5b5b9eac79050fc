"""Rubrics and prompts beside an own blueprint: asked by, part of the keys by content, and kept in the manifest."""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.flows.command import ask_all, assert_one_message, ended
from tests.model_server import ModelServer

DAYS = [
    {"item_id": f"day-{number}", "language": "en", "question_type": "open_ended", "context": day}
    | {"question": "Reply.", "references": ["I see."]}
    for number, day in enumerate(("My train was late.", "Nobody laughed at my toast."))
]
BLUEPRINT: dict[str, Any] = {
    **dict.fromkeys(("name", "title", "version", "source"), "days"),
    **{name: name for name in ("rubrics", "prompts")},
    "level_rules": [{"weights": {"low": 1}}],
    "abilities": [
        {"id": "reply", "title": "Reply", "tasks": [{"id": "day", "title": "Day", "level": "low", "datasets": ["bad_days"]}]}
    ],
    "datasets": {
        "bad_days": {
            "title": "Bad days",
            "source": {"path": "days.jsonl"},
            "methods": [{"id": "judge", "judged": True, "rubric": "warmth", "metrics": [{"metric": "judged_rating"}]}],
        }
    },
}
RUBRIC: dict[str, Any] = {
    "id": "warmth",
    "version": "1",
    "texts": ["SOURCE"],
    "scale": {"lowest": 1, "highest": 3},
    "instruction": {"en": "You rate how warm a reply is.", "zh": "请评价回应是否温暖。"},
    "anchors": {"en": ["cold", "polite", "warm"], "zh": ["冷漠", "礼貌", "温暖"]},
    "dimensions": [{"name": "warmth", "definition": {"en": "Is it warm?", "zh": "是否温暖？"}}],
}
BLOCKS = {"context": "Your friend writes: {context}", "question": "{question}", "instruction": "One line, as a friend."}
PROMPT = {"version": "1", "max_tokens": 64, "en": BLOCKS, "zh": BLOCKS}


def write(folder: Path, **files: Any) -> None:
    for name, content in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(lambda messages: '{"warmth": 3}' if "how warm" in messages[0]["content"] else "Oh no.") as server:
        yield server


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "days.jsonl").write_text("".join(f"{json.dumps(day)}\n" for day in DAYS), encoding="utf-8")
    write(tmp_path, days=BLUEPRINT, rubrics__warmth=RUBRIC, prompts__open_ended=PROMPT)
    return tmp_path


def options(own: Path, server: ModelServer) -> tuple[str | Path, ...]:
    models = ("--model", "m", "--base-url", server.base_url, "--judge", "j", "--judge-base-url", server.base_url)
    return (own / "days.yaml", *models, "--set", "bootstrap=0", "--lake", own / "lake", "--json")


def test_own_texts_are_asked_and_count(own: Path, server: ModelServer) -> None:
    def sent() -> int:
        """Calls that the texts of now take, of those that were not sent yet."""
        calls: int = ended("infer", *options(own, server)).document["calls"]["sent"]
        return calls

    first = ended("run", *options(own, server))
    assert (first.document["raw_scores"][0]["value"], first.document["calls"]["sent"]) == (1, 4), first.err
    messages = [[message["content"] for message in call["messages"]] for call in server.bodies]
    assert ["Your friend writes: My train was late.\n\nReply.\n\nOne line, as a friend."] in messages
    # Another prompt is another answer, which is rated anew; another rubric rates the same answers.
    assert sent() == 0
    write(own, prompts__open_ended={**PROMPT, "en": {**BLOCKS, "instruction": "Two lines."}})
    assert sent() == 2  # equal replies: their ratings are in the journal
    write(own, rubrics__warmth={**RUBRIC, "version": "2", "instruction": {"en": "Rate how warm it is.", "zh": "温暖吗？"}})
    assert sent() == 2
    assert_needs_no_files(own, first.document)


def assert_needs_no_files(own: Path, done: dict[str, Any]) -> None:
    """The texts of a past run are in its manifest."""
    for name in ("days", "rubrics/warmth", "prompts/open_ended"):
        (own / f"{name}.yaml").unlink()
    checked = ended("verify", done["run"], "--lake", own / "lake", "--json").document
    assert (checked["files"]["differ"], [one["kind"] for one in checked["differences"] if one["kind"] == "code"]) == ([], [])
    assert {layer["differs"] for layer in checked["layers"]} == {0}
    explained = ended("explain", done["run"], "--lake", own / "lake", "--dataset", "bad_days", "--model", "m", "--item", "day-0")
    assert "Your friend writes" in explained.out, explained.err


def test_own_texts_may_end_in_yml(own: Path, server: ModelServer) -> None:
    (own / "prompts" / "open_ended.yaml").rename(own / "prompts" / "open_ended.yml")
    ask_all(*options(own, server))
    asked = [call["messages"][0]["content"] for call in server.bodies]
    assert "Your friend writes: My train was late.\n\nReply.\n\nOne line, as a friend." in asked
    write(own, prompts__open_ended=PROMPT)
    done = ended("infer", *options(own, server))
    assert_one_message(done, "a folder of prompts or rubrics cannot be read", "two of its files have one name")


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({"prompts__open_endet": PROMPT}, ("there is no prompt open_endet", "open_ended")),
        ({"prompts__open_ended": {**PROMPT, "en": {}}}, ("the prompt files cannot be used",)),
        ({"rubrics__warmth": {**RUBRIC, "scale": {"lowest": 3, "highest": 1}}}, ("a rubric file breaks a rule",)),
        (
            {"days": {**BLUEPRINT, "rubrics": "rubric"}},
            ("a folder of prompts or rubrics cannot be read", "rubric\n  expected: YAML files\n  got: no such folder"),
        ),
        (
            {"prompts__open_ended": {**PROMPT, "version": date(2026, 1, 1)}},
            ("a folder of prompts or rubrics cannot be read", "date"),
        ),
    ],
)
def test_faulty_own_texts_are_one_message(own: Path, server: ModelServer, files: dict[str, Any], parts: tuple[str, ...]) -> None:
    write(own, **files)
    assert_one_message(ended("run", *options(own, server)), *parts)
    assert server.calls == 0
