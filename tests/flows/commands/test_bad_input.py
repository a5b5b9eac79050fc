"""Wrong input: one message that says what, where, got and what to do; exit status 2; nothing half-written."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
import yaml

from tests.flows.command import Ended, moodflow
from tests.mirror import MIRROR, needs_mirror
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


def blueprint(folder: Path, source: str = "items.jsonl", **changes: object) -> Path:
    """A small blueprint over a file of the user's; `changes` replace its top-level keys."""
    values: dict[str, object] = {
        "name": "own",
        "title": "Own items",
        "version": "1",
        "source": "this test",
        "level_rules": [{"weights": {"low": 1}}],
        "abilities": [
            {
                "id": "emotional",
                "title": "Emotional",
                "children": [
                    {
                        "id": "comfort",
                        "title": "Comfort",
                        "tasks": [{"id": "comforting", "title": "Comforting", "level": "low", "datasets": ["own_items"]}],
                    }
                ],
            }
        ],
        "datasets": {
            "own_items": {
                "title": "Own",
                "source": {"path": source},
                "methods": [{"id": "choice", "metrics": [{"metric": "accuracy"}]}],
            }
        },
    }
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump({**values, **changes}), encoding="utf-8")
    return path


def assert_one_message(ended: Ended, *parts: str) -> None:
    assert ended.status == 2
    assert ended.out == ""
    errors = [line for line in ended.err.splitlines() if line.startswith("Error:")]
    assert len(errors) == 1
    assert "Traceback" not in ended.err
    for part in parts:
        assert part in ended.err


def assert_nothing_written(lake: Path) -> None:
    assert [path.name for path in lake.rglob("*") if path.is_file()] == []


