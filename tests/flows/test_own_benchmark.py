"""A benchmark as an installed package, with rows of every kind, from its items to the leaderboard."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crashes.commands import server_variables
from tests.flows.command import Ended
from tests.flows.served import ROOT
from tests.installed import Install, write_entry_points
from tests.model_server import ModelServer

PROJECT = Path(__file__).resolve().parents[1] / "data" / "diary"
FILES = ("__init__.py", "days.jsonl")
CODE, DAYS = ((PROJECT / "diary" / name).read_text(encoding="utf-8") for name in FILES)


def answer(messages: list[dict[str, str]]) -> str:
    """Every day is called sad, and that is tactful."""
    return '{"tact": 3}' if "how tactful" in messages[0]["content"] else "It was sad."


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory, prefect_server: str) -> Install:
    """The package on the path, with its entry points; tests of pages install others from wheels."""
    folder = tmp_path_factory.mktemp("diary")
    write_entry_points(shutil.copytree(PROJECT, folder / "site"))
    return Install(folder, ROOT, folder / "site", server_variables(prefect_server))


@pytest.fixture(scope="module")
def done(diary: Install) -> Iterator[Ended]:
    with ModelServer(answer) as server:
        model, judge = ("--model", "m", "--base-url", server.base_url), ("--judge", "j", "--judge-base-url", server.base_url)
        yield diary.run("run", "diary", "--settings", "diary", *model, *judge, "--json")


Verified = tuple[bool, dict[str, bool], list[str]]
"""Whether a run is verified, which layers were computed again, and every difference and note."""


def verdict(done: Ended) -> Verified:
    found = done.document
    layers = {layer["layer"]: layer["recomputed"] for layer in found["layers"]}
    return found["verified"], layers, [*(difference["message"] for difference in found["differences"]), *found["notes"]]


def test_package_is_scored_and_reported(diary: Install, done: Ended) -> None:
    assert done.status == 0, done.err
    # One of two moods is sad; both answers are as tactful as can be.
    values = {row["metric"]: row["value"] for row in done.document["raw_scores"]}
    assert values == {"mood_named": 0.5, "judged_rating": 1.0}
    assert [(row["model"], row["setting"], row["total"]) for row in done.document["models"]] == [("m", "diary", 75.0)]
    assert done.document["diary"] == [{"item_id": "monday", "mood": "sad"}, {"item_id": "tuesday", "mood": "glad"}]
    report = (diary.folder / done.document["report"]).read_text(encoding="utf-8")
    assert all(words in report for words in ("The diary", "Moods of the writer", "Share of moods that are named", "glad"))


def test_package_is_explained_ranked_exported_and_verified(diary: Install, done: Ended) -> None:
    run = done.document["run"]
    explained, ranked, published, exported, traced, checked = diary.run_each(
        ("explain", run, "--dataset", "diary_days", "--item", "tuesday", "--json"),
        ("leaderboard", "diary", "--json"),
        ("leaderboard", "diary", "--published", "--json"),
        ("runs", "export", run, "--to", "exported"),
        ("lineage", run, "--json"),
        ("verify", run, "--json"),
    )
    (asked,) = explained.document["asked"]
    assert {score["metric"]: score["value"] for score in asked["scores"]} == {"mood_named": 0.0, "judged_rating": 1.0}
    totals = [[(row["model"], row["total"]) for row in board.document["models"]] for board in (ranked, published)]
    assert totals == [[("m", 75.0)], [("printed", 62.5)]]
    assert exported.status == 0, exported.err
    assert (diary.folder / "exported" / "moods.csv").read_text(encoding="utf-8") == "item_id,mood\nmonday,sad\ntuesday,glad\n"
    assert_traced(diary.folder / "parquet", traced.document)
    is_verified, layers, told = verdict(checked)
    assert (is_verified, list(layers)[:2], layers["diary_moods"]) == (True, ["items", "diary_moods"], True), told


def assert_traced(lake: Path, graph: dict[str, Any]) -> None:
    """The package's partition stands above the scores."""
    (partition,) = (lake / "diary_moods").rglob("*.parquet")
    (node,) = (node for node in graph["nodes"] if node["layer"] == "diary_moods")
    assert node["path"] == partition.relative_to(lake).as_posix()
    (below,) = (edge["to"] for edge in graph["edges"] if edge["from"] == node["id"])
    assert below.startswith("item_scores/")


def test_gold_of_a_package_is_computed_again(diary: Install, done: Ended) -> None:
    verify, module, days = ("verify", done.document["run"], "--json"), *(diary.package / "diary" / name for name in FILES)
    module.write_text(CODE.replace('record.fields["mood"]}', 'record.fields["mood"].upper()}'), encoding="utf-8")
    is_verified, _, told = verdict(diary.run(*verify))
    assert (is_verified, told[0].endswith("item_id monday, column mood: stored 'sad', recomputed 'SAD'")) == (False, True)
    module.write_text(CODE, encoding="utf-8")
    days.write_text(DAYS.replace("glad", "calm"), encoding="utf-8")
    is_verified, layers, told = verdict(diary.run(*verify))
    assert (is_verified, layers["diary_moods"], len(told)) == (False, False, 2)
    assert told[0].startswith("dataset diary_days: source sha256 was ")
    assert told[1].endswith("was not made again: the source files of dataset diary_days have changed")
    days.write_text(DAYS, encoding="utf-8")


def test_without_the_package_partitions_stay(diary: Install, done: Ended) -> None:
    run = done.document["run"]
    listed, unused, traced, checked = diary.run_each(
        ("runs", "list", "--json"),
        ("gc", "--dry-run", "--older-than", "0", "--json"),
        ("lineage", run, "--json"),
        ("verify", run, "--json"),
        with_package=False,
    )
    assert run in listed.out
    assert unused.document["partitions"] == []
    assert "diary_moods" in {node["layer"] for node in traced.document["nodes"]}
    is_verified, layers, told = verdict(checked)
    assert (is_verified, layers["diary_moods"]) == (False, False)
    assert told[0] == "layer diary_moods: evaluation version was 3, is gone (1 partition)"
    assert any("cannot read the blueprint" in line and "metric is mood_named" in line for line in told)
