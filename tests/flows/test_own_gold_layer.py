"""A layer of gold that an installed package adds: built, measured by, exported, in the lineage, verified, and kept by gc."""

import json
from collections.abc import Iterator

import pytest

from tests.docs.conftest import Install
from tests.docs.pages import ROOT
from tests.flows.command import Ended
from tests.model_server import ModelServer

PACKAGE = """
from pathlib import Path

import dataframely as dy

from schemas.benchmark import Benchmark
from schemas.dataset import DatasetSpec, LocalFile
from schemas.item import Item
from schemas.tables.columns import OfItem
from schemas.tables.layers import gold_layer
from tasks.metrics.metric import Metric, WholeMeasure
from tasks.runs.sections import FileExchange


class Moods(OfItem):
    mood = dy.String(min_length=1)


def export(run, folder):
    path = folder / "moods.csv"
    folder.mkdir()
    path.write_text(run.read("diary_moods").select("item_id", "mood").write_csv())
    return [path]


def ask(record):
    return Item(item_id=record.fields["id"], language="en", question_type="open_ended", question="How was it?", references=("x",))


MEASURE = WholeMeasure(
    gold=lambda items, gold: dict(gold["diary_moods"].select("item_id", "mood").iter_rows()),
    values=lambda mood, parts, profile: {"mood_named": None if parts[""] is None else float(mood in parts[""])},
    is_unread=lambda part, reply: False,
    judge="judge",
)
LAYERS = (gold_layer("diary_moods", "diary:Moods"),)
METRICS = (Metric("mood_named", "Share of moods that are named.", question_types=("open_ended",), whole=MEASURE),)
DATASETS = (
    DatasetSpec(
        id="diary_days",
        title="Days of a diary",
        files=(LocalFile(path=Path(__file__).with_name("days.jsonl")),),
        adapter=ask,
        annotate=lambda record: {"diary_moods": [{"mood": record.fields["mood"]}]},
        annotation_layers=("diary_moods",),
        question_types=("open_ended",),
        licence="the user's own",
        paper="none",
        required=("id", "mood"),
    ),
)
EXCHANGES = (FileExchange("base", export, lambda folder: ()),)
DIARY = Benchmark(
    "diary", datasets="diary:DATASETS", metrics="diary:METRICS", layers="diary:LAYERS", exchanges="diary:EXCHANGES"
)
"""
DAYS = '{"id": "monday", "mood": "sad"}\n{"id": "tuesday", "mood": "glad"}\n'
BLUEPRINT = """
name: diary
title: Diary
version: "1.0"
source: our own
level_rules: [{weights: {low: 1}}]
abilities: [{id: reading, title: Reading, tasks: [{id: moods, title: Moods, level: low, datasets: [diary_days]}]}]
datasets: {diary_days: {title: Days, methods: [{id: named, metrics: [{metric: mood_named}]}]}}
"""


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """A folder with the blueprint, and with the package in a folder of packages."""
    folder = tmp_path_factory.mktemp("diary")
    metadata = folder / "site" / "diary-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Name: diary\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[moodflow.benchmarks]\ndiary = diary:DIARY\n", encoding="utf-8")
    (folder / "site" / "diary.py").write_text(PACKAGE, encoding="utf-8")
    (folder / "site" / "days.jsonl").write_text(DAYS, encoding="utf-8")
    (folder / "diary.yaml").write_text(BLUEPRINT, encoding="utf-8")
    return Install(folder, ROOT, folder / "site")


@pytest.fixture(scope="module")
def done(install: Install) -> Iterator[Ended]:
    """A run in which every day is called sad."""
    with ModelServer(lambda _messages: "It was sad.") as server:
        yield install.run("run", "diary.yaml", "--model", "m", "--base-url", server.base_url, "--json")


def verified(install: Install, run: str, *, installed: bool = True) -> tuple[bool, dict[str, bool], list[str]]:
    """Whether a run is verified, which layers were computed again, and every difference and note."""
    found = install.run("verify", run, "--json", with_package=installed).document
    layers = {layer["layer"]: layer["recomputed"] for layer in found["layers"]}
    return found["verified"], layers, [*(difference["message"] for difference in found["differences"]), *found["notes"]]


def test_gold_of_a_package_is_built_and_scored(install: Install, done: Ended) -> None:
    assert done.status == 0, done.err
    # One of two moods is sad.
    assert [(row["metric"], row["value"]) for row in done.document["raw_scores"]] == [("mood_named", 0.5)]
    install.run("runs", "export", done.document["run"], "--to", "exported")
    assert (install.folder / "exported" / "moods.csv").read_text(encoding="utf-8") == "item_id,mood\nmonday,sad\ntuesday,glad\n"
    (partition,) = (install.folder / "parquet" / "diary_moods").rglob("*.parquet")
    graph = install.run("lineage", done.document["run"], "--json").document
    (node,) = (node for node in graph["nodes"] if node["layer"] == "diary_moods")
    assert node["path"] == partition.relative_to(install.folder / "parquet").as_posix()
    (below,) = (edge["to"] for edge in graph["edges"] if edge["from"] == node["id"])
    assert below.startswith("item_scores/")


def test_gold_of_a_package_is_computed_again(install: Install, done: Ended) -> None:
    run, module, days = done.document["run"], install.package / "diary.py", install.package / "days.jsonl"
    is_verified, layers, told = verified(install, run)
    assert (is_verified, list(layers)[:2], layers["diary_moods"]) == (True, ["items", "diary_moods"], True), told
    module.write_text(PACKAGE.replace('record.fields["mood"]}', 'record.fields["mood"].upper()}'), encoding="utf-8")
    is_verified, _, told = verified(install, run)
    assert (is_verified, told[0].endswith("item_id monday, column mood: stored 'sad', recomputed 'SAD'")) == (False, True)
    module.write_text(PACKAGE, encoding="utf-8")
    days.write_text(DAYS.replace("glad", "calm"), encoding="utf-8")
    is_verified, layers, told = verified(install, run)
    assert (is_verified, layers["diary_moods"], len(told)) == (False, False, 2)
    assert told[0].startswith("dataset diary_days: source sha256 was ")
    assert told[1].endswith("was not made again: dataset diary_days has no source that is as it was")
    days.write_text(DAYS, encoding="utf-8")


def test_without_the_package_partitions_stay(install: Install, done: Ended) -> None:
    run = done.document["run"]
    assert run in install.run("runs", "list", "--json", with_package=False).out
    unused = json.loads(install.run("gc", "--dry-run", "--older-than", "0", "--json", with_package=False).out)
    assert unused["partitions"] == []
    graph = install.run("lineage", run, "--json", with_package=False).document
    assert "diary_moods" in {node["layer"] for node in graph["nodes"]}
    is_verified, layers, told = verified(install, run, installed=False)
    assert (is_verified, layers["diary_moods"]) == (False, False)
    assert told[0] == "layer diary_moods: evaluation version was 3, is gone (1 partition)"
    assert "cannot read the blueprint" in told[1]
    assert "metric is mood_named" in told[1]
