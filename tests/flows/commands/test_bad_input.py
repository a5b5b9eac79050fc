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


@pytest.mark.usefixtures("prefect_server")
def test_malformed_records(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text(json.dumps(ITEM) + "\n{not json}\n", encoding="utf-8")
    with ModelServer(lambda _messages: "A") as server:
        model = ("--model", "scripted", "--base-url", server.base_url)
        done = ended("run", blueprint(tmp_path), *model, "--lake", tmp_path / "lake")
        assert server.calls == 0
    assert_one_message(done, "items.jsonl", "JSON")
    assert list((tmp_path / "lake").rglob("*.parquet")) == []


@pytest.mark.usefixtures("prefect_server")
def test_rows_that_break_a_rule_are_said_and_missing_and_none_left_is_refused(tmp_path: Path) -> None:
    good = [{**ITEM, "item_id": f"a-{number}", "question": f"Which comforts {number}?"} for number in range(6)]
    broken = [{**ITEM, "item_id": "b", "gold_indices": [5]}, {**ITEM, "item_id": "c", "options": ["Listening", "Listening"]}]
    own, lake = blueprint(tmp_path), tmp_path / "lake"
    with ModelServer(lambda _messages: "A") as server:
        command = ("run", own, "--model", "scripted", "--base-url", server.base_url, "--lake", lake, "--set", "bootstrap=0")
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, broken)))
        assert_one_message(ended(*command), "no row of own_items can be asked", "gold_indices_point_at_options (1: row 0);")
        assert server.calls == 0
        (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, good + broken)))
        runs = [ended(*command), ended(*command, "--json")]
    document = runs[1].document
    ((row,), (gap,)) = (document["models"], document["missing"])
    # 6 of 8 rows are scored, which is 75 % and too few for a rank; what was asked is there as a whole.
    assert (row["n"], row["n_total"], row["rank"], document["raw_scores"][0]["n_total"]) == (6, 8, None, 6)
    assert gap["reason"] == (
        "has 2 rows of 8 that break a rule and are no items: gold_indices_point_at_options (1: row 6); "
        "options_are_distinct_and_not_empty (1: row 7); the first row is row 0"
    )
    assert ([run.status for run in runs], "emotion expression" in runs[0].err) == ([1, 1], False)
    shown = ended("runs", "show", document["run"], "--lake", lake).out
    for said in (runs[0].out, shown, Path(document["report"]).read_text(encoding="utf-8")):
        assert gap["reason"] in " ".join(said.split())
    assert ended("verify", document["run"], "--lake", lake).status == 0


@pytest.mark.parametrize("stage", ["score", "report"])
@pytest.mark.usefixtures("prefect_server")
def test_stage_without_its_input_says_what_to_run_first(tmp_path: Path, stage: str) -> None:
    done = ended(stage, "moodbench-mini", *MODEL, "--datasets", "mini_text_matching", "--lake", tmp_path / "lake")
    assert_one_message(done, "moodflow infer" if stage == "score" else "moodflow score")
