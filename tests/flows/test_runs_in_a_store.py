"""A run whose lake is in an object store: the same bits as in a local folder, and everything that reads a run opens it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.folders import parse_folder
from tasks.lake.local_state import state_folder
from tasks.lake.manifest import read_manifest
from tasks.lake.objects import ObjectStore
from tests.flows.command import Ended, ask_mini, ended
from tests.flows.scripted import policy
from tests.model_server import ModelServer
from tests.object_store import BUCKET, KEY, SECRET, client, keys, object_store

DATASETS = ("mini_user_safety", "mini_summarization")
ROOT = f"s3://{BUCKET}/nightly/lake"
MEASURED = ("responses", "judgements")
"""Layers with latencies, which differ from run to run."""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer(policy(DATASETS, "gold")) as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, object_store(patch):
        patch.setenv("MOODFLOW_STATE", str(tmp_path / "state"))
        yield ROOT
    ObjectStore.clear_instance_cache()


def evaluate(model: ModelServer, stage: str, lake: str | Path) -> Ended:
    return ask_mini(stage, model.base_url, lake, DATASETS, "--json")


@pytest.mark.long
def test_runs_in_store_and_folder_are_equal(tmp_path: Path, model: ModelServer, store: str) -> None:
    here, there = (evaluate(model, "run", lake) for lake in (tmp_path / "here", store))
    assert (here.status, there.status) == (0, 0), there.err
    assert there.scores == here.scores
    assert there.document["calls"] == here.document["calls"]
    ours = read_manifest(tmp_path / "here", here.document["run"])
    theirs = read_manifest(parse_folder(store), there.document["run"])
    assert theirs.partitions == ours.partitions
    for ref in ours.partitions:
        if ref.layer not in MEASURED:
            assert (parse_folder(store) / ref.path).read_bytes() == (tmp_path / "here" / ref.path).read_bytes()
    events = [json.loads((parse_folder(f"s3://{BUCKET}") / key).read_bytes()) for key in keys() if "/openlineage/" in key]
    assert {"START", "COMPLETE"} == {event["eventType"] for event in events}
    # What the run needs and a store cannot hold is on this machine, and that is said.
    assert there.err.count(f"are kept on this machine, in {state_folder(parse_folder(store))};") == 1
    assert not [key for key in keys() if "journal" in key or ".probe" in key]

    calls = model.calls
    again = evaluate(model, "run", store)
    assert (again.status, again.document["calls"]["sent"], model.calls) == (0, 0, calls)
    reads_everything(there)

    damaged = ours.partitions[0]
    client().put_object(Bucket=BUCKET, Key=f"nightly/lake/{damaged.path}", Body=b"changed")
    done = evaluate(model, "score", store)
    assert done.status == 2
    assert f"Error: a partition of the lake is damaged\n  where: {ROOT}/{damaged.path}\n" in done.err


def reads_everything(ran: Ended) -> None:
    """The commands that open a run find it in the store; nothing there holds a key."""
    run = ran.document["run"]
    listed = ended("runs", "list", "--lake", ROOT, "--json")
    assert run in [row["run"] for row in listed.document["runs"]]
    shown = ended("runs", "show", run, "--lake", ROOT, "--json")
    assert shown.scores == ran.scores
    board = ended("leaderboard", "moodbench-mini", "--run", run, "--lake", ROOT, "--json")
    assert [row["total"] for row in board.document["models"]] == [row["total"] for row in ran.document["models"]]
    assert ran.document["report"] == f"{ROOT}/runs/{run}/report.html"
    page = client().get_object(Bucket=BUCKET, Key=f"nightly/lake/runs/{run}/report.html")
    assert page["ContentType"] == "text/html; charset=utf-8"
    assert b"<html" in page["Body"].read()
    for key in keys():
        content = client().get_object(Bucket=BUCKET, Key=key)["Body"].read()
        assert KEY.encode() not in content
        assert SECRET.encode() not in content
    manifest = json.loads((parse_folder(ROOT) / "runs" / run / "manifest.json").read_bytes())
    assert manifest["plan"]["lake"] == ROOT


def test_a_wrong_bucket_is_one_message(model: ModelServer, store: str) -> None:
    wrong = store.replace(BUCKET, "no-such-bucket")
    used = [
        ("runs", "list"),
        ("runs", "show", "r"),
        ("leaderboard", "moodbench-mini"),
        *((stage, "moodbench-mini", "--model", "m", "--base-url", model.base_url) for stage in ("run", "build", "score")),
    ]
    for arguments in used:
        done = ended(*arguments, "--lake", wrong)
        assert done.status == 2
        assert done.out == ""
        assert done.err.splitlines()[0] == "Error: there is no such bucket"


def test_a_journal_is_that_of_the_machine(tmp_path: Path, model: ModelServer, store: str) -> None:
    assert evaluate(model, "build", store).status == 0
    assert evaluate(model, "infer", store).status == 0
    shown = ended("journal", "show", "--lake", store, "--json").document
    assert shown["journal"] == str(state_folder(parse_folder(store)) / "journal" / "replies.sqlite")
    merged = ended("journal", "merge", store, "--lake", tmp_path / "other", "--json").document
    assert merged["added"] == shown["replies"] > 0


def test_an_extra_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    done = ended("runs", "list", "--lake", ROOT)
    assert done.status == 2
    assert "a lake in an object store needs the package s3fs, which is not installed" in done.err