def test_unknown_dataset_suggests_the_nearest(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ended = moodflow(capsys, "run", "moodbench", "--datasets", "copaa", *MODEL, "--lake", tmp_path)
    assert_one_message(ended, "copaa", "did you mean copa")
    assert_nothing_written(tmp_path)


def test_unknown_benchmark_suggests_the_nearest(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ended = moodflow(capsys, "run", "moodbench-min", *MODEL, "--lake", tmp_path)
    assert_one_message(ended, "moodbench-mini")


def test_blueprint_with_a_negative_weight(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = blueprint(tmp_path)
    path.write_text(path.read_text().replace("level: low", "level: low\n      weight: -1"), encoding="utf-8")
    ended = moodflow(capsys, "run", path, *MODEL, "--lake", tmp_path / "lake")
    assert_one_message(ended, "weight", "-1", str(path))
    assert_nothing_written(tmp_path / "lake")


def test_blueprint_with_an_orphan_dataset(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = blueprint(tmp_path)
    values = yaml.safe_load(path.read_text())
    values["datasets"]["lonely"] = values["datasets"]["own_items"]
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    assert_one_message(moodflow(capsys, "run", path, *MODEL, "--lake", tmp_path / "lake"), "lonely", str(path))


def test_blueprint_with_an_unknown_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = blueprint(tmp_path, wieghts=1)
    assert_one_message(moodflow(capsys, "run", path, *MODEL, "--lake", tmp_path / "lake"), "wieghts", str(path))


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("items.jsonl", json.dumps(ITEM) + "\n{not json}\n", ("items.jsonl", "JSON")),
        ("items.jsonl", json.dumps({**ITEM, "gold": 1}) + "\n", ("items.jsonl", "gold")),
        ("items.csv", "language,question_type,question\nen,single_choice\n", ("items.csv", "field")),
    ],
    ids=["a line that is not JSON", "an unknown key", "a CSV row with a missing field"],
)
def test_malformed_records(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: str, parts: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with ModelServer(lambda _messages: "A") as server:
        model = ("--model", "scripted", "--base-url", server.base_url)
        ended = moodflow(capsys, "run", blueprint(tmp_path, name), *model, "--lake", tmp_path / "lake")
        assert server.calls == 0
    assert_one_message(ended, *parts)
    assert list((tmp_path / "lake").rglob("*.parquet")) == []


@pytest.mark.usefixtures("prefect_server")
def test_truncated_source_parquet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pl.DataFrame([ITEM]).write_parquet(tmp_path / "items.parquet")
    whole = (tmp_path / "items.parquet").read_bytes()
    (tmp_path / "items.parquet").write_bytes(whole[: len(whole) // 2])
    with ModelServer(lambda _messages: "A") as server:
        model = ("--model", "scripted", "--base-url", server.base_url)
        ended = moodflow(capsys, "run", blueprint(tmp_path, "items.parquet"), *model, "--lake", tmp_path / "lake")
    assert_one_message(ended, "items.parquet")
    assert list((tmp_path / "lake").rglob("*.parquet")) == []


@pytest.mark.usefixtures("prefect_server")
def test_truncated_partition_of_the_lake(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text(json.dumps(ITEM), encoding="utf-8")
    with ModelServer(lambda _messages: "A") as server:
        options = (blueprint(tmp_path), "--model", "scripted", "--base-url", server.base_url, "--lake", tmp_path / "lake")
        assert moodflow(capsys, "run", *options).status == 0
        (damaged,) = (tmp_path / "lake" / "responses").rglob("*.parquet")
        damaged.write_bytes(damaged.read_bytes()[:-10])
        ended = moodflow(capsys, "run", *options)
    assert_one_message(ended, "damaged", damaged.name, "move the file away")


@needs_mirror
@pytest.mark.usefixtures("prefect_server")
def test_wrong_checksum(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    copa = next((MIRROR / "github.com/QuwanAI/MoodBench").rglob("*[Cc][Oo][Pp][Aa]*"))
    shutil.copytree(copa, mirror / copa.relative_to(MIRROR))
    for path in mirror.rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(path.read_bytes() + b" ")
    with ModelServer(lambda _messages: "A") as server:
        model = ("--model", "scripted", "--base-url", server.base_url)
        options = ("--datasets", "copa", "--mirror", mirror, "--lake", tmp_path / "lake")
        ended = moodflow(capsys, "run", "moodbench", *model, *options)
    assert_one_message(ended, "sha256")
    assert list((tmp_path / "lake").rglob("*.parquet")) == []


@pytest.mark.parametrize("url", ["http://no-such-host.invalid/v1", "ftp://127.0.0.1/v1", "not a url"])
def test_unreachable_base_url(capsys: pytest.CaptureFixture[str], tmp_path: Path, url: str) -> None:
    model = ("--model", "scripted", "--base-url", url)
    ended = moodflow(capsys, "run", "moodbench-mini", *model, "--lake", tmp_path / "lake")
    assert_one_message(ended, "cannot be reached", url)
    assert_nothing_written(tmp_path / "lake")


def test_missing_api_key_variable(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ended = moodflow(capsys, "run", "moodbench-mini", *MODEL, "--api-key-env", "NO_SUCH_KEY_HERE", "--lake", tmp_path / "lake")
    assert_one_message(ended, "NO_SUCH_KEY_HERE", "export")
    assert_nothing_written(tmp_path / "lake")


def test_lake_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    ended = moodflow(capsys, "run", "moodbench-mini", *MODEL, "--lake", tmp_path / "file" / "lake")
    assert_one_message(ended, "cannot be written", "--lake")


def test_model_without_a_server(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ended = moodflow(capsys, "run", "moodbench-mini", "--model", "gpt", "--lake", tmp_path / "lake")
    assert_one_message(ended, "needs a base_url")


def test_no_model_at_all(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert_one_message(moodflow(capsys, "run", "moodbench-mini", "--lake", tmp_path), "no model was named", "smollm2")


@pytest.mark.parametrize("stage", ["score", "report"])
@pytest.mark.usefixtures("prefect_server")
def test_stage_without_its_input_says_what_to_run_first(capsys: pytest.CaptureFixture[str], tmp_path: Path, stage: str) -> None:
    ended = moodflow(capsys, stage, "moodbench-mini", *MODEL, "--datasets", "mini_text_matching", "--lake", tmp_path / "lake")
    assert_one_message(ended, "moodflow infer" if stage == "score" else "moodflow score")


def test_configuration_with_an_unknown_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("sampel: 20\n", encoding="utf-8")
    ended = moodflow(capsys, "run", "moodbench-mini", *MODEL, "--config", tmp_path / "plan.yaml", "--lake", tmp_path / "lake")
    assert_one_message(ended, "sampel")


def test_unknown_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert_one_message(moodflow(capsys, "runs", "show", "nope", "--lake", tmp_path), "there is no such run")
