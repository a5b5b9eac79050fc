"""Wrong input: one message that says what, where, got and what to do; exit status 2; nothing half-written."""

import json
from pathlib import Path

import pytest
import yaml

from tests.flows.command import assert_one_message, ended
from tests.model_server import ModelServer

MODEL = ("--model", "scripted", "--base-url", "http://127.0.0.1:9/v1")
ITEM = {
    "item_id": "a-1",
    "language": "en",
    "question_type": "single_choice",
    "context": None,
    "question": "Which of these comforts a crying friend?",
    "options": ["Listening", "Leaving"],
    "gold_indices": [0],
    "references": None,
    "option_points": None,
}


def blueprint(folder: Path, **more: object) -> Path:
    """A small blueprint over a file of the user's; `more` are further keys."""
    task = {"id": "comforting", "title": "Comforting", "level": "low", "datasets": ["own_items"]}
    comfort = {"id": "comfort", "title": "Comfort", "tasks": [task]}
    methods = [{"id": "choice", "metrics": [{"metric": "accuracy"}]}]
    values = {
        "name": "own",
        "title": "Own items",
        "version": "1",
        "source": "this test",
        "level_rules": [{"weights": {"low": 1}}],
        "abilities": [{"id": "emotional", "title": "Emotional", "children": [comfort]}],
        "datasets": {"own_items": {"title": "Own", "source": {"path": "items.jsonl"}, "methods": methods}},
    }
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump({**values, **more}), encoding="utf-8")
    return path


def test_a_wrong_blueprint(tmp_path: Path) -> None:
    path = blueprint(tmp_path, wieghts=1)
    assert_one_message(ended("run", path, *MODEL, "--lake", tmp_path / "lake"), "wieghts", str(path))
    assert not (tmp_path / "lake").exists()


def test_malformed_records(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text(json.dumps(ITEM) + "\n{not json}\n", encoding="utf-8")
    with ModelServer(lambda _messages: "A") as server:
        model = ("--model", "scripted", "--base-url", server.base_url)
        done = ended("run", blueprint(tmp_path), *model, "--lake", tmp_path / "lake")
        assert server.calls == 0
    assert_one_message(done, "items.jsonl", "JSON")
    assert list((tmp_path / "lake").rglob("*.parquet")) == []


def test_a_dataset_without_a_sound_row_is_refused(tmp_path: Path) -> None:
    broken = [{**ITEM, "item_id": "b", "gold_indices": [5]}, {**ITEM, "item_id": "c", "options": ["Listening", "Listening"]}]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, broken)))
    done = ended("build", blueprint(tmp_path), "--lake", tmp_path / "lake")
    assert_one_message(done, "no row of own_items is a valid item", "gold_indices_point_at_options (1: row 0);")


@pytest.mark.parametrize("stage", ["score", "report"])
def test_stage_without_input_names_the_one_before(tmp_path: Path, stage: str) -> None:
    done = ended(stage, "moodbench-mini", *MODEL, "--datasets", "mini_text_matching", "--lake", tmp_path / "lake")
    assert_one_message(done, "moodflow infer" if stage == "score" else "moodflow score")
